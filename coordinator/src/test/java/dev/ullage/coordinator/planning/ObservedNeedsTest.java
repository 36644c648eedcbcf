package dev.ullage.coordinator.planning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.RankSample.Activity;
import dev.ullage.config.BurstNeed;
import dev.ullage.coordinator.planning.ObservedNeeds.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What a rank needs by its last steps: slack, hysteresis, and when it is not known. */
class ObservedNeedsTest {
    private static final RankInstance RANK = new RankInstance(new RankId(new JobId("a"), 0), 100, 1);
    private static final MemoryBytes MINIMUM = mib(64);

    private final ObservedNeeds needs = new ObservedNeeds(Share.ofPercent(10), MINIMUM);

    /** The steps of a rank: MiB in each phase, what differs from the usual. */
    private static final class Sample {
        private final List<PhasePeak> peaks = new ArrayList<>();
        private RankInstance instance = RANK;
        private long steps = 100;
        private long refusals;
        private Optional<MemoryBytes> lingering = Optional.empty();

        Sample phase(Phase phase, long allocated, long reserved) {
            peaks.add(new PhasePeak(phase, Optional.of(mib(reserved)), Optional.of(mib(allocated))));
            return this;
        }

        Sample unknown(Phase phase) {
            peaks.add(new PhasePeak(phase, Optional.of(mib(1)), Optional.empty()));
            return this;
        }

        RankSample get() {
            OptionalLong no = OptionalLong.empty();
            RankWatch watch = new RankWatch(
                    new RankWatch.Progress(OptionalLong.of(steps), no, steps),
                    peaks,
                    new RankWatch.Allocator(no, no, Optional.empty(), Optional.empty(), no, OptionalLong.of(refusals)),
                    RankWatch.Leak.UNKNOWN,
                    List.of(),
                    Optional.empty(),
                    RankWatch.Work.of(Optional.empty(), lingering));
            return sample(instance, Optional.of(watch));
        }
    }

    private static RankSample sample(RankInstance instance, Optional<RankWatch> watch) {
        return new RankSample(
                instance,
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new Activity(Phase.IDLE, OptionalLong.of(1)),
                RankUse.UNKNOWN,
                EnforcedBy.TORCH,
                true,
                0,
                Optional.empty(),
                watch,
                Optional.empty());
    }

    /** Outside of the burst and in it, with a cache that is never given back. */
    private static Sample steps(long outside, long inside) {
        return new Sample()
                .phase(Phase.INIT, 5 * inside, 5 * inside)
                .phase(Phase.FORWARD, inside - 10, inside)
                .phase(Phase.BACKWARD, inside, inside)
                .phase(Phase.OPTIMIZER, outside, inside)
                .phase(Phase.IDLE, outside - 10, inside)
                .phase(Phase.EVALUATION, outside - 20, inside)
                .phase(Phase.CHECKPOINT, outside - 20, inside);
    }

    private static MemoryBytes mib(long mebibytes) {
        return MemoryBytes.ofMebibytes(mebibytes);
    }

    private Seen after(Sample sample) {
        needs.observe(List.of(sample.get()));
        return needs.of(RANK);
    }

    private static BurstNeed need(long persistent, long peak) {
        return new BurstNeed(mib(persistent), mib(peak), BurstNeed.DEFAULT_PHASES);
    }

    @Test
    void theNeedIsWhatWasAllocatedOutsideOfTheBurstAndInItWithSlack() {
        Seen seen = after(steps(1_000, 4_000));

        assertThat(seen.need()).contains(need(1_100, 4_400));
        assertThat(seen.explanation())
                .isEqualTo("at most 1000.0 MiB outside of its burst and 3.9 GiB in it, slack 10%");
    }

    // A fragmented cache: as much was reserved for it, and nobody has shown that less would do.
    @Test
    void thePeakIsNeverLessThanWhatWasReservedInTheBurst() {
        Sample fragmented = new Sample()
                .phase(Phase.BACKWARD, 4_000, 5_000)
                .phase(Phase.IDLE, 1_000, 5_000)
                .phase(Phase.EVALUATION, 1, 1)
                .phase(Phase.CHECKPOINT, 1, 1);

        assertThat(after(fragmented).need()).contains(need(1_100, 5_000));
    }

    @Test
    void aPersistentPartIsNoLessThanTheSmallestLimit() {
        assertThat(after(steps(30, 4_000)).need()).contains(need(64, 4_400));
    }

    @Test
    void itIsNotKnownBeforeEnoughStepsOrWithoutWhatEachPhaseAllocates() {
        assertThat(needs.of(RANK)).isEqualTo(new Seen(Optional.empty(), "no sample tells of it"));
        needs.observe(List.of(sample(RANK, Optional.empty())));
        assertThat(needs.of(RANK).explanation()).contains("does not watch its allocator");

        Sample young = steps(1_000, 4_000);
        young.steps = 9;
        assertThat(after(young)).isEqualTo(new Seen(Optional.empty(), "9 of its steps were seen, it takes 10"));
        assertThat(after(new Sample().phase(Phase.BACKWARD, 1, 1)).explanation())
                .isEqualTo("none of the phases [OPTIMIZER, IDLE] was seen");
        assertThat(after(new Sample().phase(Phase.FORWARD, 1, 1).unknown(Phase.IDLE))
                        .explanation())
                .isEqualTo("what it allocates in IDLE is not (ullage.torch.attach with reset_peaks says it)");
        assertThat(after(steps(4_000, 4_050))).satisfies(seen -> {
            assertThat(seen.need())
                    .hasValueSatisfying(need -> assertThat(need.burst()).isEqualTo(mib(55)));
        });
        assertThat(after(steps(4_000, 3_000)).explanation()).startsWith("it has no burst: at most 3.9 GiB outside");
    }

