package dev.ullage.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.TopScreen.View;
import dev.ullage.cli.show.TopSort;
import java.io.IOException;
import org.jline.utils.NonBlockingReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopKeyTest {
    private static int read(String keys) throws IOException {
        int[] at = {1};
        return TopKey.read(
                keys.charAt(0), () -> at[0] < keys.length() ? keys.charAt(at[0]++) : NonBlockingReader.READ_EXPIRED);
    }

    @ParameterizedTest
    @CsvSource({"[A, 0", "OA, 0", "[B, 1", "[5~, 2", "[6~, 3", "[H, 4", "[1~, 4", "[F, 5", "[4~, 5"})
    void aKeyOfSeveralCharactersIsOne(String rest, int key) throws IOException {
        assertThat(read("\u001b" + rest)).isEqualTo(TopKey.UP + key);
    }

    @Test
    void otherKeysAreThemselvesAndEscapeIsEscape() throws IOException {
        assertThat(read("q")).isEqualTo('q');
        assertThat(read("\u001b")).isEqualTo(27);
        assertThat(read("\u001b[Z")).isEqualTo(27);
        assertThat(read("\u001b[5x")).isEqualTo(27);
    }

    @Test
    void theViewStaysWithinWhatThereIsAndSortingBeginsAtTheTop() {
        View top = new View(TopSort.DEVICE, 0);
        View down = TopKey.apply(TopKey.DOWN, top, 20, 30);
        assertThat(down.passed()).isEqualTo(1);
        assertThat(TopKey.apply(TopKey.UP, top, 20, 30)).isEqualTo(top);
        View page = TopKey.apply(TopKey.PAGE_DOWN, down, 20, 30);
        assertThat(page.passed()).isEqualTo(21);
        assertThat(TopKey.apply(TopKey.PAGE_DOWN, page, 20, 30).passed()).isEqualTo(30);
        assertThat(TopKey.apply(TopKey.END, top, 20, 30).passed()).isEqualTo(30);
        assertThat(TopKey.apply(TopKey.HOME, page, 20, 30)).isEqualTo(top);
        assertThat(TopKey.apply('u', page, 20, 30)).isEqualTo(new View(TopSort.USED, 0));
        assertThat(TopKey.apply('d', page, 20, 30)).as("in that order already").isEqualTo(page);
        assertThat(TopKey.apply(NonBlockingReader.READ_EXPIRED, page, 20, 5).passed())
                .as("the cluster shrank")
                .isEqualTo(5);
    }
}
