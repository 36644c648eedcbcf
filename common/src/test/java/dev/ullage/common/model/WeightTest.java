package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WeightTest {
    @ParameterizedTest
    @CsvSource({"1.5, 15000, 1.5", "1.0, 10000, 1", "0.7, 7000, 0.7", "0.0001, 1, 0.0001", "100, 1000000, 100"})
    void aWeightIsReadExactly(String text, int basisPoints, String shown) {
        assertThat(Weight.parse(text)).isEqualTo(new Weight(basisPoints)).hasToString(shown);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "-1", "NaN", "1e3", "0", "0.00001", "100.1", "1.5%"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> Weight.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("weight '" + text + "' is ");
    }

    @Test
    void aProductIsExactAndRoundsDown() {
        assertThat(new Weight(7_000).of(MemoryBytes.of(4))).isEqualTo(MemoryBytes.of(2));
        assertThat(new Weight(15_000).of(MemoryBytes.of(1L << 61))).isEqualTo(MemoryBytes.of(3L << 60));
    }
}
