package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NvmlMemoryTest {
    private final List<String> problems = new ArrayList<>();

    @Test
    void figuresThatAddUpAreTakenAsTheyAre() {
        assertThat(NvmlMemory.fromVersion2(new RawMemory(100, 10, 70, 20), problems))
                .contains(use(100, 10, 20, 70));
        assertThat(problems).isEmpty();
    }

    @Test
    void aReserveThatTheDriverCountsAsUsedIsTakenOutOfUsed() {
        assertThat(NvmlMemory.fromVersion2(new RawMemory(100, 10, 70, 30), problems))
                .contains(use(100, 10, 20, 70));
        assertThat(problems).isEmpty();
    }

    @Test
    void figuresThatDoNotAddUpAreAProblemWithTheNumbers() {
        assertThat(NvmlMemory.fromVersion2(new RawMemory(100, 10, 70, 25), problems))
                .contains(use(100, 10, 25, 70));
        assertThat(problems)
                .containsExactly("nvmlDeviceGetMemoryInfo_v2: used 25 + free 70 + reserved 10 is not total 100 bytes;"
                        + " figures are as the driver gave them");
        problems.clear();
        assertThat(NvmlMemory.fromVersion1(new RawMemory(100, 0, 70, 25), problems))
                .isPresent();
        assertThat(problems)
                .containsExactly("nvmlDeviceGetMemoryInfo: used 25 + free 70 is not total 100 bytes;"
                        + " figures are as the driver gave them");
    }

    @Test
    void markersAndZeroTotalsAreUnknownAndNotAmounts() {
        List<RawMemory> impossible = List.of(
                new RawMemory(0, 0, 0, 0),
                new RawMemory(-1, 0, 0, 0),
                new RawMemory(100, 10, 70, -1),
                new RawMemory(100, 10, 101, 20),
                new RawMemory(100, Long.MIN_VALUE, 70, 20));
        for (RawMemory raw : impossible) {
            assertThat(NvmlMemory.fromVersion2(raw, problems)).isEmpty();
            assertThat(NvmlMemory.fromVersion1(raw, problems)).isEmpty();
        }
        assertThat(problems)
                .hasSize(2 * impossible.size())
                .contains(
                        "the driver says total 18446744073709551615, used 0, free 0, reserved 0 bytes, which cannot be;"
                                + " memory is unknown");
    }

    private static MemoryUse use(long total, long reserved, long used, long free) {
        return new MemoryUse(
                MemoryBytes.of(total),
                Optional.of(MemoryBytes.of(reserved)),
                MemoryBytes.of(used),
                MemoryBytes.of(free));
    }
}
