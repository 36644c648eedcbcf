package dev.ullage.worker.enforcement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.MemoryBytes;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
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

    @Test
    void lessThanAMebibyteCannotBeSaid() {
        assertThatThrownBy(() -> MpsLimit.text(new TreeMap<>(Map.of(0, MemoryBytes.of(1 << 19)))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("device 0");
    }

    @Property
    void whatIsWrittenIsReadBackAndIsNeverAboveTheLimit(
            @ForAll @IntRange(max = 15) int index, @ForAll @LongRange(min = 1 << 20, max = 1L << 40) long bytes) {
        MemoryBytes limit = MemoryBytes.of(bytes);

        String text = MpsLimit.text(new TreeMap<>(Map.of(index, limit)));

        MemoryBytes read = MpsLimit.of(text, device(index), false).orElseThrow();
        assertThat(read).isLessThanOrEqualTo(limit);
        assertThat(limit.minus(read)).isLessThan(MemoryBytes.ofMebibytes(1));
    }
}
