package dev.ullage.worker.probe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The sizes that {@code nvml.h} 12.x has on 64-bit Linux; the fake library asserts the same ones for C. */
class NvmlLayoutTest {
    @Test
    void structuresHaveTheSizesOfTheHeader() {
        assertThat(new NvmlLibrary.MemoryV1().size()).isEqualTo(24);
        assertThat(new NvmlLibrary.PciInfo().size()).isEqualTo(68);
        assertThat(new NvmlLibrary.Attributes().size()).isEqualTo(40);
        assertThat(new NvmlLibrary.EventData().size()).isEqualTo(32);
        assertThat(new NvmlLibrary.SetMemoryLimits().size()).isEqualTo(24);
        assertThat(new NvmlLibrary.GetMemoryLimits().size()).isEqualTo(32);
    }

    @Test
    void theVersionTagOfMemoryInfo2HasSizeAndVersion() {
        assertThat(NvmlLibrary.MEMORY_V2_VERSION).isEqualTo(0x02000028);
    }
}
