package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CountsTest {
    @Test
    void oneIsTheOnlySingular() {
        assertThat(Counts.of(1, "rank")).isEqualTo("1 rank");
        assertThat(Counts.of(0, "rank")).isEqualTo("0 ranks");
        assertThat(Counts.of(2, "rank")).isEqualTo("2 ranks");
        assertThat(Counts.of(1_000_000_000_001L, "step")).isEqualTo("1000000000001 steps");
        assertThat(Counts.word(1, "has", "have")).isEqualTo("has");
        assertThat(Counts.word(0, "has", "have")).isEqualTo("have");
    }

    @Test
    void aHissingSoundTakesAnE() {
        assertThat(Counts.of(1, "process")).isEqualTo("1 process");
        assertThat(Counts.of(2, "process")).isEqualTo("2 processes");
        assertThat(Counts.of(2, "micro-batch")).isEqualTo("2 micro-batches");
    }
}
