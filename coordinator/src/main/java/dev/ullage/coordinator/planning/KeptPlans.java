package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.Identity;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.TurnPlanner.TurnRuling;
import dev.ullage.coordinator.view.DeviceView;
import dev.ullage.coordinator.view.Heard;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What {@link LimitPlanner} last worked out for each device, with what it follows from: on most ticks little is new on
 * few devices, and only for those it is worked out again. Never anything else than what would be worked out. Two looks:
 *
 * <pre>
 *   the same objects as at the last tick        : input, limits and plan are those of the last tick, with new ages
 *   other objects that say the same of the plan : a new input, to be recorded and judged; limits and plan as they were
 * </pre>
 *
 * Guards judge the plan each time, because they look at ages. Mutable; one owner, who brings it along at each tick.
 */
public final class KeptPlans {
    private final NavigableMap<DeviceId, Kept> devices = new TreeMap<>();

    /**
     * All that the input of a device is made from, beside ages and settings.
     *
     * @param demands the state of what is followed of ranks over time
     */
    private record Sources(
            LedgerReport ledger,
            Optional<DeviceSampled> sample,
            OperatorWishes wishes,
            Optional<DevicePlan> onItsWay,
            Optional<WantedRoom> wanted,
            long demands) {

        static Sources of(DeviceView device, Situation situation, RankDemands demands) {
            return new Sources(
                    device.report().orElseThrow().message().ledger(),
                    device.sample().map(Heard::message),
                    situation.wishes(),
                    situation.onItsWay(device.id()),
                    situation.wanted(device.id()),
                    demands.revision());
        }

        /** By the objects alone, so at no cost: sources that are equal need not be seen to be. */
        boolean areSeenToBe(Sources others) {
            return Identity.isSame(ledger, others.ledger)
                    && Identity.isSame(sample, others.sample)
                    && Identity.isSame(onItsWay, others.onItsWay)
                    && demands == others.demands
                    && wanted.equals(others.wanted)
                    && wishes.areSeenToBe(others.wishes);
        }
    }

    /** What is kept of one device. */
    private static final class Kept {
        private Optional<Sources> sources = Optional.empty();
        private Optional<DeviceInput> input = Optional.empty();
        /** What of the input the limits follow from. */
        private Optional<DeviceInput> basis = Optional.empty();

        private Optional<List<PlannedLimit>> limits = Optional.empty();
        private Optional<DevicePlan> plan = Optional.empty();
        private Optional<TurnRuling> ruling = Optional.empty();

        void renew(DeviceInput newInput) {
            Optional<DeviceInput> newBasis = Optional.of(newInput.forLimits());
            if (!newBasis.equals(basis)) {
                limits = Optional.empty();
                plan = Optional.empty();
            }
            basis = newBasis;
            input = Optional.of(newInput);
        }
    }

    /** The input of a device that has reported. */
    DeviceInput input(DeviceView device, Situation situation, RankDemands demands, Supplier<DeviceInput> make) {
        Kept kept = devices.computeIfAbsent(device.id(), id -> new Kept());
        Sources now = Sources.of(device, situation, demands);
        if (kept.sources.isPresent() && kept.sources.get().areSeenToBe(now)) {
            return kept.input
                    .orElseThrow()
                    .at(device.report().orElseThrow().ageAt(situation.now()), device.sampleState());
        }
        DeviceInput made = make.get();
        kept.renew(made);
        kept.sources = Optional.of(now);
        return made;
    }

    /** The limits without turns that follow from the input that was last asked for. */
    List<PlannedLimit> limits(DeviceInput input, Function<DeviceInput, List<PlannedLimit>> workOut) {
        Kept kept = devices.computeIfAbsent(input.device(), id -> new Kept());
        List<PlannedLimit> limits = kept.limits.orElseGet(() -> workOut.apply(input));
        kept.limits = Optional.of(limits);
        return limits;
    }

    /** The plan that follows from the input that was last asked for, with what was ruled about turns since. */
    DevicePlan plan(DeviceInput input, Function<DeviceInput, DevicePlan> workOut) {
        Kept kept = devices.computeIfAbsent(input.device(), id -> new Kept());
        boolean isAsRuled = kept.ruling.equals(input.ruling());
        DevicePlan plan = kept.plan.filter(known -> isAsRuled).orElseGet(() -> workOut.apply(input));
        kept.plan = Optional.of(plan);
        kept.ruling = input.ruling();
        return plan;
    }

    /** Forgets the devices that are not planned any more. */
    void retain(List<DeviceInput> planned) {
        if (devices.size() > planned.size()) {
            NavigableMap<DeviceId, Kept> rest = new TreeMap<>();
            planned.forEach(input -> rest.put(input.device(), devices.getOrDefault(input.device(), new Kept())));
            devices.clear();
            devices.putAll(rest);
        }
    }
}
