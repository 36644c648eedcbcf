package dev.ullage.common.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder for what is not a test class of its own, so that JUnit makes it none; gone with all that is in it when
 * closed.
 *
 * @param path below the system's folder for such
 */
public record ScratchFolder(Path path) implements AutoCloseable {
    public static ScratchFolder create(String name) {
        try {
            return new ScratchFolder(Files.createTempDirectory(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (Stream<Path> tree = Files.walk(path)) {
            List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
