package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.RankId;
import dev.ullage.worker.sampling.Attribution.Placed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Whose the processes on a device are, told from a recorded {@code /proc}: a launcher (500) with ranks 600 and 700;
 * data loaders 610 and 611 (a child's child) of the first; a stranger 800; and a container's processes, whose own pids
 * are 1, 7 and 7 again in another container.
 */
class AttributionTest {
    private static final Path PROC = Path.of("src/test/resources/proc");
    private static final DeviceId HERE = new DeviceId("GPU-here");
    private static final DeviceId THERE = new DeviceId("GPU-there");
    private static final Map<Long, Placed> RANKS = Map.of(
            600L, new Placed(new RankId(new JobId("bert"), 0), HERE),
            700L, new Placed(new RankId(new JobId("bert"), 1), THERE));

    private static Attribution attribute(long... pids) {
        List<ProcessUse> processes = LongStream.of(pids)
                .mapToObj(pid -> new ProcessUse(pid, Optional.of(mib(pid))))
                .toList();
        List<Ancestry> ancestries = LongStream.of(pids)
                .mapToObj(pid -> Ancestry.of(pid, parent -> ProcStatus.read(PROC, parent)))
                .toList();
        DeviceReading reading = new DeviceReading(Optional.empty(), Optional.of(processes), List.of());
        return Attribution.of(HERE, reading, ancestries, RANKS);
    }

    @Test
    void whatARankStartedIsTheRanks() {
        assertThat(attribute(600, 610, 611, 800))
                .isEqualTo(new Attribution(Map.of(600L, 600L, 610L, 600L, 611L, 600L), List.of()));
    }

    @Test
    void whatARanksProcessesUseIsSummedAndUnknownWhenOneIs() {
        Attribution whose = new Attribution(Map.of(600L, 600L, 610L, 600L, 620L, 620L), List.of());
        DeviceReading reading = new DeviceReading(
                Optional.empty(),
                Optional.of(List.of(
                        new ProcessUse(600, Optional.of(mib(5))),
                        new ProcessUse(610, Optional.of(mib(7))),
                        new ProcessUse(620, Optional.empty()),
                        new ProcessUse(999, Optional.of(mib(9))))),
                List.of());

        assertThat(whose.useByRank(reading)).containsExactly(Map.entry(600L, mib(12)));
    }

    @Test
    void theLauncherAboveTheRanksIsAStranger() {
        assertThat(attribute(500).ours()).isEmpty();
    }

    @Test
    void aContextOfARankThatIsOnAnotherDeviceIsNamedAndForeign() {
        Attribution whose = attribute(600, 700);

        assertThat(whose.ours()).containsExactly(600L);
        assertThat(whose.problems())
                .containsExactly(
                        "process 700 of rank bert/1 uses 700.0 MiB here, but that rank is on device GPU-there: a"
                                + " stray context, counted as foreign");
    }

    @Test
    void whatCannotBeSeenIsForeignAndSaidSo() {
        Attribution whose = attribute(600, 12345, 23456);

        assertThat(whose.ours()).containsExactly(600L);
        assertThat(whose.problems())
                .containsExactly(
                        "processes [12345, 23456] of the driver's list cannot be seen by this worker and count as"
                                + " foreign: they ended just now, or the worker does not share the host's pid namespace");
    }

    @Test
    void aProcessKnowsItsLineUpToTheFirstProcess() {
        assertThat(Ancestry.of(611, pid -> ProcStatus.read(PROC, pid)))
                .isEqualTo(new Ancestry(611, true, List.of(610L, 600L, 500L)));
        assertThat(Ancestry.of(999, pid -> ProcStatus.read(PROC, pid))).isEqualTo(new Ancestry(999, false, List.of()));
    }

    @Test
    void aProcessThatStaysIsLookedUpOnceAndThenNowAndThen() {
        AtomicInteger lookUps = new AtomicInteger();
        AncestryCache cache = AncestryCache.every(Duration.ofSeconds(1), pid -> {
            lookUps.incrementAndGet();
            return Optional.of(new ProcStatus(pid, 1, List.of(pid)));
        });
        DeviceReading reading = new DeviceReading(
                Optional.empty(), Optional.of(List.of(new ProcessUse(49, Optional.empty()))), List.of());
        for (int round = 1; round < 49; round++) {
            assertThat(cache.of(reading)).containsExactly(new Ancestry(49, true, List.of()));
        }
        assertThat(lookUps).hasValue(1);

        cache.of(reading);

        assertThat(lookUps).hasValue(2);
        cache.of(new DeviceReading(Optional.empty(), Optional.empty(), List.of()));
        cache.of(reading);
        assertThat(lookUps).as("it was gone, so it may be another").hasValue(3);
    }

    // A table that goes in a circle, as no kernel writes it but a race may let it seem.
    @Test
    void aCircleOfParentsEnds() {
        assertThat(Ancestry.of(5, pid -> Optional.of(new ProcStatus(pid, 11 - pid, List.of(pid))))
                        .ancestors())
                .hasSize(64);
    }

    @Test
    void aProcessInAContainerCallsItselfByAnotherPid() {
        List<ProcStatus> all = Stream.of(500L, 600L, 900L, 907L, 957L, 961L)
                .flatMap(pid -> ProcStatus.read(PROC, pid).stream())
                .toList();

        assertThat(all).hasSize(6);
        assertThat(named(1, all)).containsExactly(900L);
        assertThat(named(11, all)).containsExactly(961L);
        assertThat(named(7, all)).as("two containers have one").hasSize(2);
        assertThat(named(600, all)).as("one of the host's own").isEmpty();
    }

    private static List<Long> named(long ownPid, List<ProcStatus> processes) {
        return processes.stream()
                .filter(process -> process.isElsewhere(ownPid))
                .map(ProcStatus::pid)
                .toList();
    }

    @Test
    void aStatusThatIsNotAsExpectedIsNotKnown() {
        assertThat(ProcStatus.parse(5, "Name:\ta\nPPid:\tx\n")).isEmpty();
        assertThat(ProcStatus.parse(5, "Name:\tPPid: 3\n")).isEmpty();
        assertThat(ProcStatus.parse(5, "Name:\ta\nPPid:\t3")).contains(new ProcStatus(5, 3, List.of(5L)));
    }

    @Test
    void aRealProcessIsRead() {
        long self = ProcessHandle.current().pid();
        long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);

        assertThat(ProcStatus.read(Path.of("/proc"), self).orElseThrow().parent())
                .isEqualTo(parent);
    }
}
