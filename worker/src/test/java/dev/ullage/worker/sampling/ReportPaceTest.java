package dev.ullage.worker.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.worker.sampling.ReportPace.Report;
import java.time.Duration;
import java.time.Instant;
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

class ReportPaceTest {
    private static final Instant START = Instant.EPOCH;
    private static final long TOTAL = 1000;

    private final ReportPace pace = new ReportPace();

    private static DeviceSampled reading(long used, String... problems) {
        MemoryUse memory = new MemoryUse(
                MemoryBytes.of(TOTAL),
                Optional.of(MemoryBytes.ZERO),
                MemoryBytes.of(used),
                MemoryBytes.of(TOTAL - used));
        return new DeviceSampled(
                new NodeId("n"),
                new DeviceId("GPU-1"),
                0,
                Optional.of(memory),
                Optional.of(MemoryBytes.of(used)),
                List.of(),
                List.of(problems));
    }

    private Optional<DeviceSampled> offer(DeviceSampled sample, SampleState state, long millis) {
        return report(sample, new SampleQuality(state, 0), millis).map(Report::sample);
    }

    private Optional<Report> report(DeviceSampled sample, SampleQuality quality, long millis) {
        return pace.offer(sample, quality, START.plusMillis(millis));
    }

    private Optional<DeviceSampled> offer(DeviceSampled sample, long millis) {
        return offer(sample, SampleState.FRESH, millis);
    }

    private static long used(Optional<DeviceSampled> report) {
        return report.flatMap(DeviceSampled::memory).orElseThrow().used().value();
    }

    @Test
    void theMostOfWhatWasReadSinceIsToldWithItsAgeWhenItIsDue() {
        assertThat(used(offer(reading(10), 0))).isEqualTo(10);
        assertThat(offer(reading(90), 100)).isEmpty();
        assertThat(offer(reading(20), 200)).isEmpty();
        Optional<DeviceSampled> report = offer(reading(30), 300);

        assertThat(used(report)).isEqualTo(90);
        assertThat(report.orElseThrow().ageMillis()).isEqualTo(200);
        assertThat(report.orElseThrow().foreign()).contains(MemoryBytes.of(90));
        assertThat(used(offer(reading(5), 600))).isEqualTo(5);
    }

    @Test
    void readingsAtTheCoordinatorsPaceAreAllTold() {
        for (int at = 0; at < 5_000; at += 250) {
            assertThat(used(offer(reading(at % 7), at + at % 3))).isEqualTo(at % 7);
        }
    }

    @Test
    void whatIsNewInKindIsToldAtOnceAndWithTheReadingOfThen() {
        offer(reading(10), 0);
        offer(reading(90), 50);
        assertThat(used(offer(reading(10, "it fails"), 100))).isEqualTo(10);
        assertThat(offer(reading(10, "it fails"), 150)).isEmpty();
        assertThat(offer(reading(10, "it fails"), SampleState.STALE, 160)).isPresent();
        assertThat(offer(reading(10), SampleState.FRESH, 170)).isPresent();
    }

    @Test
    void theSameProblemWithOtherFiguresIsNothingNew() {
        assertThat(offer(reading(10, "used 10 + free 3 is not total 20 bytes"), 0))
                .isPresent();
        assertThat(offer(reading(11, "used 11 + free 3 is not total 20 bytes"), 100))
                .isEmpty();
        assertThat(offer(reading(12, "used 12 + free 3 is not total 20 bytes"), 300)
                        .orElseThrow()
                        .problems())
                .containsExactly("used 12 + free 3 is not total 20 bytes");
    }

    @Test
    void theQualityIsToldWhenItChangesAndElseNowAndThen() {
        SampleQuality good = new SampleQuality(SampleState.FRESH, 0);
        SampleQuality worse = new SampleQuality(SampleState.FRESH, 1);
        List<Boolean> due = new ArrayList<>();
        for (int at = 0; at <= 1_250; at += 250) {
            due.add(report(reading(at % 7), good, at).orElseThrow().isQualityDue());
        }
        assertThat(due).containsExactly(true, false, false, true, false, false);
        assertThat(report(reading(1), worse, 1_500).orElseThrow().isQualityDue())
                .isTrue();
        assertThat(report(reading(2), worse, 1_750).orElseThrow().isQualityDue())
                .isFalse();
    }

