package dev.ullage.coordinator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.Memory;
import dev.ullage.common.model.RankAccount.PhaseMemory;
import dev.ullage.common.model.RankAccount.RoomOverTime;
import dev.ullage.coordinator.report.RunReport.PhasePeak;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The figures of a report, worked out by hand; and that what is not known stays so. */
class RunFiguresTest {
    private static final double GIB = MemoryBytes.GIBIBYTE;

    private static RunReport report(RankAccount... accounts) {
        return RunFigures.of(Runs.of(accounts), Optional.of(new Price(2, "USD")));
    }

    private static void assertIs(OptionalDouble actual, double expected) {
        assertThat(actual).isPresent();
        assertThat(actual.getAsDouble()).isCloseTo(expected, within(Math.abs(expected) * 1e-9));
    }

    @Test
    void memory() {
        RunReport.Memory memory = RunFigures.of(Runs.known(), Optional.empty()).memory();

        assertIs(memory.utilisation(), .5);
        assertIs(memory.fragmentation(), .1);
        assertIs(memory.highestFragmentation(), .25);
        assertIs(memory.allocationMicros(), 2.5);
        assertThat(memory.retries()).hasValue(2);
        assertThat(memory.refusals()).hasValue(4);
        assertThat(memory.phases()).containsExactly(peak(Phase.FORWARD, 20), peak(Phase.BACKWARD, 30));
    }

    private static PhasePeak peak(Phase phase, long gibibytes) {
        return new PhasePeak(
                phase,
                0,
                Optional.of(MemoryBytes.ofGibibytes(gibibytes)),
                Optional.of(MemoryBytes.ofGibibytes(44)),
                Optional.of(MemoryBytes.ofGibibytes(40)));
    }

    @Test
    void compute() {
        RunReport.Compute compute =
                RunFigures.of(Runs.known(), Optional.empty()).compute();

        assertThat(compute.steps()).hasValue(7_000);
        assertIs(compute.stepsPerSecond(), 2); // 7,000 in the 3,500 s after INIT
        assertThat(compute.samples()).hasValue(448_000);
        assertIs(compute.samplesPerSecond(), 128);
        assertIs(compute.waitShare(), .01);
        assertThat(compute.turnWaitMillis()).hasValue(72_000);
        assertIs(compute.flopsPerSecond(), 2 * 2 * 6e13);
        assertIs(compute.flopsPerByte(), 6e13 / (30 * GIB));
        assertThat(compute.phases())
                .extracting(RunReport.PhaseShare::phase)
                .containsExactly(Phase.INIT, Phase.FORWARD, Phase.BACKWARD);
        assertThat(compute.phases().get(2).share()).isCloseTo(2.5 / 3.6, within(1e-9));
    }

    @Test
    void costIsByTheShareOfTheMemoryAndTheDeviceByItsTime() {
        RunReport report = RunFigures.of(Runs.known(), Optional.of(new Price(3, "EUR")));
        RunReport.Cost cost = report.cost().orElseThrow();

        assertThat(report.room().deviceMillis()).isEqualTo(3_600_000);
        assertIs(report.room().promised(), 80 * GIB);
        assertIs(report.room().idle(), 40 * GIB);
        assertIs(report.room().neverUsed(), 20 * GIB); // each 10 GiB above its peak
        assertIs(cost.job(), 3);
        assertIs(cost.perStep(), 3.0 / 7_000);
        assertIs(cost.wholeDevices(), 3);
        assertIs(cost.idle(), 1.5);
        assertIs(cost.neverUsed(), .75);
    }

    @Test
    void theLossIsThatOfTheLowestRankThatSaysOne() {
        RunReport report = report(Runs.terse(0), Runs.account(1, Runs.memory(), Optional.of(Runs.training())));

        assertThat(report.loss().rank()).hasValue(1);
        assertThat(report.loss().points()).hasSize(2);
    }

