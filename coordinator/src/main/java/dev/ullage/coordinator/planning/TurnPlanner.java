package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.TurnMode;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * On which devices jobs take turns at their bursts, and what each rank has outside of one (docs/turns.md).
 *
 * <pre>
 *   pool   = the largest, over the jobs on the device, of sum(peak - persistent) over the job's ranks there
 *   needed : sum(persistent) + pool <= capacity
 * </pre>
 *
 * The ranks of one job burst together: they wait for each other in collectives. For the same reason a job has its turn
 * on all devices of a host at once. No worker sees to that across hosts, so turns are planned only where jobs that take
 * them do not meet on a second host.
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

    private TurnRuling rule(Candidate candidate) {
        NavigableMap<JobId, MemoryBytes> bursts = new TreeMap<>();
        candidate.ranks().forEach(rank -> bursts.put(rank.instance().rank().job(), MemoryBytes.ZERO));
        boolean isKnownOfAny =
                candidate.ranks().stream().anyMatch(rank -> needs.of(rank).isPresent());
        if (mode == TurnMode.OFF || bursts.size() < 2 || !isKnownOfAny) {
            return new TurnRuling(Optional.empty(), candidate.limits());
        }
        Optional<String> problem = problem(candidate);
        if (problem.isPresent()) {
            return refused(candidate, problem.get());
        }
        if (candidate.limits().stream().allMatch(limit -> holdsThePeak(candidate, limit))) {
            return new TurnRuling(Optional.empty(), candidate.limits());
        }
        MemoryBytes persistent = MemoryBytes.ZERO;
        for (RankRequest rank : candidate.ranks()) {
            BurstNeed need = needs.of(rank).orElseThrow();
            persistent = persistent.plus(need.persistent());
            bursts.merge(rank.instance().rank().job(), need.burst(), MemoryBytes::plus);
        }
        MemoryBytes pool = bursts.values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::max);
        if (persistent.plus(pool).isMoreThan(candidate.terms().capacity())) {
            return refused(
                    candidate,
                    "persistent %s and the largest burst %s are more than %s"
                            .formatted(persistent, pool, candidate.terms().capacity()));
        }
        return planned(candidate, pool);
    }

    private Optional<String> problem(Candidate candidate) {
        if (!candidate.knowsTurns()) {
            return Optional.of("the worker " + candidate.node() + " is older and knows none");
        }
        return candidate.ranks().stream()
                .flatMap(rank -> {
                    JobId job = rank.instance().rank().job();
                    if (needs.of(rank).isEmpty()) {
                        return Optional.of("what job " + job + " needs is not known (ullage.limits.jobs." + job
                                        + ".persistent and .peak)")
                                .stream();
                    }
                    if (rank.limit().isPresent()) {
                        return Optional.of("the operator set the limit of "
                                        + rank.instance().rank())
                                .stream();
                    }
                    return rank.share().equals(Share.ALL)
                            ? Optional.<String>empty().stream()
                            : Optional.of("the operator left " + rank.instance().rank() + " " + rank.share()).stream();
                })
                .findFirst();
    }

    private boolean holdsThePeak(Candidate candidate, PlannedLimit limit) {
        return candidate.ranks().stream()
                .filter(rank -> rank.instance().equals(limit.instance()))
                .flatMap(rank -> needs.of(rank).stream())
                .allMatch(need -> need.phases().stream().noneMatch(phase -> need.peak()
                        .isMoreThan(limit.limits().in(phase))));
    }

    private TurnRuling planned(Candidate candidate, MemoryBytes pool) {
        List<RankTurn> turns = candidate.ranks().stream()
                .map(rank -> {
                    BurstNeed need = needs.of(rank).orElseThrow();
                    return new RankTurn(rank.instance(), need.phases(), need.burst());
                })
                .toList();
        Function<RankRequest, PlannedLimit> limit = rank -> {
            BurstNeed need = needs.of(rank).orElseThrow();
            return new PlannedLimit(
                    rank.instance(),
                    PhaseLimits.uniform(need.persistent()),
                    rank.share(),
                    new PlanReason("taking turns: persistent need %s, with a turn %s in %s (pool %s)"
                            .formatted(need.persistent(), need.peak(), need.phases(), pool)));
        };
        return new TurnRuling(
                Optional.of(new TurnPlan(pool, turns)),
                candidate.ranks().stream().map(limit).toList());
    }

    private static TurnRuling refused(Candidate candidate, String why) {
        return new TurnRuling(
                Optional.empty(),
                candidate.limits().stream()
                        .map(limit -> new PlannedLimit(
                                limit.instance(),
                                limit.limits(),
                                limit.share(),
                                new PlanReason(limit.reason() + "; no turns: " + why)))
                        .toList());
    }
}
