package dev.ullage.common.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestTest {
    private static final List<String> KNOWN = List.of("bert-large", "gpt-2", "gpt-3", "llama");

    @ParameterizedTest
    @CsvSource({"bert-lrage, bert-large", "BERT-LARGE, bert-large", "gpt-4, gpt-2", "lama, llama", "llama, llama"})
    void aTypingMistakeIsSeenThrough(String name, String meant) {
        assertThat(Nearest.of(name, KNOWN)).contains(meant);
    }

    @ParameterizedTest
    @CsvSource({"resnet", "x", "bert"})
    void whatIsFarFromEverythingMeansNothing(String name) {
        assertThat(Nearest.of(name, KNOWN)).isEmpty();
        assertThat(Nearest.suggestion(name, KNOWN)).isEmpty();
    }

    @Test
    void theSuggestionContinuesAMessage() {
        assertThat("no job lama" + Nearest.suggestion("lama", KNOWN)).isEqualTo("no job lama (did you mean llama?)");
    }

    @ParameterizedTest
    @CsvSource({"'', '', 0", "'', abc, 3", "kitten, sitting, 3", "flaw, lawn, 2"})
    void theDistanceIsLevenshteins(String left, String right, int distance) {
        assertThat(Nearest.distance(left, right)).isEqualTo(distance);
        assertThat(Nearest.distance(right, left)).isEqualTo(distance);
    }
}