    @Test
    void whatIsNothingNewIsToldNowAndThen() {
        List<Integer> told = new ArrayList<>();
        for (int at = 0; at <= 3_000; at += 100) {
            if (offer(reading(7), at).isPresent()) {
                told.add(at);
            }
            assertThat(pace.isHolding()).isFalse();
        }
        assertThat(told).containsExactly(0, 600, 1_200, 1_800, 2_400, 3_000);
    }

    @Test
    void atTheUsualPaceEachReadingIsToldAlsoAfterOneThatWasLate() {
        for (int second = 0; second < 5; second++) {
            int late = second % 2 * 390;
            assertThat(offer(reading(7), second * 1_000 + late)).isPresent();
        }
    }

    @Test
    void whatCameAndWentDoesNotHoldUpWhatIsNew() {
        offer(reading(90), 0);
        assertThat(offer(reading(20), 100)).isEmpty();
        assertThat(offer(reading(90), 200)).isEmpty();
        assertThat(pace.isHolding()).isFalse();

        assertThat(used(offer(reading(20), 300))).isEqualTo(20);
    }

    @Test
    void aRankThatWasHeardLongerAgoIsNothingNew() {
        offer(withRank(10, 0), 0);
        assertThat(offer(withRank(10, 200), 300)).isEmpty();
        assertThat(pace.isHolding()).isFalse();
        assertThat(offer(withRank(11, 0), 400)).isPresent();
    }

    private static DeviceSampled withRank(long step, long ageMillis) {
        RankSample rank = new RankSample(
                new RankInstance(new RankId(new JobId("bert"), 3), 4242, 7),
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.of(step)),
                RankUse.UNKNOWN,
                EnforcedBy.ADVISORY,
                true,
                ageMillis);
        DeviceSampled without = reading(10);
        return new DeviceSampled(
                without.node(), without.device(), 0, without.memory(), without.foreign(), List.of(rank), List.of());
    }

    @Test
    void whatIsNewIsHeldUntilItIsDueAndWhoAsksIsToldSo() {
        offer(reading(90), 0);
        assertThat(offer(reading(90), 100)).isEmpty();
        assertThat(pace.isHolding()).isFalse();

        assertThat(offer(reading(20), 200)).isEmpty();
        assertThat(pace.isHolding()).isTrue();

        assertThat(used(offer(reading(20), 300))).isEqualTo(20);
        assertThat(pace.isHolding()).isFalse();
        assertThat(offer(reading(20), 600)).isEmpty();
    }

    /**
     * Whatever is read and whenever, what is told has every maximum of what was new between two tellings, and is told
     * often enough.
     */
    @Property
    void noPeakIsLost(
            @ForAll @Size(min = 1, max = 60) List<@IntRange(min = 0, max = 1000) Integer> amounts,
            @ForAll @IntRange(min = 10, max = 400) int interval) {
        ReportPace fresh = new ReportPace();
        int most = -1;
        int told = -1;
        long toldAt = 0;
        for (int i = 0; i < amounts.size(); i++) {
            int amount = amounts.get(i);
            most = Math.max(most, amount);
            long now = (long) i * interval;
            Optional<DeviceSampled> report = fresh.offer(
                            reading(amount), new SampleQuality(SampleState.FRESH, 0), START.plusMillis(now))
                    .map(Report::sample);
            if (report.isPresent()) {
                assertThat(used(report)).isEqualTo(most);
                told = most;
                toldAt = now;
            }
            boolean isNew = amount != told || most != told;
            assertThat(fresh.isHolding()).isEqualTo(isNew && report.isEmpty());
            assertThat(Duration.ofMillis(now - toldAt)).isLessThan(isNew ? ReportPace.SHORTEST : ReportPace.REPEAT);
            if (!fresh.isHolding()) {
                // What was read until here is what was told, or is told anew.
                most = -1;
            }
        }
    }
}
