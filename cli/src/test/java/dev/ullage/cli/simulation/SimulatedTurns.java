package dev.ullage.cli.simulation;

import dev.ullage.common.ledger.DeviceLedger;
import dev.ullage.common.ledger.Grant;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.worker.turns.TurnAnswer;
import dev.ullage.worker.turns.TurnInput;
import dev.ullage.worker.turns.TurnState;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** What {@code TurnDesk} is around {@link TurnState}: messages to and from the ranks, the deadline, and its keepers. */
final class SimulatedTurns {
    static final long DEADLINE_MILLIS = 4000;

    private final World world;
    private final SimulatedHost host;
    private final TurnState state = new TurnState();
    private final NavigableMap<DeviceId, MemoryBytes> bounds = new TreeMap<>();
    private final NavigableMap<RankInstance, Optional<RankTurn>> offered = new TreeMap<>();

    SimulatedTurns(World world, SimulatedHost host) {
        this.world = world;
        this.host = host;
    }

    void replayed(SimulatedDevice device, DeviceLedger ledger) {
        state.on(
                new TurnInput.Replayed(
                        device.info.id(),
                        ledger.inForce().usablePool(),
                        world.rules()
                                .silent(ledger.grants().stream()
                                        .map(Grant::instance)
                                        .toList())),
                world.time().now());
    }

    void plan(DeviceId device, Optional<TurnPlan> plan) {
        on(new TurnInput.Planned(device, plan));
        offered.replaceAll(this::offer);
    }

    private Optional<RankTurn> offer(RankInstance instance, Optional<RankTurn> before) {
        Optional<RankTurn> now = state.offer(instance);
        if (!now.equals(before)) {
            host.tellOfTurns(instance, (rank, connection) -> rank.onOffer(connection, now));
        }
        return now;
    }

    MemoryBytes allow(DeviceId device, MemoryBytes allowed) {
        on(new TurnInput.Allowed(device, allowed));
        bounds.put(device, state.bound(device));
        return state.bound(device);
    }

    void left(RankInstance instance) {
        offered.remove(instance);
        on(new TurnInput.Left(instance));
    }

    void said(SimulatedRank rank, MemoryBytes turn, long ask) {
        on(new TurnInput.Said(rank.instance, rank.device.info.id(), turn, ask));
        offered.put(rank.instance, Optional.empty());
        offered.computeIfPresent(rank.instance, this::offer);
    }

    void asked(SimulatedRank rank, long ask) {
        on(new TurnInput.Asked(rank.instance, ask));
        host.later(DEADLINE_MILLIS, () -> on(new TurnInput.Overdue(rank.instance, ask)));
    }

    void released(SimulatedRank rank, long ask) {
        on(new TurnInput.Released(rank.instance, ask));
    }

    TurnReport report(DeviceId device) {
        return state.report(device, world.time().now());
    }

    private void on(TurnInput input) {
        for (TurnAnswer answer : state.on(input, world.time().now())) {
            host.tellOfTurns(
                    answer.instance(),
                    (rank, connection) -> rank.onTurn(connection, answer.ask(), answer.burst(), host.incarnation()));
        }
        for (SimulatedDevice device : host.devices) {
            SimulatedKeeper keeper = device.keeper;
            MemoryBytes known = bounds.get(device.info.id());
            if (keeper != null && known != null && known.isMoreThan(state.bound(device.info.id()))) {
                bounds.put(device.info.id(), state.bound(device.info.id()));
                host.later(1, keeper::settleBursts);
            }
        }
    }
}
