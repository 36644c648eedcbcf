package dev.ullage.worker.sampling;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.mib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What strangers hold is counted up to whole steps, and what is not known is not zero. */
class ForeignMemoryTest {
    private static DeviceReading reading(ProcessUse... processes) {
        return new DeviceReading(Optional.empty(), Optional.of(List.of(processes)), List.of());
    }

    private static ProcessUse process(long pid, MemoryBytes used) {
        return new ProcessUse(pid, Optional.of(used));
    }

    @Test
    void onlyProcessesThatAreNoRanksCount() {
        DeviceReading reading = reading(process(1, mib(64)), process(2, mib(500)), process(3, mib(64)));

        assertThat(ForeignMemory.of(reading, Set.of(2L, 9L))).contains(mib(128));
    }

    @Test
    void theSumIsRoundedUpToASteadyStep() {
        assertThat(ForeignMemory.of(reading(process(1, MemoryBytes.of(1))), Set.of()))
                .contains(mib(64));
        assertThat(ForeignMemory.of(reading(process(1, mib(40)), process(2, mib(40))), Set.of()))
                .contains(mib(128));
    }

    @Test
    void nobodyOnTheDeviceIsZero() {
        assertThat(ForeignMemory.of(reading(), Set.of())).contains(MemoryBytes.ZERO);
        assertThat(ForeignMemory.of(reading(process(2, mib(500))), Set.of(2L))).contains(MemoryBytes.ZERO);
    }

    @Test
    void anUnknownProcessListIsNotKnown() {
        assertThat(ForeignMemory.of(new DeviceReading(Optional.empty(), Optional.empty(), List.of()), Set.of()))
                .isEmpty();
    }

    // Where the driver does not tell of one, as under WSL, it may not list the host's own processes either.
    @Test
    void anUnknownUseIsNotKnownWhosesoeverItIs() {
        ProcessUse unknown = new ProcessUse(2, Optional.empty());

        assertThat(ForeignMemory.of(reading(process(1, mib(64)), unknown), Set.of()))
                .isEmpty();
        assertThat(ForeignMemory.of(reading(process(1, mib(64)), unknown), Set.of(2L)))
                .isEmpty();
    }

    private static DeviceReading using(MemoryBytes total, MemoryBytes used, ProcessUse... processes) {
        return new DeviceReading(
                Optional.of(new MemoryUse(total, Optional.empty(), used, total.minus(used))),
                Optional.of(List.of(processes)),
                List.of());
    }

    // A container or WSL may list no process at all on a device that is nearly full.
    @Test
    void anEmptyListOnADeviceInUseIsNotKnown() {
        assertThat(ForeignMemory.of(using(gib(24), gib(22)), Set.of())).isEmpty();
        assertThat(ForeignMemory.of(using(gib(24), gib(22), process(1, gib(10))), Set.of(1L)))
                .isEmpty();
    }

    // pub-04 of the captures: 48,427 MiB in use, its processes hold 46,696 of them.
    @Test
    void whatDriversUseBesideProcessesIsNobodys() {
        assertThat(ForeignMemory.of(
                        using(mib(97871), mib(48427), process(1, mib(45126)), process(2, mib(1570))), Set.of()))
                .contains(mib(46720));
        assertThat(ForeignMemory.of(using(mib(8192), mib(819), process(1, mib(780))), Set.of(1L)))
                .contains(MemoryBytes.ZERO);
    }
}
