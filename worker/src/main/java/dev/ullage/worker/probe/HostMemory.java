package dev.ullage.worker.probe;

import dev.ullage.common.model.MemoryBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The host's memory, which is also the memory of a GPU that has none of its own.
 *
 * @param total all of it
 * @param available what can be had without swapping, as the kernel estimates
 */
public record HostMemory(MemoryBytes total, MemoryBytes available) {
    public static final Path FILE = Path.of("/proc/meminfo");

    /** Empty when the file cannot be read or does not say. */
    public static Optional<HostMemory> read(Path file) {
        try {
            return parse(Files.readAllLines(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** From lines like {@code MemTotal: 127600748 kB}. */
    public static Optional<HostMemory> parse(List<String> lines) {
        Optional<MemoryBytes> total = field("MemTotal:", lines);
        Optional<MemoryBytes> available = field("MemAvailable:", lines);
        return total.filter(amount -> !amount.isZero())
                .flatMap(all -> available.filter(part -> !part.isMoreThan(all)).map(part -> new HostMemory(all, part)));
    }

    private static Optional<MemoryBytes> field(String name, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip())
                .filter(text -> text.matches("\\d{1,15} kB"))
                .map(text -> MemoryBytes.of(Long.parseLong(text.substring(0, text.length() - " kB".length())) * 1024))
                .findFirst();
    }
}
