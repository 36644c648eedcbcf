package dev.ullage.coordinator.view;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes the answer to a status query.
 *
 * @param coordinator who answers
 * @param token its token, when it has one
 * @param state its state of leadership
 */
public record StatusAssembly(NodeId coordinator, Optional<CoordinatorToken> token, String state) {

    /**
     * What planning has come to.
     *
     * @param states where the newest plan of each device stands
     * @param explanations why the ranks of each device should have what limits
     * @param history the last plans of all devices
     * @param moves the last moves of jobs that ran out of memory
     * @param steering what is done about jobs beside their limits
     */
    public record Plans(
            Map<DeviceId, RolloutState> states,
            Map<DeviceId, Explanation> explanations,
            List<RolloutStatus> history,
            List<OomMove> moves,
            Steering steering) {
        public Plans {
            history = List.copyOf(history);
            moves = List.copyOf(moves);
        }
    }

    public ClusterStatus assemble(ClusterView view, Plans plans, Instant now) {
        List<NodeStatus> nodes = view.nodes().stream()
                .map(node -> new NodeStatus(
                        node.node(),
                        millis(Duration.between(node.heardAt(), now)),
                        node.devices().values().stream()
                                .sorted(Comparator.comparingInt(
                                        device -> device.info().index()))
                                .map(device -> device(device, plans, now))
                                .toList(),
                        node.host()))
                .toList();
        return new ClusterStatus(
                coordinator,
                token,
                state,
                nodes,
                plans.history(),
                Optional.of(new OomMoves(plans.moves())),
                Optional.of(plans.steering()));
    }

    private static DeviceStatus device(DeviceView device, Plans plans, Instant now) {
        return new DeviceStatus(
                device.info(),
                device.sample().map(heard -> sample(heard, device.quality(), now)),
                device.report().map(Heard::message).map(StatusAssembly::ledger),
                Optional.ofNullable(plans.states().get(device.id())),
                Optional.ofNullable(plans.explanations().get(device.id())));
    }

    /** Whole layouts in every device would be the square of the cluster: a status has each device's own part. */
    private static LedgerReport ledger(LimitsReported report) {
        LedgerReport ledger = report.ledger();
        Optional<List<ReservationReport>> own = ledger.reservations()
                .map(all ->
                        all.stream().map(held -> ownPart(held, report.device())).toList());
        return new LedgerReport(
                ledger.wanted(),
                ledger.inForce(),
                ledger.overBudget(),
                ledger.grants(),
                ledger.counts(),
                ledger.turns(),
                own);
    }

    private static ReservationReport ownPart(ReservationReport held, DeviceId device) {
        Reservation whole = held.reservation();
        return whole.part(device)
                .map(part -> new ReservationReport(whole.only(part), held.committed()))
                .orElse(held);
    }

    private static SampleStatus sample(Heard<DeviceSampled> heard, Optional<SampleQuality> quality, Instant now) {
        DeviceSampled sample = heard.message();
        return new SampleStatus(
                sample.ageMillis() + millis(heard.ageAt(now)),
                sample.memory(),
                sample.foreign(),
                sample.ranks(),
                sample.problems(),
                quality);
    }

    private static long millis(Duration age) {
        return Math.max(0, age.toMillis());
    }
}