    @Test
    void whatNobodyToldIsUnknownAndNeverZero() {
        RunReport report = RunFigures.of(Runs.terse(), Optional.of(new Price(1, "USD")));

        assertThat(report.scope().silent()).isEqualTo(1);
        assertThat(report.scope().isRunning()).isTrue();
        assertThat(report.scope().endedAgoMillis()).isEmpty();
        assertThat(List.of(
                        report.memory().utilisation(),
                        report.memory().fragmentation(),
                        report.memory().highestFragmentation(),
                        report.memory().allocationMicros(),
                        report.compute().samplesPerSecond(),
                        report.compute().waitShare(),
                        report.compute().flopsPerSecond(),
                        report.compute().flopsPerByte(),
                        report.room().promised(),
                        report.room().idle(),
                        report.room().neverUsed(),
                        report.cost().orElseThrow().job(),
                        report.cost().orElseThrow().perStep(),
                        report.cost().orElseThrow().idle()))
                .containsOnly(OptionalDouble.empty());
        assertThat(List.of(
                        report.memory().retries(),
                        report.memory().refusals(),
                        report.compute().samples(),
                        report.compute().turnWaitMillis(),
                        report.compute().limitWaitMillis()))
                .containsOnly(OptionalLong.empty());
        assertThat(report.loss().rank()).isEmpty();
        assertThat(report.compute().steps()).hasValue(1);
        assertIs(report.compute().stepsPerSecond(), 1);
    }

    @Test
    void aJobOfWhichNobodySaidAnythingHasNoFigures() {
        RunReport report = report(Runs.silent(0));

        assertThat(report.compute().steps()).isEmpty();
        assertThat(report.compute().stepsPerSecond()).isEmpty();
        assertThat(report.room().promised()).isEmpty();
        assertThat(report.cost().orElseThrow().job()).isEmpty();
    }

    @Test
    void aSumOfWhichOnePartIsNotKnownIsNotKnown() {
        Memory known = Runs.memory();
        Memory withoutRoom = new Memory(
                known.deviceTotal(),
                known.peak(),
                known.phases(),
                Optional.empty(),
                known.allocator(),
                known.highestFragmentation());
        RunReport report = report(
                Runs.account(0, known, Optional.of(Runs.training())),
                Runs.account(1, withoutRoom, Optional.of(Runs.training())));

        assertThat(report.room().promised()).isEmpty();
        assertThat(report.cost().orElseThrow().job()).isEmpty();
        assertThat(report.compute().samples()).hasValue(448_000);
    }

    @Test
    void aRankThatWasStartedAgainHasTheStepsOfBoth() {
        RankAccount first = Runs.account(0, Runs.memory(), Optional.of(Runs.training()));
        RankAccount again = new RankAccount(
                new dev.ullage.common.model.RankInstance(first.instance().rank(), 999, 8),
                first.device(),
                first.worldSize(),
                60_000,
                OptionalLong.empty(),
                first.memory(),
                first.training());
        RunReport report = report(first, again);

        assertThat(report.compute().steps()).hasValue(14_000);
        assertIs(report.compute().stepsPerSecond(), 2);
        assertThat(report.scope().ranks()).isEqualTo(1);
        assertThat(report.scope().isRunning()).isTrue();
        assertThat(report.room().deviceMillis())
                .as("from the first to the last")
                .isEqualTo(3_660_000);
    }

    @Test
    void aReportIsAboutSomething() {
        assertThatIllegalArgumentException().isThrownBy(() -> RunFigures.of(Runs.of(), Optional.empty()));
        assertThatIllegalArgumentException().isThrownBy(() -> new Price(0, "USD"));
    }

    // Goal: parts never exceed their whole, whatever limit, use and peak were. Method: any of each, over any time.
    @Property
    void whatIsNeverUsedIsPartOfWhatIsIdleAndThatOfWhatIsPromised(
            @ForAll @IntRange(min = 1, max = 100) int limit,
            @ForAll @IntRange(max = 100) int held,
            @ForAll @IntRange(max = 100) int above,
            @ForAll @IntRange(min = 1, max = 100_000) int seconds) {
        long used = Math.min(held, limit);
        long promised = 1024L * limit * seconds;
        Memory memory = new Memory(
                Optional.of(MemoryBytes.ofGibibytes(200)),
                Optional.of(MemoryBytes.ofGibibytes(Math.max(1, held + above))),
                List.of(new PhaseMemory(Phase.FORWARD, Optional.empty(), Optional.of(MemoryBytes.ofGibibytes(limit)))),
                Optional.of(new RoomOverTime(
                        seconds * 1_000L, promised, 1024 * used * seconds, promised - 1024 * used * seconds)),
                Optional.empty(),
                Optional.empty());
        RunReport.Room room = report(Runs.account(0, memory, Optional.empty())).room();

        double tolerance = room.promised().getAsDouble() * 1e-9;
        assertThat(room.neverUsed().getAsDouble()).isBetween(0.0, room.idle().getAsDouble() + tolerance);
        assertThat(room.idle().getAsDouble()).isBetween(0.0, room.promised().getAsDouble());
    }
}
