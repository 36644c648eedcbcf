package dev.ullage.worker.enforcement;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.worker.enforcement.Ladder.Choice;
import dev.ullage.worker.enforcement.Ladder.Fact;
import dev.ullage.worker.enforcement.Ladder.Holds;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What holds each rank of a worker, and which are above their ceilings. One owner (the hub's thread); soft: all of it
 * is measured again. Logs nothing and reads nothing.
 */
public final class EnforcementWatch {
    private final CeilingAlarm.Terms terms;
    private final Map<DeviceId, Map<RankInstance, Bound>> bounds = new TreeMap<>();
    private final Map<RankInstance, CeilingAlarm> alarms = new TreeMap<>();
    private final Map<RankInstance, Map<EnforcedBy, Fact>> found = new TreeMap<>();

    public EnforcementWatch(CeilingAlarm.Terms terms) {
        this.terms = terms;
    }

    /**
     * What a rank may use.
     *
     * @param ceiling what it may believe
     * @param burst what a turn adds to that; zero when it takes none
     * @param target the newest order
     */
    public record Bound(MemoryBytes ceiling, MemoryBytes burst, Optional<MemoryBytes> target) {
        MemoryBytes most() {
            return ceiling.plus(burst);
        }

        /** For people. */
        @Override
        public String toString() {
            return burst.isZero()
                    ? "its ceiling of " + ceiling
                    : "its ceiling of %s and a turn's %s on top".formatted(ceiling, burst);
        }
    }

    /** An alarm that was raised, or is over. */
    public record Change(RankInstance instance, boolean isRaised, MemoryBytes used, Bound bound) {}

    /**
     * A device's ledger said what its ranks may believe.
     *
     * @return whether that is something else than before
     */
    public boolean reported(LimitsReported report) {
        Map<RankInstance, Bound> now = new TreeMap<>();
        for (GrantReport grant : report.ledger().grants()) {
            // A process that was never given a limit is not above it.
            if (grant.target().isPresent() || !grant.ceiling().isZero()) {
                now.put(
                        grant.instance(),
                        new Bound(
                                grant.ceiling(),
                                burst(report, grant.instance()),
                                grant.target().map(PhaseLimits::max)));
            }
        }
        Map<RankInstance, Bound> before = bounds.put(report.device(), now);
        if (before != null) {
            before.keySet().stream()
                    .filter(instance -> !now.containsKey(instance))
                    .forEach(this::forget);
        }
        return !now.equals(before);
    }

    /** With a turn a rank may use so much more; at which moment it has one is not for what holds it to know. */
    private static MemoryBytes burst(LimitsReported report, RankInstance instance) {
        return report.ledger()
                .turns()
                .flatMap(TurnReport::plan)
                .flatMap(plan -> plan.of(instance))
                .map(TurnPlan.RankTurn::burst)
                .orElse(MemoryBytes.ZERO);
    }

    /**
     * What the ranks of a device may believe, as its ledger last said, with what a turn adds; without those never given
     * a limit.
     */
    public Map<RankInstance, MemoryBytes> ceilings(DeviceId device) {
        Map<RankInstance, MemoryBytes> most = new TreeMap<>();
        on(device).forEach((instance, bound) -> most.put(instance, bound.most()));
        return Map.copyOf(most);
    }

    private Map<RankInstance, Bound> on(DeviceId device) {
        return bounds.getOrDefault(device, Map.of());
    }

    /**
     * What was found out from outside about the mechanisms for one rank; replaces what was known of these. A rank that
     * no ledger knows any more is not listened to.
     */
    public void found(RankInstance instance, Map<EnforcedBy, Fact> facts) {
        if (bound(instance).isPresent()) {
            found.computeIfAbsent(instance, key -> new EnumMap<>(EnforcedBy.class))
                    .putAll(facts);
        }
    }

    private Optional<Bound> bound(RankInstance instance) {
        return bounds.values().stream()
                .flatMap(on -> Optional.ofNullable(on.get(instance)).stream())
                .findFirst();
    }

    private void forget(RankInstance instance) {
        alarms.remove(instance);
        found.remove(instance);
    }

    /**
     * A new reading of the device.
     *
     * @param used by process of a rank; those whose use is not known are left out
     * @return alarms that changed because of it
     */
    public List<Change> measured(DeviceId device, Map<Long, MemoryBytes> used) {
        List<Change> changes = new ArrayList<>();
        on(device).forEach((instance, bound) -> {
            MemoryBytes amount = used.get(instance.pid());
            if (amount == null) {
                return;
            }
            CeilingAlarm before = alarms.getOrDefault(instance, CeilingAlarm.QUIET);
            CeilingAlarm after = before.next(amount, bound.most(), terms);
            alarms.put(instance, after);
            if (before.isRaised() != after.isRaised()) {
                changes.add(new Change(instance, after.isRaised(), amount, bound));
            }
        });
        return changes;
    }

    /** Whether it depends on the next readings whether there is an alarm. */
    public boolean isCounting() {
        return alarms.values().stream().anyMatch(CeilingAlarm::isCounting);
    }

    /** One sentence for each rank of the device that is above its ceiling, or cannot train within it. */
    public List<String> problems(DeviceId device, Map<Long, MemoryBytes> used, List<RankSample> said) {
        List<String> problems = new ArrayList<>();
        for (RankSample rank : said) {
            Optional<MemoryBytes> ceiling =
                    Optional.ofNullable(on(device).get(rank.instance())).map(Bound::ceiling);
            rank.enforcement()
                    .flatMap(RankEnforcement::overhead)
                    .flatMap(overhead -> ceiling.flatMap(overhead::refusal))
                    .ifPresent(why ->
                            problems.add("rank %s: %s".formatted(rank.instance().rank(), why)));
        }
        on(device).forEach((instance, bound) -> {
            if (isRaised(instance)) {
                String now = Optional.ofNullable(used.get(instance.pid()))
                        .map(MemoryBytes::toString)
                        .orElse("an amount not known at the moment");
                problems.add("rank %s (process %d) uses %s, more than %s"
                        .formatted(instance.rank(), instance.pid(), now, bound));
            }
        });
        return problems;
    }

    /** What the rank said, with what is known of how it is held. */
    public RankSample held(RankSample said) {
        RankInstance instance = said.instance();
        Map<EnforcedBy, Fact> facts = new EnumMap<>(
                Ladder.insideTheRank(said.enforcedBy(), said.facts().framework()));
        // What the rank itself says it applies, stays when nothing of it is seen from outside.
        found.getOrDefault(instance, Map.of())
                .forEach((rung, fact) -> facts.merge(
                        rung, fact, (own, seen) -> own instanceof Holds && !(seen instanceof Holds) ? own : seen));
        Choice choice = Ladder.choose(facts);
        Optional<RankEnforcement> bySession = said.enforcement();
        RankSample withRestart = restart(choice, instance).map(said::needing).orElse(said);
        return withRestart.heldBy(
                choice.rung(),
                new RankEnforcement(
                        bySession.flatMap(RankEnforcement::processUsed),
                        bySession.flatMap(RankEnforcement::overhead),
                        choice.inForce(),
                        isRaised(instance),
                        choice.whyNotHigher()));
    }

    /** Of a limit that was given at the start, when another one is wanted: nobody in the process can take it. */
    private Optional<NeedsRestart> restart(Choice choice, RankInstance instance) {
        if (choice.rung() != EnforcedBy.ENV || choice.inForce().isEmpty()) {
            return Optional.empty();
        }
        MemoryBytes inForce = choice.inForce().get();
        return bound(instance)
                .flatMap(Bound::target)
                .filter(target -> !target.equals(inForce))
                .map(target -> new NeedsRestart(
                        inForce,
                        target,
                        "torch was given its limit at its start, and nothing in the process takes another"));
    }

    private boolean isRaised(RankInstance instance) {
        return alarms.getOrDefault(instance, CeilingAlarm.QUIET).isRaised();
    }
}
