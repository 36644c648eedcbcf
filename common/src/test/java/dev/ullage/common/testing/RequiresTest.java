package dev.ullage.common.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

final class RequiresTest {
    @Test
    void whatIsThereSkipsNothing() {
        assertThatCode(() -> Requires.command("sh", "dash")).doesNotThrowAnyException();
    }

    @Test
    void whatIsMissingIsRecordedWithItsPackage(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("target/skipped.txt");

        recordingTo(file, () -> assertThatThrownBy(() -> Requires.command("no-such-program", "some-package"))
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("no no-such-program on the PATH; package some-package"));

        assertThat(file).content().isEqualTo("no no-such-program on the PATH; package some-package\n");
    }

    @Test
    void reasonsOfSeveralTestsAreAllKept(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("skipped.txt");

        recordingTo(file, () -> {
            assertThatThrownBy(() -> Requires.that(false, "example: first")).isInstanceOf(TestAbortedException.class);
            assertThatThrownBy(() -> Requires.python("no_such", "no-such-python", "example"))
                    .isInstanceOf(TestAbortedException.class);
        });

        assertThat(Files.readAllLines(file))
                .containsExactly("example: first", "no-such-python has no module no_such; package example");
    }

    private static void recordingTo(Path file, Runnable test) {
        String before = System.getProperty(Requires.SKIP_FILE_PROPERTY);
        System.setProperty(Requires.SKIP_FILE_PROPERTY, file.toString());
        try {
            test.run();
        } finally {
            if (before == null) {
                System.clearProperty(Requires.SKIP_FILE_PROPERTY);
            } else {
                System.setProperty(Requires.SKIP_FILE_PROPERTY, before);
            }
        }
    }
}
