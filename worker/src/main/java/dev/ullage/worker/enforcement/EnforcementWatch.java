package dev.ullage.worker.enforcement;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.worker.enforcement.Ladder.Choice;
import dev.ullage.worker.enforcement.Ladder.Fact;
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
    private final Map<DeviceId, Map<RankInstance, MemoryBytes>> ceilings = new TreeMap<>();
    private final Map<RankInstance, CeilingAlarm> alarms = new TreeMap<>();
    private final Map<RankInstance, Map<EnforcedBy, Fact>> found = new TreeMap<>();

    public EnforcementWatch(CeilingAlarm.Terms terms) {
        this.terms = terms;
    }

    /** An alarm that was raised, or is over. */
    public record Change(RankInstance instance, boolean isRaised, MemoryBytes used, MemoryBytes ceiling) {}

    /** A device's ledger said what its ranks may believe. */
    public void reported(LimitsReported report) {
        Map<RankInstance, MemoryBytes> now = new TreeMap<>();
        for (GrantReport grant : report.ledger().grants()) {
            // A process that was never given a limit is not above it.
            if (grant.target().isPresent() || !grant.ceiling().isZero()) {
                now.put(grant.instance(), grant.ceiling().plus(burst(report, grant.instance())));
            }
        }
        Map<RankInstance, MemoryBytes> before = ceilings.put(report.device(), now);
        if (before != null) {
            before.keySet().stream()
                    .filter(instance -> !now.containsKey(instance))
                    .forEach(this::forget);
        }
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
        return Map.copyOf(ceilings.getOrDefault(device, Map.of()));
    }

    /**
     * What was found out from outside about the mechanisms for one rank; replaces what was known of these. A rank that
     * no ledger knows any more is not listened to.
     */
    public void found(RankInstance instance, Map<EnforcedBy, Fact> facts) {
        if (ceilings.values().stream().anyMatch(on -> on.containsKey(instance))) {
            found.computeIfAbsent(instance, key -> new EnumMap<>(EnforcedBy.class))
                    .putAll(facts);
        }
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
        ceilings.getOrDefault(device, Map.of()).forEach((instance, ceiling) -> {
            MemoryBytes amount = used.get(instance.pid());
            if (amount == null) {
                return;
            }
            CeilingAlarm before = alarms.getOrDefault(instance, CeilingAlarm.QUIET);
            CeilingAlarm after = before.next(amount, ceiling, terms);
            alarms.put(instance, after);
            if (before.isRaised() != after.isRaised()) {
                changes.add(new Change(instance, after.isRaised(), amount, ceiling));
            }
        });
        return changes;
    }

    /** One sentence for each rank of the device that is above its ceiling, or cannot train within it. */
    public List<String> problems(DeviceId device, Map<Long, MemoryBytes> used, List<RankSample> said) {
        List<String> problems = new ArrayList<>();
        for (RankSample rank : said) {
            Optional<MemoryBytes> ceiling =
                    Optional.ofNullable(ceilings.getOrDefault(device, Map.of()).get(rank.instance()));
            rank.enforcement()
                    .flatMap(RankEnforcement::overhead)
                    .flatMap(overhead -> ceiling.flatMap(overhead::refusal))
                    .ifPresent(why ->
                            problems.add("rank %s: %s".formatted(rank.instance().rank(), why)));
        }
        ceilings.getOrDefault(device, Map.of()).forEach((instance, ceiling) -> {
            if (isRaised(instance)) {
                String now = Optional.ofNullable(used.get(instance.pid()))
                        .map(MemoryBytes::toString)
                        .orElse("an amount not known at the moment");
                problems.add("rank %s (process %d) uses %s, more than its ceiling of %s"
                        .formatted(instance.rank(), instance.pid(), now, ceiling));
            }
        });
        return problems;
    }

    /** What the rank said, with what is known of how it is held. */
    public RankSample held(RankSample said) {
        RankInstance instance = said.instance();
        Map<EnforcedBy, Fact> facts = new EnumMap<>(
                Ladder.insideTheRank(said.enforcedBy(), said.facts().framework()));
        facts.putAll(found.getOrDefault(instance, Map.of()));
        Choice choice = Ladder.choose(facts);
        Optional<RankEnforcement> bySession = said.enforcement();
        return said.heldBy(
                choice.rung(),
                new RankEnforcement(
                        bySession.flatMap(RankEnforcement::processUsed),
                        bySession.flatMap(RankEnforcement::overhead),
                        choice.inForce(),
                        isRaised(instance),
                        choice.whyNotHigher()));
    }

    private boolean isRaised(RankInstance instance) {
        return alarms.getOrDefault(instance, CeilingAlarm.QUIET).isRaised();
    }
}
