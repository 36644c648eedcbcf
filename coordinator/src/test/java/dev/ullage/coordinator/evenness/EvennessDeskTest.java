package dev.ullage.coordinator.evenness;

import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.Evenness.JobEvenness;
import dev.ullage.common.protocol.Evenness.PhaseSkew;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.config.EvennessSettings;
import dev.ullage.config.EvennessSettings.Mode;
import dev.ullage.coordinator.evenness.TrainedJob.Member;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.oom.OomDesk.Standing;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class EvennessDeskTest {
    private static final Member LARGE = new Member(64_000, 8_000, 0, 1_000);
    private static final Member SMALL = new Member(32_000, 8_000, 0, 1_000);

    private final List<JobDirective> orders = new ArrayList<>();
    private final List<Change> changes = new ArrayList<>();
    private EvennessDesk desk = desk(Mode.ON);
    private Instant now = T0;

    private static EvennessDesk desk(Mode mode) {
        EvennessSettings shipped = EvennessSettings.defaults();
        return new EvennessDesk(new EvennessSettings(
                mode, shipped.every(), shipped.looks(), shipped.unevenFrom(), shipped.gainFrom(), shipped.maxOrders()));
    }

    /** As many looks; orders are followed at once. */
    private void look(TrainedJob job, int times) {
        for (int i = 0; i < times; i++) {
            Findings found = desk.look(job.view(), name -> job.standing(), now);
            found.orders().forEach(job::follow);
            orders.addAll(found.orders());
            changes.addAll(found.changes());
            now = now.plusSeconds(5);
        }
    }

    private JobEvenness status() {
        return desk.status().orElseThrow().jobs().get(0);
    }

    private List<EventKind> kinds() {
        return changes.stream().map(Change::kind).toList();
    }

    // 56,000 and 24,000 for samples of 1,000: 56 and 24 at once, so of 80 samples as many.
    @Test
    void sharesAreInProportionToWhatEachDeviceCanHold() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);

        look(job, 2);
        assertThat(orders).as("two looks are too few").isEmpty();
        look(job, 1);

        assertThat(orders).singleElement().satisfies(order -> {
            assertThat(order.shares()).contains(new BatchShares(1, 1, 1, List.of(56, 24)));
            assertThat(order.isShareOrder()).isTrue();
            assertThat(order.level()).isEqualTo(OomLevel.LIMIT);
            assertThat(order.restart()).isFalse();
            assertThat(order.step()).isEqualTo(120);
            assertThat(order.cause().reason())
                    .isEqualTo("batch 80 as 56, 24 instead of 40, 40, each at once: the fullest rank is 1"
                            + " (GPU 0 of host-a), at 150 % of what it can hold, and would be at 100 % or less");
        });
        look(job, 30);
        assertThat(orders).as("and that is all").hasSize(1);
        assertThat(kinds()).containsExactly(EventKind.BATCH_SHARES_ORDERED);
        assertThat(status().proposal()).isEmpty();
        assertThat(status().samples()).containsExactly(56, 24);
    }

    @Test
    void aBatchThatDoesNotFitAtOnceIsCutIntoAsManyPartsOnEveryRank() {
        TrainedJob job = TrainedJob.of(161, LARGE, SMALL);

        look(job, 3);

        assertThat(orders.get(0).shares()).contains(new BatchShares(1, 1, 3, List.of(113, 48)));
        assertThat(job.fits()).isTrue();
    }

    @Test
    void nobodyHoldsMoreAtOnceThanItsUserAllows() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        job.most = OptionalInt.of(20);

        look(job, 5);

        assertThat(orders).as("both hold 20 at once, so the shares are even").isEmpty();
        assertThat(status().explanation())
                .startsWith("the fullest rank is 1 (GPU 0 of host-a), at 87 % of what it can");
    }

    @Test
    void toSuggestSendsNothingAndSaysItOnce() {
        desk = desk(Mode.SUGGEST);
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);

        look(job, 10);

        assertThat(orders).isEmpty();
        assertThat(kinds()).containsExactly(EventKind.BATCH_SHARES_SUGGESTED);
        assertThat(changes.get(0).text()).startsWith("job: nothing is sent, the mode is suggest; batch 80 as 56, 24");
        assertThat(status().proposal().orElseThrow().samples()).containsExactly(56, 24);
    }

    @Test
    void offLooksAtNothing() {
        desk = desk(Mode.OFF);
        look(TrainedJob.of(80, LARGE, SMALL), 5);

        assertThat(desk.status()).isEmpty();
        assertThat(changes).isEmpty();
    }

    @Test
    void aLookIsTakenWhenItIsDueAndNotBefore() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        for (int i = 0; i < 100; i++) {
            orders.addAll(desk.look(job.view(), name -> job.standing(), T0.plusMillis(99L * i))
                    .orders());
        }
        assertThat(orders).as("in 10 seconds there are two").isEmpty();
    }

    @Test
    void theMostOrdersThatAJobGetsHoldForAllCoordinators() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        look(job, 3);
        JobDirective last = orders.get(0);
        job.newest = Optional.of(new JobDirective(
                JOB,
                20,
                0,
                OomLevel.LIMIT,
                last.sizes(),
                false,
                last.cause(),
                Optional.of(new BatchShares(20, 8, 1, List.of(24, 56)))));
        job.samples = List.of(24, 56);
        desk = desk(Mode.ON);

        look(job, 10);

        assertThat(orders).hasSize(1);
        assertThat(status().explanation()).startsWith("ordered shares 8 times, which is the most: batch 80 as 56, 24");
    }

    // Goal: while loaders use up what they drew ahead, nothing is ordered again; shares of an earlier job do not count.
    @Test
    void sharesThatAreNotInForceYetAreWaitedForUnlessTheyAreAnotherJobs() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        look(job, 3);
        job.samples = List.of(40, 40);

        look(job, 20);

        assertThat(orders).hasSize(1);
        assertThat(status().explanation()).isEqualTo("the shares that were ordered (56, 24) are not in force yet");

        TrainedJob anew = TrainedJob.of(82, LARGE, SMALL);
        anew.newest = job.newest;
        look(anew, 10);
        assertThat(orders).hasSize(2);
    }

    // Goal: a rank that does not cut its share, whatever it is told, is told once.
    @Test
    void sharesThatWereOrderedAndBroughtNothingAreNotOrderedAgain() {
        TrainedJob job = TrainedJob.of(161, LARGE, SMALL);
        for (int i = 0; i < 20; i++) {
            Findings found = desk.look(job.view(), name -> job.standing(), now);
            found.orders().forEach(order -> {
                job.follow(order);
                job.rounds = 1;
            });
            orders.addAll(found.orders());
            now = now.plusSeconds(5);
        }

        assertThat(orders).hasSize(1);
        assertThat(status().explanation())
                .startsWith("ordered already, and it did not bring that: batch 161 as 113, 48");
    }

    @Test
    void whileSomethingIsOpenOrUnknownThereIsNoOrderAndAReason() {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        desk.look(job.view(), name -> new Standing(false, Optional.empty()), now);
        assertThat(status().explanation()).isEqualTo("its ranks have not all done what they were last directed to do");

        assertThat(reason(unready -> unready.steps = 2)).startsWith("fewer than 3 steps of each rank were watched");
        assertThat(reason(unready -> unready.told = 1)).isEqualTo("1 of 2 ranks is known");
        assertThat(reason(unready -> unready.samples = List.of(40, 39)))
                .isEqualTo("its ranks do not agree on the batch of a step");
        assertThat(ShareRule.advise(
                                JobLoad.of(TrainedJob.of(80, LARGE, new Member(8_500, 8_000, 0, 1_000))
                                                .view())
                                        .get(0),
                                job.standing())
                        .reason())
                .isEqualTo("rank 1 cannot hold one sample: it keeps 7.8 GiB and 1000.0 MiB for a sample, of 8.3 GiB");
        assertThat(ShareRule.advise(
                                JobLoad.of(TrainedJob.of(80, LARGE, new Member(9_000, 8_000, 0, 0))
                                                .view())
                                        .get(0),
                                job.standing())
                        .reason())
                .isEqualTo("rank 1 holds no more in a step than before it");
    }

    private static String reason(java.util.function.Consumer<TrainedJob> change) {
        TrainedJob job = TrainedJob.of(80, LARGE, SMALL);
        change.accept(job);
        return ShareRule.advise(JobLoad.of(job.view()).get(0), job.standing()).reason();
    }

    @Test
    void skewIsTheLargestPeakByTheMedianAndUnknownUntilAllHaveTold() {
        TrainedJob job = TrainedJob.of(30, SMALL, SMALL, new Member(40_000, 16_000, 0, 2_000));
        look(job, 2);
        assertThat(status().isUneven()).isFalse();
        look(job, 1);

        // 8,000 + 10 x 1,000 twice, and 16,000 + 10 x 2,000.
        assertThat(status().skew())
                .containsExactly(
                        new PhaseSkew(Phase.FORWARD, 200, 2, mib(35_999), mib(17_999)),
                        new PhaseSkew(Phase.BACKWARD, 200, 2, mib(36_000), mib(18_000)));
        assertThat(status().isUneven()).isTrue();
        assertThat(changes.get(0).text())
                .isEqualTo("job is uneven: in FORWARD rank 2 held up to 35.2 GiB, 200 % of the median of its ranks"
                        + " (17.6 GiB)");

        job.told = 2;
        look(job, 1);
        assertThat(status().skew()).isEmpty();
        assertThat(status().isUneven()).as("not known is not even").isTrue();
    }

    // Goal: that ranks of a job that ends leave one after the other makes nothing uneven.
    @Test
    void aRankThatNoLedgerKnowsAnyMoreCountsNoMore() {
        TrainedJob job = TrainedJob.of(30, SMALL, SMALL, new Member(40_000, 16_000, 0, 2_000));
        job.granted = 2;

        look(job, 5);

        assertThat(status().skew()).isEmpty();
        assertThat(status().explanation()).isEqualTo("2 of 3 ranks are known");
        assertThat(changes).isEmpty();
        assertThat(LoadedDevice.of(job.view())).hasSize(2);
    }

    @Property(tries = 300)
    void aBalancedJobIsNeverOrderedAnything(
            @ForAll @IntRange(min = 2, max = 16) int world,
            @ForAll @IntRange(min = 1, max = 40) int each,
            @ForAll @IntRange(min = 0, max = 15) int odd,
            @ForAll long seed) {
        Random random = new Random(seed);
        long perSample = 50L + random.nextInt(2_000);
        long base = random.nextInt(20_000);
        int batch = world * each + Math.min(odd, world - 1);
        // Equal devices and equal ranks, up to one in fifty of what a step adds; each fits with all of it.
        long most = base + perSample * (each + 1L) + perSample * each / 50 + 1;
        long limit = most * (101L + random.nextInt(200)) / 100;
        TrainedJob job = new TrainedJob(
                batch,
                IntStream.range(0, world)
                        .mapToObj(rank ->
                                new Member(limit, base, random.nextInt((int) (perSample * each / 50) + 1), perSample))
                        .toList());
        orders.clear();
        look(job, 20);

        assertThat(orders).as("%s", job).isEmpty();
    }

    // Goal: from any start and on any devices, few orders, then none; what is ordered is sound and fits.
    @Property(tries = 500)
    void afterFewOrdersThereIsQuietAndEveryOrderIsSound(
            @ForAll @IntRange(min = 2, max = 12) int world,
            @ForAll @IntRange(min = 1, max = 40) int each,
            @ForAll long seed) {
        Random random = new Random(seed);
        long perSample = 50L + random.nextInt(500);
        List<Member> members = IntStream.range(0, world)
                .mapToObj(rank -> {
                    long base = random.nextInt(8_000);
                    long beside = random.nextInt((int) perSample);
                    long room = (perSample + beside) * (1L + random.nextInt(3 * each));
                    return new Member(base + room + 1, base, beside, perSample);
                })
                .toList();
        TrainedJob job = new TrainedJob(world * each, members);
        job.samples = anyShares(world, world * each, random);
        orders.clear();
        boolean didFit = job.fits();
        for (int i = 0; i < 30; i++) {
            int before = job.fullest();
            int known = orders.size();
            look(job, 1);
            if (orders.size() > known) {
                BatchShares shares = job.newest.orElseThrow().shares().orElseThrow();
                assertThat(shares.samples()).hasSize(world).allMatch(count -> count >= 1);
                assertThat(shares.samples().stream().mapToInt(Integer::intValue).sum())
                        .isEqualTo(world * each);
                assertThat(job.fullest()).as("the fullest rank of %s", job).isLessThan(before);
            }
        }
        assertThat(orders.size()).as("orders of %s", job).isLessThanOrEqualTo(4);
        int quiet = orders.size();
        look(job, 10);
        assertThat(orders).as("quiet: %s", job).hasSize(quiet);
        assertThat(job.fits() || !didFit).as("what fitted fits: %s", job).isTrue();
    }

    private static List<Integer> anyShares(int world, int batch, Random random) {
        int[] parts = IntStream.generate(() -> 1).limit(world).toArray();
        for (int i = world; i < batch; i++) {
            parts[random.nextInt(world) * random.nextInt(2)]++;
        }
        return IntStream.of(parts).boxed().toList();
    }

    @Property(tries = 500)
    void proportionalPartsAreWholeAndNeverMoreThanTheirRounds(
            @ForAll @IntRange(min = 1, max = 50) int world,
            @ForAll @IntRange(min = 0, max = 100_000) int more,
            @ForAll long seed) {
        Random random = new Random(seed);
        List<Long> holds = IntStream.range(0, world)
                .mapToObj(rank -> 1L + random.nextInt(1 << random.nextInt(20)))
                .toList();
        long sum = holds.stream().mapToLong(Long::longValue).sum();
        int size = world + more;
        int rounds = (int) ((size - 1) / sum + 1);

        List<Integer> parts = ShareRule.proportional(holds, sum, size);

        assertThat(parts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(size);
        for (int i = 0; i < world; i++) {
            assertThat(parts.get(i)).isPositive();
            assertThat((long) ShareRule.partOf(parts.get(i), rounds)).isLessThanOrEqualTo(holds.get(i));
        }
    }
}
