package dev.ullage.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressBarTest {
    private final StringWriter err = new StringWriter();

    private String drawn(Terminal terminal, int all) {
        ProgressBar bar = new ProgressBar(new PrintWriter(err), terminal, "runs", all);
        for (int i = 0; i < all; i++) {
            bar.step(i % 2 == 0 ? "a workload of a long name, best-fit" : "b");
        }
        return err.toString();
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 40, 60, 80, 200})
    void itIsDrawnInPlaceWithinTheWidthOfTheTerminalAndLeavesNothing(int width) {
        String drawn = drawn(new Terminal(true, false, width), 1_200);

        assertThat(drawn).doesNotContain("\n");
        String[] lines = drawn.split("\r", -1);
        assertThat(lines).allMatch(line -> line.length() < width);
        assertThat(lines[2]).startsWith(width < 40 ? "2 of 1200 runs" : "[.").contains("2 of 1200 runs");
        assertThat(lines[lines.length - 2]).isBlank();
        assertThat(lines[lines.length - 2].length())
                .isGreaterThanOrEqualTo(lines[lines.length - 3].stripTrailing().length());
    }

    @Test
    void inAFileItIsALineAtEachTenth() {
        assertThat(drawn(Terminal.NONE, 40).lines()).hasSize(10).last().isEqualTo("40 of 40 runs (100 %)");
    }
}
