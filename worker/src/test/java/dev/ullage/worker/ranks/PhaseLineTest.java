package dev.ullage.worker.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Phase;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The quick reader understands exactly what the general one does, or leaves it to that. */
class PhaseLineTest {
    private final RankCodec codec = new RankCodec(500);

    @ParameterizedTest
    @EnumSource(Phase.class)
    void readsWhatTheGeneralParserReads(Phase phase) throws BadMessageException {
        for (String rest : new String[] {"}", ",\"step\":17}", ",\"id\":7}", ",\"step\":0,\"id\":123456789012345}"}) {
            byte[] line = bytes("{\"type\":\"phase\",\"phase\":\"" + phase + "\"" + rest);

            assertThat(PhaseLine.parse(line)).isEqualTo(codec.parse(line)).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"type\":\"phase\"}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\"",
                "{\"type\":\"phase\",\"phase\":\"FORWARDS\"}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":-1}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":1.5}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\",\"id\":1,\"step\":2}",
                "{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":1234567890123456}",
                "{\"type\":\"phase\", \"phase\":\"FORWARD\"}",
                "{\"type\":\"bye\"}"
            })
    void leavesEverythingElseToTheGeneralParser(String line) {
        assertThat(PhaseLine.parse(bytes(line))).isNull();
    }

    @Test
    void readsNothingTwice() {
        assertThat(PhaseLine.parse(bytes("{\"type\":\"phase\",\"phase\":\"IDLE\",\"step\":3}")))
                .isEqualTo(new RankMessage.PhaseEntered(Phase.IDLE, OptionalLong.of(3), OptionalLong.empty()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
