package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.Share;
import dev.ullage.config.FixedLimit;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings.Hybrid;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What each policy gives and how it explains it; by {@link PolicyByJob}, with the parameters as shipped. */
class PoliciesTest {
    private static final LimitPolicy POLICY = new PolicyByJob(LimitSettings.defaults());
    private static final Share RESERVE = Share.ofPercent(20);

    private static JobTerms by(PolicyName policy) {
        return new JobTerms(policy, Priority.MEDIUM, Optional.empty(), FixedLimit.of(Share.ofPercent(80)));
    }

    private static JobTerms by(FixedLimit limit) {
        return new JobTerms(PolicyName.FIXED, Priority.MEDIUM, Optional.empty(), limit);
    }

    private static JobTerms by(Priority priority) {
        return new JobTerms(
                PolicyName.PRIORITY_POOL, priority, Optional.of(mib(4096)), FixedLimit.of(Share.ofPercent(80)));
    }

    private static RankObserved inWorldOf(int size) {
        return new RankObserved(OptionalInt.of(size), OptionalLong.empty(), Optional.empty(), Optional.empty(), 0);
    }

    private static RankObserved atStep(long step) {
        return new RankObserved(OptionalInt.empty(), OptionalLong.of(step), Optional.empty(), Optional.empty(), 0);
    }

    private static RankObserved peaked(long step, MemoryBytes held, MemoryBytes peak, long refusals) {
        return new RankObserved(
                OptionalInt.empty(), OptionalLong.of(step), Optional.of(held), Optional.of(peak), refusals);
    }

    private static BudgetTerms device(MemoryBytes allocatable) {
        return new BudgetTerms(allocatable, RESERVE, MemoryBytes.ZERO);
    }

    private static List<RankShare> share(BudgetTerms terms, JobTerms jobTerms, RankObserved... observed) {
        List<RankRequest> ranks = new ArrayList<>();
        for (RankObserved one : observed) {
            ranks.add(new RankRequest(rank(ranks.size()), Share.ALL, jobTerms, one));
        }
        return POLICY.share(new PlanningInput(DEVICE, terms, ranks)).ranks();
    }

    private static List<RankShare> each(BudgetTerms terms, JobTerms... jobTerms) {
        List<RankRequest> ranks = new ArrayList<>();
        for (JobTerms one : jobTerms) {
            ranks.add(new RankRequest(rank(ranks.size()), Share.ALL, one, RankObserved.NOTHING));
        }
        return POLICY.share(new PlanningInput(DEVICE, terms, ranks)).ranks();
    }

    private static List<Long> mebibytes(List<RankShare> shares) {
        return shares.stream()
                .map(share -> share.limit().value() / MemoryBytes.MEBIBYTE)
                .toList();
    }

    private static String reason(RankShare share) {
        return share.reason().text();
    }

    @Test
    void worldShareDividesTheDeviceByTheWorldAndNotByTheRanksOnIt() {
        List<RankShare> shares = share(device(mib(12_288)), by(PolicyName.WORLD_SHARE), inWorldOf(8), inWorldOf(8));

        assertThat(mebibytes(shares)).containsExactly(1228L, 1228L);
        assertThat(reason(shares.get(0))).isEqualTo("12.0 GiB less reserve 20% over a world of 8 is 1.2 GiB");
    }

    @Test
    void worldShareWithoutAWorldSizeIsAnEqualPartAndSaysSo() {
        List<RankShare> shares = share(device(gib(80)), by(PolicyName.WORLD_SHARE), RankObserved.NOTHING, inWorldOf(4));

        assertThat(mebibytes(shares)).containsExactly(32 * 1024L, 16 * 1024L);
        assertThat(reason(shares.get(0)))
                .isEqualTo("its launcher does not say the world size: 64.0 GiB over 2 ranks is 32.0 GiB");
    }

    @Test
    void aWorldThatIsSmallerThanTheRanksOnTheDeviceIsCutToTheBudget() {
        List<RankShare> shares = share(device(gib(80)), by(PolicyName.WORLD_SHARE), inWorldOf(1), inWorldOf(1));

        assertThat(mebibytes(shares)).containsExactly(32 * 1024L, 32 * 1024L);
        assertThat(reason(shares.get(0)))
                .isEqualTo("80.0 GiB less reserve 20% over a world of 1 is 64.0 GiB, but 2 of 2 ranks share 64.0 GiB of"
                        + " the budget: 32.0 GiB is left for it");
    }

    @Test
    void fixedGivesWhatItIsToldAndCutsOnlyThoseThatAskForMoreThanFits() {
        JobTerms small = by(FixedLimit.of(gib(10)));
        JobTerms half = by(FixedLimit.of(Share.ofPercent(50)));

        List<RankShare> shares = each(device(gib(80)), small, half, half);

        assertThat(mebibytes(shares)).containsExactly(10 * 1024L, 27 * 1024L, 27 * 1024L);
        assertThat(reason(shares.get(0))).isEqualTo("fixed at 10.0 GiB");
        assertThat(reason(shares.get(1)))
                .isEqualTo("fixed at 50% of 80.0 GiB is 40.0 GiB, but 3 of 3 ranks share 64.0 GiB of the budget:"
                        + " 27.0 GiB is left for it");
    }

