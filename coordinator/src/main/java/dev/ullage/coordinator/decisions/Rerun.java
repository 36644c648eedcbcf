package dev.ullage.coordinator.decisions;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.decisions.Decision.Outcome;
import dev.ullage.coordinator.decisions.Decision.Planning;
import dev.ullage.coordinator.planning.DeviceInput;
import dev.ullage.coordinator.planning.DeviceInput.RankInput;
import dev.ullage.coordinator.planning.DevicePlan.PlannedLimit;
import dev.ullage.coordinator.planning.RankRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Gives the planner what it was given before, and says where it comes to something else.
 *
 * @param differences empty: it decides the same again
 * @param isOtherwiseWorded whether some rank's reason reads differently; no difference of the decision
 */
public record Rerun(List<Difference> differences, boolean isOtherwiseWorded) {
    private static final String DECISION = "decision";
    private static final String NOT_THERE = "none";

    public Rerun {
        differences = List.copyOf(differences);
    }

    /** @param what as in {@code limit of bert/3 in FORWARD}; amounts in whole bytes */
    public record Difference(String what, String recorded, String now) {}

    /** @param policy in the place of every rank's own; empty: as recorded */
    public static Rerun of(Planning recorded, Optional<PolicyName> policy) {
        DeviceInput input = policy.map(other -> with(recorded.input(), other)).orElse(recorded.input());
        try {
            return compare(
                    recorded.outcome(), Outcome.of(recorded.settings().planner().decide(input)));
        } catch (IllegalArgumentException | ArithmeticException e) {
            // Only an input that no planner was ever given, such as an altered one, comes to this.
            return new Rerun(
                    List.of(new Difference(DECISION, verdict(recorded.outcome()), "no plan is possible: " + e)), false);
        }
    }

    private static DeviceInput with(DeviceInput input, PolicyName policy) {
        List<RankInput> ranks = input.ranks().stream()
                .map(rank -> new RankInput(with(rank.request(), policy), rank.isSeen()))
                .toList();
        return new DeviceInput(
                input.device(),
                input.terms(),
                input.overBudget(),
                input.before(),
                input.reportAge(),
                input.sample(),
                ranks,
                Optional.empty(),
                input.room());
    }

    private static RankRequest with(RankRequest request, PolicyName policy) {
        return new RankRequest(
                request.instance(), request.share(), request.terms().withPolicy(policy), request.observed());
    }

    private static Rerun compare(Outcome recorded, Outcome now) {
        List<Difference> differences = new ArrayList<>();
        compare(DECISION, verdict(recorded), verdict(now), differences);
        compare("reserve", recorded.reserve().toString(), now.reserve().toString(), differences);
        NavigableMap<RankInstance, PlannedLimit> before = byRank(recorded);
        NavigableMap<RankInstance, PlannedLimit> after = byRank(now);
        NavigableSet<RankInstance> ranks = new TreeSet<>(before.keySet());
        ranks.addAll(after.keySet());
        boolean isOtherwiseWorded = false;
        for (RankInstance rank : ranks) {
            Optional<PlannedLimit> old = Optional.ofNullable(before.get(rank));
            Optional<PlannedLimit> other = Optional.ofNullable(after.get(rank));
            compare(rank, old, other, differences);
            isOtherwiseWorded |= !old.map(PlannedLimit::reason).equals(other.map(PlannedLimit::reason));
        }
        return new Rerun(differences, isOtherwiseWorded);
    }

    private static void compare(
            RankInstance rank, Optional<PlannedLimit> old, Optional<PlannedLimit> other, List<Difference> found) {
        compare("share of " + rank.rank(), share(old), share(other), found);
        Optional<MemoryBytes> one = old.flatMap(Rerun::uniform);
        Optional<MemoryBytes> two = other.flatMap(Rerun::uniform);
        if ((one.isPresent() || old.isEmpty()) && (two.isPresent() || other.isEmpty())) {
            compare("limit of " + rank.rank(), bytes(one), bytes(two), found);
            return;
        }
        for (Phase phase : Phase.values()) {
            compare(
                    "limit of " + rank.rank() + " in " + phase,
                    bytes(old.map(limit -> limit.limits().in(phase))),
                    bytes(other.map(limit -> limit.limits().in(phase))),
                    found);
        }
    }

    private static void compare(String what, String recorded, String now, List<Difference> found) {
        if (!recorded.equals(now)) {
            found.add(new Difference(what, recorded, now));
        }
    }

    private static NavigableMap<RankInstance, PlannedLimit> byRank(Outcome outcome) {
        NavigableMap<RankInstance, PlannedLimit> limits = new TreeMap<>();
        outcome.limits().forEach(limit -> limits.put(limit.instance(), limit));
        return limits;
    }

    private static String verdict(Outcome outcome) {
        return outcome.heldBack().map(rule -> "held back by " + rule).orElse("plan");
    }

    private static String share(Optional<PlannedLimit> limit) {
        return limit.map(known -> known.share().toString()).orElse(NOT_THERE);
    }

    private static String bytes(Optional<MemoryBytes> amount) {
        return amount.map(known -> Long.toString(known.value())).orElse(NOT_THERE);
    }

    /** The limit when all phases have the same. */
    private static Optional<MemoryBytes> uniform(PlannedLimit limit) {
        PhaseLimits limits = limit.limits();
        return limits.equals(PhaseLimits.uniform(limits.max())) ? Optional.of(limits.max()) : Optional.empty();
    }
}
