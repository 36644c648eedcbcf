package dev.ullage.cli.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The files of the checkout the tests run in. */
final class Checkout {
    static final Path ROOT = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .toAbsolutePath()
            .normalize();

    private static final Set<String> NOT_OURS =
            Set.of("target", ".git", ".idea", ".venv", "__pycache__", "node_modules", ".ullage");

    private Checkout() {}

    /** Sources and documents with one of these endings, in a fixed order. */
    static List<Path> files(String... endings) {
        return walk(ROOT)
                .filter(Files::isRegularFile)
                .filter(hasEnding(endings))
                .toList();
    }

    /** Every folder below one of the modules' {@code src/main/java} that holds a class. */
    static List<Path> mainPackages() {
        return files(".java").stream()
                .filter(file -> relative(file).matches("[^/]+/src/main/java/.*"))
                .map(Path::getParent)
                .distinct()
                .toList();
    }

    /** The compiled tests of every module that was built before this one, and of this one. */
    static List<Path> testClasses() {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve("target/test-classes"))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }

    static String relative(Path file) {
        return ROOT.relativize(file.normalize()).toString();
    }

    private static Predicate<Path> hasEnding(String... endings) {
        return file -> Stream.of(endings).anyMatch(file.getFileName().toString()::endsWith);
    }

    private static Stream<Path> walk(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList().stream()
                    .filter(entry -> !NOT_OURS.contains(entry.getFileName().toString()))
                    .flatMap(entry ->
                            Files.isDirectory(entry) && !Files.isSymbolicLink(entry) ? walk(entry) : Stream.of(entry));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
