package dev.ullage.worker.enforcement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MpsLimitTest {
    private static DeviceInfo device(int index) {
        return new DeviceInfo(new DeviceId("GPU-" + index), index, "H100", DeviceKind.DISCRETE, Optional.empty());
    }

    @Test
    void theVendorsFormIsRead() {
        assertThat(MpsLimit.of("0=1G,1=512MB", device(0), false)).contains(MemoryBytes.ofGibibytes(1));
        assertThat(MpsLimit.of("0=1G,1=512MB", device(1), false)).contains(MemoryBytes.ofMebibytes(512));
        assertThat(MpsLimit.of("0=1G", device(1), false)).isEmpty();
        assertThat(MpsLimit.of(" GPU-1 = 2G ", device(1), true)).contains(MemoryBytes.ofGibibytes(2));
    }

    @Test
    void aNumberMeansNothingCertainToAProcessThatRenumbers() {
        assertThat(MpsLimit.of("0=1G", device(0), true)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1G", "0=", "0=1", "0=1.5G", "0=-1G", "0=1G,", "0=1K", "0=99999999999G"})
    void whatIsNotOfThatFormIsNoLimit(String text) {
        assertThat(MpsLimit.of(text, device(0), false)).isEmpty();
    }
}
