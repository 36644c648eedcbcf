package dev.ullage.coordinator.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.BestFitPolicy;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoadRunTest {
    private static final long SECONDS = 600;

    private static NodeRoom node(int number) {
        List<DeviceRoom> devices = IntStream.range(0, 4)
                .mapToObj(i -> DeviceRoom.wholeDevice("n%d/%d".formatted(number, i)))
                .toList();
        return new NodeRoom("n" + number, "T4", 640_000, MemoryBytes.ofGibibytes(640), devices);
    }

    private static TraceJob job(long share, Priority priority, OptionalLong ranFor) {
        return new TraceJob("j" + share, PlacementRequest.ofDevices(1, share), priority, ranFor);
    }

    private static Workload workload() {
        List<TraceJob> jobs = new ArrayList<>();
        for (long share = 200; share <= 500; share += 100) {
            jobs.add(job(share, share < 400 ? Priority.HIGH : Priority.LOW, OptionalLong.of(SECONDS)));
        }
        jobs.add(job(999, Priority.LOW, OptionalLong.empty()));
        return new Workload(
                "small", IntStream.range(0, 5).mapToObj(LoadRunTest::node).toList(), jobs);
    }

    private static LoadOutcome run(SharingMode mode, double load, long seed) {
        Duration hours = Duration.ofHours(6);
        return LoadRun.run(
                workload(),
                mode,
                new BestFitPolicy(),
                new LoadSettings(load, Duration.ofHours(1), Duration.ofHours(1), hours, 282),
                seed);
    }

    @ParameterizedTest
    @EnumSource
    void whenLittleComesNobodyWaitsAndWhatComesIsUsed(SharingMode mode) {
        LoadOutcome outcome = run(mode, 0.1, 1);

        assertThat(outcome.meanWait()).isZero();
        assertThat(outcome.highAtOncePercent()).isEqualTo(100);
        assertThat(outcome.used()).isCloseTo(10, within(2.0));
        assertThat(outcome.stillWaiting()).isZero();
    }

    // Those of high priority alone want more devices than there are, when each gets a whole one for 250 of 1000.
    @Test
    void wholeDevicesAreUsedUpWhereSharesAreNot() {
        LoadOutcome whole = run(SharingMode.STATIC, 0.8, 1);
        LoadOutcome shares = run(SharingMode.SHARES, 0.8, 1);

        assertThat(whole.given()).isCloseTo(100, within(1.0));
        assertThat(whole.used()).isCloseTo(25, within(2.0));
        assertThat(whole.stillWaiting()).isGreaterThan(100);
        assertThat(shares.used()).isGreaterThan(70);
        assertThat(shares.done()).isGreaterThan(whole.done());
        assertThat(shares.meanWait()).isLessThan(whole.meanWait());
        assertThat(shares.highAtOncePercent()).isGreaterThan(whole.highAtOncePercent());
    }

    @Test
    void inTurnsADeviceHoldsMoreThanItsSharesAddUpTo() {
        LoadOutcome turns = run(SharingMode.TURNS, 1.4, 1);

        assertThat(turns.used()).isGreaterThan(110);
        assertThat(run(SharingMode.SHARES, 1.4, 1).used()).isLessThanOrEqualTo(100);
    }

    @Test
    void waitsAreOrderedAndTheSameSeedGivesTheSame() {
        LoadOutcome one = run(SharingMode.SHARES, 1.2, 7);
        LoadOutcome again = run(SharingMode.SHARES, 1.2, 7);

        assertThat(one.waits()).isSorted().isEqualTo(again.waits());
        assertThat(one.used()).isEqualTo(again.used());
        assertThat(one.wait(50)).isLessThanOrEqualTo(one.wait(95));
        assertThat(one.wait(99)).isLessThanOrEqualTo(one.waits()[one.waits().length - 1]);
        assertThat(run(SharingMode.SHARES, 1.2, 8).waits()).isNotEqualTo(one.waits());
    }

    @Test
    void aTraceWithoutTimesIsRefused() {
        Workload none = new Workload("none", List.of(node(0)), List.of(job(500, Priority.LOW, OptionalLong.empty())));
        LoadSettings settings = new LoadSettings(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1), 282);

        assertThatThrownBy(() -> LoadRun.run(none, SharingMode.SHARES, new BestFitPolicy(), settings, 1))
                .hasMessageContaining("no job of none has both devices and a time");
    }
}