    @Test
    void growthIsTheWholeBudgetForALoneRankAndEqualPartsForSeveral() {
        List<RankShare> alone = each(device(gib(80)), by(PolicyName.GROWTH));
        List<RankShare> two = each(device(gib(80)), by(PolicyName.GROWTH), by(PolicyName.GROWTH));

        assertThat(mebibytes(alone)).containsExactly(64 * 1024L);
        assertThat(reason(alone.get(0)))
                .isEqualTo(
                        "may grow into the whole budget of 64.0 GiB (allocatable 80.0 GiB, reserve 20%, foreign 0 B),"
                                + " in every phase");
        assertThat(mebibytes(two)).containsExactly(32 * 1024L, 32 * 1024L);
        assertThat(reason(two.get(0))).startsWith("may grow into an equal part of the budget, in every phase: ");
    }

    @Test
    void growthIsNotReducedByThePhasesOfTheSettings() {
        PhaseShares half = PhaseShares.uniform(Share.ofPercent(50));

        assertThat(each(device(gib(80)), by(PolicyName.GROWTH))
                        .get(0)
                        .limits(half)
                        .in(Phase.IDLE))
                .isEqualTo(gib(64));
        assertThat(each(device(gib(80)), by(PolicyName.RANK_SHARE))
                        .get(0)
                        .limits(half)
                        .in(Phase.IDLE))
                .isEqualTo(gib(32));
    }

    @Test
    void aPriorityPoolGivesEveryRequestThatFits() {
        List<RankShare> shares = each(device(gib(80)), by(Priority.HIGH), by(Priority.MEDIUM), by(Priority.LOW));

        assertThat(mebibytes(shares)).containsExactly(8192L, 6144L, 4915L);
        assertThat(reason(shares.get(0)))
                .isEqualTo("model of 4.0 GiB x 1.5 (priority high) + 2.0 GiB asks for 8.0 GiB");
    }

    @Test
    void underContentionAPriorityPoolDividesByWeight() {
        BudgetTerms small = new BudgetTerms(mib(6_400), Share.NONE, MemoryBytes.ZERO);

        List<RankShare> shares = each(small, by(Priority.HIGH), by(Priority.MEDIUM), by(Priority.LOW));

        assertThat(mebibytes(shares)).containsExactly(3000L, 2000L, 1400L);
        assertThat(reason(shares.get(2)))
                .endsWith(
                        "asks for 4.8 GiB, but 3 of 3 ranks share 6.3 GiB of the budget:" + " 1.4 GiB is left for it");
    }

    @Test
    void hybridGrowsUntilItsStepAndIsHeldToTheRatioFromThenOn() {
        List<RankShare> shares =
                share(device(gib(80)), by(PolicyName.HYBRID), atStep(999), atStep(1_000), RankObserved.NOTHING);

        MemoryBytes third = gib(64).dividedBy(3);
        assertThat(shares).extracting(RankShare::limit).containsExactly(third, third.times(Share.ofPercent(80)), third);
        assertThat(reason(shares.get(0))).startsWith("step 999, growth until step 1000: may grow into an equal part");
        assertThat(reason(shares.get(1)))
                .isEqualTo("step 1000, from step 1000 on 80% of 21.3 GiB (64.0 GiB over 3 ranks) is 17.1 GiB");
        assertThat(reason(shares.get(2))).startsWith("its step is not known, growth until step 1000: ");
    }

    // By epochs as the rank reports them; steps count for one that does not, if they are known to make up the epochs.
    @Test
    void hybridGrowsForSomeEpochsOfARankThatReportsThem() {
        Hybrid byEpoch = new Hybrid(OptionalLong.empty(), OptionalLong.of(2), Share.ofPercent(80));
        Hybrid orByStep = new Hybrid(OptionalLong.of(100), OptionalLong.of(2), Share.ofPercent(80));
        MemoryBytes part = gib(64);
        MemoryBytes ratio = part.times(Share.ofPercent(80));

        assertThat(hybrid(byEpoch, inEpoch(1, 500)).limit()).isEqualTo(part);
        assertThat(hybrid(byEpoch, inEpoch(2, 500)).limit()).isEqualTo(ratio);
        assertThat(reason(hybrid(byEpoch, inEpoch(2, 500)))).startsWith("epoch 2, from epoch 2 on 80% of 64.0 GiB");
        assertThat(hybrid(byEpoch, atStep(500)).limit()).isEqualTo(part);
        assertThat(reason(hybrid(byEpoch, atStep(500)))).startsWith("its epoch is not known, growth until epoch 2: ");
        assertThat(hybrid(orByStep, inEpoch(1, 500)).limit()).isEqualTo(part);
        assertThat(hybrid(orByStep, atStep(500)).limit()).isEqualTo(ratio);
    }