    @Test
    void aNeedThatIsNotKnownStaysSoWhileRequestsAreTurnedAway() {
        Sample refused = steps(1_000, 4_000);
        refused.refusals = 3;

        assertThat(after(refused).need()).isEmpty();
        assertThat(needs.of(RANK).explanation()).contains("refused 3 times in its last 100 steps");
        assertThat(after(steps(1_000, 4_000)).need()).contains(need(1_100, 4_400));
    }

    @Test
    void aRefusalRaisesAKnownNeedOnceAndKeepsItFromFalling() {
        after(steps(1_000, 4_000));
        Sample refused = steps(1_000, 4_000);
        refused.refusals = 1;

        assertThat(after(refused).need()).contains(need(1_210, 4_840));
        assertThat(after(refused).need()).contains(need(1_210, 4_840));
        assertThat(after(steps(1_000, 4_000)).need())
                .as("no refusal among the last steps any more")
                .contains(need(1_100, 4_400));
    }

    @Test
    void noiseWithinHalfOfTheSlackChangesNothing() {
        after(steps(1_000, 4_000));

        assertThat(after(steps(1_040, 3_700)).need()).contains(need(1_100, 4_400));
        assertThat(after(steps(1_060, 4_000)).need()).as("more").contains(need(1_166, 4_400));
        assertThat(after(steps(1_060, 3_600)).need()).as("much less").contains(need(1_166, 3_960));
    }

    @Test
    void whatIsKnownStaysKnownWhileTheWorkerOrTheTrainingBeginsAnew() {
        after(steps(1_000, 4_000));
        Sample anew = steps(30, 60);
        anew.steps = 3;

        assertThat(after(anew).need()).contains(need(1_100, 4_400));
        needs.observe(List.of(sample(RANK, Optional.empty())));
        assertThat(needs.of(RANK).need()).contains(need(1_100, 4_400));
    }

    @Test
    void aTurnThatCannotBeEndedRaisesThePersistentPart() {
        after(steps(1_000, 4_000));
        Sample lingers = steps(1_000, 4_000);
        lingers.lingering = Optional.of(mib(1_500));

        assertThat(after(lingers).need()).contains(need(1_650, 4_400));
    }

    // The first evaluation must not run into the persistent limit; one that was seen to need little needs no turn.
    @Test
    void aRarePhaseIsABurstUntilItWasSeenToNeedLittle() {
        Sample training = new Sample()
                .phase(Phase.FORWARD, 3_000, 3_000)
                .phase(Phase.BACKWARD, 4_000, 4_000)
                .phase(Phase.OPTIMIZER, 1_000, 4_000)
                .phase(Phase.CHECKPOINT, 900, 4_000);
        assertThat(after(training).need().orElseThrow().phases())
                .containsExactly(Phase.FORWARD, Phase.BACKWARD, Phase.EVALUATION);

        training.phase(Phase.EVALUATION, 900, 4_000);
        assertThat(after(training).need()).contains(need(1_100, 4_400));
    }

    @Test
    void aRarePhaseThatOnceNeededMuchStaysABurst() {
        Sample large = new Sample()
                .phase(Phase.BACKWARD, 4_000, 4_000)
                .phase(Phase.OPTIMIZER, 1_000, 4_000)
                .phase(Phase.CHECKPOINT, 900, 4_000)
                .phase(Phase.EVALUATION, 4_500, 4_500);
        BurstNeed hot = new BurstNeed(mib(1_100), mib(4_950), List.of(Phase.FORWARD, Phase.BACKWARD, Phase.EVALUATION));

        assertThat(after(large).need()).contains(hot);
        assertThat(after(steps(1_000, 4_500)).need()).contains(hot);
    }

    @Test
    void aProcessThatWasStartedAgainIsFollowedFromTheStart() {
        after(steps(1_000, 4_000));
        RankInstance next = new RankInstance(RANK.rank(), 200, 2);
        Sample young = steps(1_000, 4_000);
        young.instance = next;
        young.steps = 1;
        needs.observe(List.of(young.get()));

        assertThat(needs.of(next).need()).isEmpty();
        assertThat(needs.of(RANK).explanation()).isEqualTo("no sample tells of it");
        needs.forgetting(instance -> true);
        assertThat(needs.isEmpty()).isTrue();
    }

    // Goal: a need covers what was seen, and settles. Method: any series of steps without a refusal.
    @Property(tries = 300)
    void theNeedCoversEachSampleAndTheSameSampleTwiceChangesNothing(
            @ForAll @Size(min = 1, max = 30) List<@IntRange(min = 100, max = 2_000) Integer> outside,
            @ForAll @IntRange(min = 3_000, max = 9_000) int inside) {
        ObservedNeeds followed = new ObservedNeeds(Share.ofPercent(10), MINIMUM);
        for (int i = 0; i < outside.size(); i++) {
            RankSample sample = steps(outside.get(i), inside - 31L * i).get();
            followed.observe(List.of(sample));
            BurstNeed need = followed.of(RANK).need().orElseThrow();
            assertThat(need.persistent()).isGreaterThanOrEqualTo(mib(outside.get(i)));
            assertThat(need.peak()).isGreaterThanOrEqualTo(mib(inside - 31L * i));
            assertThat(need.persistent().value())
                    .as("never more than the slack twice")
                    .isLessThanOrEqualTo(mib(outside.get(i) * 122L / 100 + 2).value());
            followed.observe(List.of(sample));
            assertThat(followed.of(RANK).need()).contains(need);
        }
    }
}
