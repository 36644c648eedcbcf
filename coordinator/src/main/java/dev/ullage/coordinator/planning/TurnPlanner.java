package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.TurnMode;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.TurnNeeds.Need;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * On which devices jobs take turns at their bursts, and what each rank has outside of one (docs/turns.md).
 *
 * <pre>
 *   pool   = the largest, over the jobs on the device, of sum(peak - persistent) over the job's ranks there
 *   needed : sum(persistent) + sum(limits of those without turns) + pool <= capacity
 * </pre>
 *
 * The ranks of one job burst together: they wait for each other in collectives. For the same reason a job has its turn
 * on all devices of a host at once. No worker sees to that across hosts, so turns are planned only where jobs that take
 * them do not meet on a second host. A job with a rank of which it is not known what it needs takes none: its ranks
 * keep the policy's limits, and at least two other jobs take turns beside it, or nobody does.
 */
public final class TurnPlanner {
    private final TurnMode mode;
    private final TurnNeeds needs;

    public TurnPlanner(TurnMode mode, TurnNeeds needs) {
        this.mode = mode;
        this.needs = needs;
    }

    /**
     * What is known of one device.
     *
     * @param terms as they are to be, without a pool
     * @param knowsTurns whether its worker can let ranks take turns
     * @param limits what the ranks have without turns, in the order of growth
     */
    public record Candidate(
            DeviceId device,
            NodeId node,
            BudgetTerms terms,
            boolean knowsTurns,
            List<RankRequest> ranks,
            List<PlannedLimit> limits) {
        public Candidate {
            ranks = List.copyOf(ranks);
            limits = List.copyOf(limits);
        }
    }

    /**
     * @param turns who takes turns; empty: nobody does
     * @param limits what the ranks have outside of a turn
     */
    public record TurnRuling(Optional<TurnPlan> turns, List<PlannedLimit> limits) {
        public TurnRuling {
            limits = List.copyOf(limits);
        }
    }

    /** Whether nobody ever takes turns. */
    boolean isOff() {
        return mode == TurnMode.OFF;
    }

    /** One ruling for each candidate. The candidates are in the order of the devices. */
    public NavigableMap<DeviceId, TurnRuling> rule(List<Candidate> candidates) {
        NavigableMap<DeviceId, TurnRuling> rulings = new TreeMap<>();
        NavigableMap<NodeId, NavigableSet<JobId>> takingTurns = new TreeMap<>();
        for (Candidate candidate : candidates) {
            TurnRuling ruling = rule(candidate);
            rulings.put(candidate.device(), ruling);
            ruling.turns().ifPresent(turns -> turns.ranks().forEach(rank -> takingTurns
                    .computeIfAbsent(candidate.node(), node -> new TreeSet<>())
                    .add(rank.instance().rank().job())));
        }
        NavigableMap<NodeId, String> meetings = HostMeetings.closedBy(takingTurns);
        for (Candidate candidate : candidates) {
            Optional.ofNullable(meetings.get(candidate.node()))
                    .ifPresent(meeting -> rulings.computeIfPresent(
                            candidate.device(),
                            (device, ruling) -> ruling.turns().isPresent() ? refused(candidate, meeting) : ruling));
        }
        return Collections.unmodifiableNavigableMap(rulings);
    }

    /**
     * The ranks of a device that could take turns.
     *
     * @param needs of all ranks of those jobs of which each rank's need is known
     * @param unknown why the other ranks take none
     */
    private record Takers(NavigableMap<RankInstance, Need> needs, NavigableMap<RankInstance, String> unknown) {
        long jobs() {
            return needs.keySet().stream()
                    .map(instance -> instance.rank().job())
                    .distinct()
                    .count();
        }

        BurstNeed of(RankInstance instance) {
            return Objects.requireNonNull(needs.get(instance)).burst().orElseThrow();
        }

        boolean has(RankInstance instance) {
            return needs.containsKey(instance);
        }
    }

    private Takers takers(Candidate candidate) {
        NavigableMap<JobId, String> unknownJobs = new TreeMap<>();
        NavigableMap<RankInstance, Need> known = new TreeMap<>();
        for (RankRequest rank : candidate.ranks()) {
            Need need = needs.of(rank);
            if (need.burst().isPresent()) {
                known.put(rank.instance(), need);
            } else {
                unknownJobs.putIfAbsent(rank.instance().rank().job(), need.explanation());
            }
        }
        NavigableMap<RankInstance, String> unknown = new TreeMap<>();
        for (RankRequest rank : candidate.ranks()) {
            Optional.ofNullable(unknownJobs.get(rank.instance().rank().job()))
                    .ifPresent(why -> unknown.put(rank.instance(), why));
        }
        known.keySet().removeAll(unknown.keySet());
        return new Takers(known, unknown);
    }

