package dev.ullage.coordinator.planning;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.config.JobTerms;
import dev.ullage.config.PlanSettings;
import dev.ullage.config.PolicyName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** What the policies would give the ranks of a cluster that need not exist; the same classes as for one that does. */
public final class DryRun {
    private static final JobId JOB = new JobId("plan");

    private DryRun() {}

    /** One device, with its ranks in order. */
    public record DeviceShares(int index, BudgetTerms terms, List<RankLine> ranks) {
        public DeviceShares {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * @param limits of each phase
     * @param problem why a coordinator would not carry this out, when it would not
     */
    public record RankLine(int rank, Priority priority, PhaseLimits limits, String reason, Optional<String> problem) {
        /** The highest of any phase. */
        public MemoryBytes limit() {
            return limits.max();
        }
    }

    public static List<DeviceShares> of(PlanSettings plan) {
        return of(plan, rank -> Optional.empty());
    }

    /** @param planned what each rank was estimated to need, by its number; empty: it was not */
    public static List<DeviceShares> of(PlanSettings plan, IntFunction<Optional<PlannedNeeds>> planned) {
        LimitPolicy policy = new PolicyByJob(plan.limits());
        List<DeviceShares> devices = new ArrayList<>();
        List<Integer> counts = plan.ranksOnDevices();
        int first = 0;
        for (int index = 0; index < counts.size(); index++) {
            BudgetTerms terms =
                    new BudgetTerms(plan.devices().get(index), plan.limits().reserve(), MemoryBytes.ZERO);
            List<RankRequest> ranks = requests(plan, first, counts.get(index), planned);
            PlanningInput input = new PlanningInput(new DeviceId("device-" + index), terms, ranks);
            devices.add(new DeviceShares(
                    index,
                    terms,
                    policy.share(input).ranks().stream()
                            .map(share -> line(share, plan))
                            .toList()));
            first += counts.get(index);
        }
        return devices;
    }

    private static List<RankRequest> requests(
            PlanSettings plan, int first, int count, IntFunction<Optional<PlannedNeeds>> planned) {
        RankObserved observed =
                new RankObserved(OptionalInt.of(plan.size()), plan.step(), Optional.empty(), Optional.empty(), 0);
        List<RankRequest> requests = new ArrayList<>();
        for (int rank = first; rank < first + count; rank++) {
            RankInstance instance = new RankInstance(new RankId(JOB, rank), 1, 0);
            requests.add(new RankRequest(
                    instance,
                    Share.ALL,
                    terms(plan, rank),
                    observed,
                    planned.apply(rank),
                    Optional.empty(),
                    Optional.empty()));
        }
        return requests;
    }

    private static JobTerms terms(PlanSettings plan, int rank) {
        JobTerms terms = plan.limits().policies().anyJob();
        List<Priority> priorities = plan.priorities();
        return priorities.isEmpty() ? terms : terms.withPriority(priorities.get(rank % priorities.size()));
    }

    /** No job is started whose ranks cannot have what they were estimated to need. */
    private static Optional<String> tooSmall(RankRequest rank, PhaseLimits limits) {
        return rank.planned()
                .filter(needs -> rank.terms().policy() == PolicyName.PLANNED)
                .map(needs -> needs.highest().upper())
                .filter(upper -> upper.isMoreThan(limits.max()))
                .map(upper ->
                        "%s is less than the %s it may need: no such job is started".formatted(limits.max(), upper));
    }

    private static RankLine line(Shares.RankShare share, PlanSettings plan) {
        MemoryBytes minimum = plan.limits().minimum();
        PhaseLimits limits = share.limits(plan.limits().phases());
        Optional<String> problem = Stream.of(Phase.values())
                .filter(phase -> minimum.isMoreThan(limits.in(phase)))
                .findFirst()
                .map(phase -> "%s in %s is less than the minimum of %s: no such plan is carried out"
                        .formatted(limits.in(phase), phase, minimum))
                .or(() -> tooSmall(share.rank(), limits));
        return new RankLine(
                share.rank().instance().rank().rank(),
                share.rank().terms().priority(),
                limits,
                share.reason().text(),
                problem);
    }
}
