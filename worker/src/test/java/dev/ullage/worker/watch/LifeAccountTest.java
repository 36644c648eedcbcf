package dev.ullage.worker.watch;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Latency;
import dev.ullage.common.model.RankAccount.LossPoint;
import dev.ullage.common.model.RankAccount.PhaseMemory;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.common.model.RankAccount.Waits;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.Share;
import dev.ullage.worker.watch.TrainingReport.Counts;
import dev.ullage.worker.watch.TrainingReport.Loss;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What a process comes to, as its worker adds it up. */
class LifeAccountTest {
    private static final Instant T0 = Instant.EPOCH;
    private static final OptionalLong UNKNOWN = OptionalLong.empty();
    private static final RankAccount.Whose WHOSE =
            new RankAccount.Whose(rank(0), new DeviceId("GPU-a"), OptionalInt.of(4));

    private final LifeAccount life = new LifeAccount(T0);

    private static RankUse holds(MemoryBytes held) {
        return new RankUse(Optional.empty(), Optional.of(held), Optional.empty(), Optional.empty(), 0);
    }

    private RankAccount at(int seconds) {
        return life.account(WHOSE, T0.plusSeconds(seconds));
    }

    private static StepSummary step(long number, Phase phase, MemoryBytes peak) {
        return new StepSummary(
                number,
                1,
                UNKNOWN,
                List.of(new PhasePeak(phase, Optional.of(peak), Optional.empty())),
                new StepSummary.Amounts(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                StepSummary.Counts.ZERO);
    }

    private static Allocator fragmented(int percent) {
        return new Allocator(
                UNKNOWN, UNKNOWN, Optional.of(Share.ofPercent(percent)), Optional.empty(), UNKNOWN, UNKNOWN);
    }

    private static TrainingReport report(long step, long elapsedMillis, OptionalLong loss) {
        return new TrainingReport(
                step,
                elapsedMillis,
                new Counts(step, UNKNOWN, UNKNOWN),
                List.of(new PhaseTime(Phase.FORWARD, elapsedMillis)),
                new Waits(OptionalLong.of(0), OptionalLong.of(0)),
                new Latency(UNKNOWN, UNKNOWN),
                new Loss(loss, 0));
    }

    @Test
    void ofAProcessThatSaidNothingNothingIsKnown() {
        RankAccount account = at(7);

        assertThat(account.beganAgoMillis()).isEqualTo(7_000);
        assertThat(account.training()).isEmpty();
        assertThat(account.memory().peak()).isEmpty();
        assertThat(account.memory().room()).isEmpty();
        assertThat(account.memory().phases()).isEmpty();
        assertThat(account.memory().allocator()).isEmpty();
    }

    @Test
    void roomIsWhatWasPromisedOverTimeAndWhatOfItWasHeld() {
        life.look(Optional.of(limits(gib(10))), holds(gib(4)), T0);
        life.look(Optional.of(limits(gib(8))), holds(gib(6)), T0.plusSeconds(5));
        life.look(Optional.of(limits(gib(8))), holds(gib(6)), T0.plusSeconds(10));

        assertThat(at(10).memory().room())
                .contains(new RoomOverTime(
                        10_000, 1024 * (10 * 5 + 8 * 5), 1024 * (4 * 5 + 6 * 5), 1024 * (6 * 5 + 2 * 5)));
        assertThat(at(10).memory().peak()).contains(gib(6));
    }

    @Test
    void timeInWhichLimitOrUseWereNotKnownDoesNotCount() {
        life.look(Optional.empty(), holds(gib(4)), T0);
        life.look(Optional.of(limits(gib(8))), RankUse.UNKNOWN, T0.plusSeconds(5));
        life.look(Optional.of(limits(gib(8))), holds(gib(1)), T0.plusSeconds(10));
        assertThat(at(10).memory().room()).isEmpty();

        life.look(Optional.of(limits(gib(8))), holds(gib(1)), T0.plusSeconds(11));
        // The machine was suspended: nobody looked.
        life.look(Optional.of(limits(gib(8))), holds(gib(1)), T0.plusSeconds(4_000));
        assertThat(at(4_000).memory().room()).map(RoomOverTime::knownMillis).contains(1_000L);
    }

    @Test
    void whatIsHeldAboveTheLimitIsNoRoom() {
        life.look(Optional.of(limits(gib(2))), holds(gib(3)), T0);
        life.look(Optional.of(limits(gib(2))), holds(gib(3)), T0.plusSeconds(1));

        assertThat(at(1).memory().room()).contains(new RoomOverTime(1_000, 2_048, 2_048, 0));
    }

    @Test
    void aPeakOfAPhaseStaysForTheWholeLife() {
        life.add(step(1, Phase.BACKWARD, gib(9)), fragmented(4));
        for (int step = 2; step < 500; step++) {
            life.add(step(step, Phase.BACKWARD, gib(3)), fragmented(step == 7 ? 40 : 2));
        }
        life.look(Optional.of(limits(gib(12))), RankUse.UNKNOWN, T0);

        assertThat(at(1).memory().phases())
                .hasSize(Phase.values().length)
                .contains(
                        new PhaseMemory(Phase.BACKWARD, Optional.of(gib(9)), Optional.of(gib(12))),
                        new PhaseMemory(Phase.FORWARD, Optional.empty(), Optional.of(gib(12))));
        assertThat(at(1).memory().highestFragmentation()).contains(Share.ofPercent(40));
        assertThat(at(1).memory().allocator().flatMap(Allocator::fragmentation)).contains(Share.ofPercent(2));
    }

    @Test
    void theNewestReportCountsAndLossesBecomeACurve() {
        life.add(report(10, 1_000, OptionalLong.of(5)));
        life.add(report(20, 2_000, UNKNOWN));
        life.add(report(30, 3_000, OptionalLong.of(3)));

        RankAccount.Training training = at(4).training().orElseThrow();
        assertThat(training.steps()).isEqualTo(30);
        assertThat(training.elapsedMillis()).isEqualTo(3_000);
        assertThat(training.losses().points()).containsExactly(new LossPoint(10, 5), new LossPoint(30, 3));
    }

    @Test
    void aClientThatCountsFromTheStartAgainIsAnother() {
        life.add(report(10, 9_000, OptionalLong.of(5)));
        life.add(report(2, 500, OptionalLong.of(7)));

        RankAccount.Training training = at(4).training().orElseThrow();
        assertThat(training.steps()).isEqualTo(2);
        assertThat(training.losses().points()).containsExactly(new LossPoint(2, 7));
    }

    // Goal: a curve is small however long the training is, and keeps its ends and its mean. Method: any number of
    // points, the sum of (step-weighted) means against that of what went in.
    @Property
    void aCurveIsBoundedAndKeepsOrderAndRange(
            @ForAll @Size(min = 1, max = 700) List<@LongRange(min = -1_000_000, max = 1_000_000) Long> losses) {
        LossCurve curve = new LossCurve();
        for (int i = 0; i < losses.size(); i++) {
            curve.add(i + 1, losses.get(i));
        }
        List<LossPoint> points = curve.points();

        assertThat(points).hasSizeLessThanOrEqualTo(LossCurve.MOST).isNotEmpty();
        assertThat(points.get(points.size() - 1).step()).isEqualTo(losses.size());
        assertThat(points).isSortedAccordingTo(java.util.Comparator.comparingLong(LossPoint::step));
        long lowest = losses.stream().mapToLong(Long::longValue).min().orElseThrow();
        long highest = losses.stream().mapToLong(Long::longValue).max().orElseThrow();
        assertThat(points).allSatisfy(point -> assertThat(point.billionths()).isBetween(lowest, highest));
        if (losses.size() <= LossCurve.MOST) {
            assertThat(points).extracting(LossPoint::billionths).containsExactlyElementsOf(losses);
        }
    }

    @Property
    void roomAddsUp(
            @ForAll @Size(max = 40) List<@IntRange(max = 100) Integer> held, @ForAll @IntRange(max = 80) int limit) {
        LifeAccount any = new LifeAccount(T0);
        for (int i = 0; i < held.size(); i++) {
            any.look(Optional.of(limits(gib(limit))), holds(gib(held.get(i))), T0.plusMillis(250L * i));
        }
        any.account(WHOSE, T0).memory().room().ifPresent(room -> {
            assertThat(room.used() + room.idle()).isEqualTo(room.promised());
            assertThat(room.idle()).isNotNegative();
            assertThat(room.knownMillis()).isEqualTo(250L * (held.size() - 1));
        });
    }
}