    private static RankShare hybrid(Hybrid settings, RankObserved observed) {
        RankRequest rank = new RankRequest(rank(0), Share.ALL, by(PolicyName.HYBRID), observed);
        return new HybridPolicy(settings)
                .share(new PlanningInput(DEVICE, device(gib(80)), List.of(rank)))
                .ranks()
                .get(0);
    }

    private static RankObserved inEpoch(long epoch, long step) {
        OptionalLong unknown = OptionalLong.empty();
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(step), OptionalLong.of(epoch), step),
                List.of(),
                new RankWatch.Allocator(unknown, unknown, Optional.empty(), Optional.empty(), unknown, unknown),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty());
        return new RankObserved(
                OptionalInt.empty(), OptionalLong.of(step), Optional.empty(), Optional.empty(), 0, Optional.of(watch));
    }

    @Test
    void observedIsThePeakWithItsSlackOnceThePeakCounts() {
        List<RankShare> shares = share(
                device(gib(80)),
                by(PolicyName.OBSERVED),
                peaked(10, gib(8), gib(10), 0),
                peaked(9, gib(8), gib(10), 0),
                peaked(10, gib(8), gib(10), 3),
                peaked(10, gib(12), gib(10), 0));

        assertThat(mebibytes(shares)).containsExactly(11 * 1024L, 16 * 1024L, 16 * 1024L, 12 * 1024L);
        assertThat(shares)
                .extracting(PoliciesTest::reason)
                .containsExactly(
                        "peak of 10.0 GiB (of its whole life) + slack 10% is 11.0 GiB",
                        "step 9, peaks count from step 10 on: 64.0 GiB over 4 ranks is 16.0 GiB",
                        "its allocator was refused 3 times, so its peak is its limit's and not its need's: 64.0 GiB"
                                + " over 4 ranks is 16.0 GiB",
                        "peak of 10.0 GiB (of its whole life) + slack 10% is 11.0 GiB," + " raised to 12.0 GiB");
    }

    @Test
    void observedWithoutAPeakOrAStepIsAnEqualPartAndNeverLessThanTheMinimum() {
        RankObserved noStep = new RankObserved(
                OptionalInt.empty(), OptionalLong.empty(), Optional.of(gib(1)), Optional.of(gib(1)), 0);

        List<RankShare> shares = share(
                device(gib(80)),
                by(PolicyName.OBSERVED),
                RankObserved.NOTHING,
                noStep,
                peaked(10, MemoryBytes.of(1), MemoryBytes.of(1), 0));

        assertThat(reason(shares.get(0))).startsWith("its peak is not known yet: ");
        assertThat(reason(shares.get(1))).startsWith("its step is not known, so its peak may be from before");
        assertThat(shares.get(2).limit()).isEqualTo(LimitSettings.defaults().minimum());
    }

    @Test
    void jobsWithDifferentPoliciesShareTheBudgetByTheHead() {
        List<RankShare> shares =
                each(device(gib(80)), by(FixedLimit.of(gib(60))), by(PolicyName.RANK_SHARE), by(PolicyName.GROWTH));

        assertThat(shares).extracting(RankShare::limit).containsOnly(gib(64).dividedBy(3));
        assertThat(shares).extracting(share -> share.rank().instance()).isSorted();
        assertThat(reason(shares.get(0)))
                .isEqualTo("fixed at 60.0 GiB, but 1 of 3 ranks share 21.3 GiB of the budget: 21.3 GiB is left for it");
    }

    @Test
    void theOperatorsShareIsTakenFromWhatThePolicyGives() {
        for (PolicyName policy : PolicyName.values()) {
            RankRequest half = new RankRequest(rank(0), Share.ofPercent(50), by(policy), RankObserved.NOTHING);
            RankRequest whole = new RankRequest(rank(0), Share.ALL, by(policy), RankObserved.NOTHING);

            assertThat(only(half).limit())
                    .as(policy.label())
                    .isEqualTo(only(whole).limit().times(Share.ofPercent(50)));
            assertThat(reason(only(half))).as(policy.label()).endsWith(", of which the operator left it 50%");
        }
    }

    @Test
    void foreignMemoryIsTakenFromEveryPolicy() {
        BudgetTerms full = new BudgetTerms(gib(80), RESERVE, gib(64));

        assertThat(Arrays.stream(PolicyName.values())
                        .map(policy -> each(full, by(policy)).get(0).limit()))
                .containsOnly(MemoryBytes.ZERO);
    }

    private static RankShare only(RankRequest rank) {
        return POLICY.share(new PlanningInput(DEVICE, device(gib(80)), List.of(rank)))
                .ranks()
                .get(0);
    }
}
