package dev.ullage.coordinator.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RotatedLinesTest {
    private final Path folder;
    private final Path file;

    RotatedLinesTest(@TempDir Path folder) {
        this.folder = folder;
        this.file = folder.resolve("log");
    }

    private static byte[] line(String text) {
        return (text + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private void write(long maxBytes, int files, int from, int to) throws IOException {
        try (RotatedLines lines = new RotatedLines(file, maxBytes, files)) {
            for (int i = from; i < to; i++) {
                lines.append(line("line " + i));
            }
        }
    }

    @Test
    void theOldestGoesAndNoFileIsLargerThanItMayBe() throws IOException {
        write(21, 3, 0, 10);

        assertThat(file).hasContent("line 9");
        assertThat(folder.resolve("log.1")).hasContent("line 6\nline 7\nline 8");
        assertThat(folder.resolve("log.2")).hasContent("line 3\nline 4\nline 5");
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).hasSize(3);
        }
    }

    @Test
    void oneFileBeginsAnew() throws IOException {
        write(14, 1, 0, 3);

        assertThat(file).hasContent("line 2");
        assertThat(folder.resolve("log.1")).doesNotExist();
    }

    @Test
    void whoStartsAgainGoesOnWhereTheLastOneEnded() throws IOException {
        write(100, 2, 0, 2);
        write(100, 2, 2, 3);

        assertThat(file).hasContent("line 0\nline 1\nline 2");
    }

    @Test
    void whatACrashLeftHalfWrittenIsRemoved() throws IOException {
        Files.writeString(file, "line 0\n" + "x".repeat(20_000));
        write(100_000, 2, 1, 2);
        assertThat(file).hasContent("line 0\nline 1");

        Files.writeString(file, "x".repeat(20_000));
        write(100_000, 2, 1, 2);
        assertThat(file).hasContent("line 1");
    }

    @Test
    void onlyTheOwnerMayReadIt() throws IOException {
        write(7, 2, 0, 2);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("log.1"))))
                .isEqualTo("rw-------");
    }

    @Test
    void afterAFailureTheNextLineTriesAgain() throws IOException {
        Path missing = folder.resolve("not-yet");
        try (RotatedLines lines = new RotatedLines(missing.resolve("log"), 100, 2)) {
            assertThatThrownBy(() -> lines.append(line("lost"))).isInstanceOf(IOException.class);
            Files.createDirectory(missing);
            lines.append(line("kept"));
        }

        assertThat(missing.resolve("log")).hasContent("kept");
    }
}