    private TurnRuling rule(Candidate candidate) {
        Takers takers = takers(candidate);
        long jobs = candidate.ranks().stream()
                .map(rank -> rank.instance().rank().job())
                .distinct()
                .count();
        if (mode == TurnMode.OFF || jobs < 2 || takers.needs().isEmpty()) {
            return without(candidate, takers, jobs);
        }
        Optional<String> problem = problem(candidate, takers);
        if (problem.isPresent()) {
            return refused(candidate, problem.get());
        }
        boolean holdsAll = candidate.limits().stream()
                .filter(limit -> takers.has(limit.instance()))
                .allMatch(limit -> holdsThePeak(takers.of(limit.instance()), limit));
        if (holdsAll) {
            return new TurnRuling(Optional.empty(), candidate.limits());
        }
        return planned(candidate, takers);
    }

    /** Where nothing is known of anybody, only what was to be seen and is missing is worth a word. */
    private TurnRuling without(Candidate candidate, Takers takers, long jobs) {
        boolean isLookedFor = mode != TurnMode.OFF
                && jobs > 1
                && candidate.ranks().stream().anyMatch(rank -> rank.seen().isPresent());
        return isLookedFor && !takers.unknown().isEmpty()
                ? refused(candidate, takers.unknown().firstEntry().getValue())
                : new TurnRuling(Optional.empty(), candidate.limits());
    }

    private static Optional<String> problem(Candidate candidate, Takers takers) {
        if (!candidate.knowsTurns()) {
            return Optional.of("the worker " + candidate.node() + " is older and knows none");
        }
        if (takers.jobs() < 2) {
            return takers.unknown().values().stream().findFirst();
        }
        return candidate.ranks().stream()
                .filter(rank -> takers.has(rank.instance()))
                .flatMap(rank -> operatorsWord(rank).stream())
                .findFirst();
    }

    /** What an operator said of the rank that turns would not keep to. */
    private static Optional<String> operatorsWord(RankRequest rank) {
        if (rank.limit().isPresent()) {
            return Optional.of(
                    "the operator set the limit of " + rank.instance().rank());
        }
        return rank.share().equals(Share.ALL)
                ? Optional.empty()
                : Optional.of("the operator left " + rank.instance().rank() + " " + rank.share());
    }

    private static boolean holdsThePeak(BurstNeed need, PlannedLimit limit) {
        return need.phases().stream()
                .noneMatch(phase -> need.peak().isMoreThan(limit.limits().in(phase)));
    }

    /** Turns for those of whom it is known what they need, beside the others' limits, if all that fits. */
    private static TurnRuling planned(Candidate candidate, Takers takers) {
        MemoryBytes persistent = MemoryBytes.ZERO;
        MemoryBytes others = MemoryBytes.ZERO;
        NavigableMap<JobId, MemoryBytes> bursts = new TreeMap<>();
        for (PlannedLimit limit : candidate.limits()) {
            RankInstance instance = limit.instance();
            if (takers.has(instance)) {
                persistent = persistent.plus(takers.of(instance).persistent());
                bursts.merge(instance.rank().job(), takers.of(instance).burst(), MemoryBytes::plus);
            } else {
                others = others.plus(limit.limits().max());
            }
        }
        MemoryBytes pool = bursts.values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::max);
        MemoryBytes capacity = candidate.terms().capacity();
        if (persistent.plus(others).plus(pool).isMoreThan(capacity)) {
            String and = others.isZero() ? "" : ", the limits of those without turns " + others;
            return refused(
                    candidate,
                    "persistent %s%s and the largest burst %s are more than %s"
                            .formatted(persistent, and, pool, capacity));
        }
        List<RankTurn> turns = new ArrayList<>();
        List<PlannedLimit> limits = new ArrayList<>();
        for (PlannedLimit limit : candidate.limits()) {
            RankInstance instance = limit.instance();
            if (takers.has(instance)) {
                BurstNeed need = takers.of(instance);
                turns.add(new RankTurn(instance, need.phases(), need.burst()));
                limits.add(taking(limit, Objects.requireNonNull(takers.needs().get(instance)), pool));
            } else {
                limits.add(with(limit, "; no turns for it: " + takers.unknown().get(instance)));
            }
        }
        turns.sort(Comparator.comparing(RankTurn::instance));
        return new TurnRuling(Optional.of(new TurnPlan(pool, turns)), limits);
    }

    private static PlannedLimit taking(PlannedLimit limit, Need known, MemoryBytes pool) {
        BurstNeed need = known.burst().orElseThrow();
        return new PlannedLimit(
                limit.instance(),
                PhaseLimits.uniform(need.persistent()),
                limit.share(),
                new PlanReason("taking turns: persistent need %s, with a turn %s in %s (pool %s)%s"
                        .formatted(need.persistent(), need.peak(), need.phases(), pool, known.explanation())));
    }

    private static PlannedLimit with(PlannedLimit limit, String more) {
        return new PlannedLimit(limit.instance(), limit.limits(), limit.share(), new PlanReason(limit.reason() + more));
    }

    private static TurnRuling refused(Candidate candidate, String why) {
        return new TurnRuling(
                Optional.empty(),
                candidate.limits().stream()
                        .map(limit -> with(limit, "; no turns: " + why))
                        .toList());
    }
}
