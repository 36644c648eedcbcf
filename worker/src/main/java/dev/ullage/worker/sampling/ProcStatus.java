package dev.ullage.worker.sampling;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What {@code /proc/<pid>/status} says of a process.
 *
 * @param parent 0 for one whose parent is in another pid namespace
 * @param namespacePids its pid in each namespace it is in, the one of this {@code /proc} first, its own last
 */
public record ProcStatus(long pid, long parent, List<Long> namespacePids) {
    private static final String PARENT = "PPid:";
    private static final String NAMESPACES = "NSpid:";
    private static final Pattern NUMBERS = Pattern.compile("\\d{1,18}(\\s+\\d{1,18})*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    public ProcStatus {
        namespacePids = List.copyOf(namespacePids);
    }

    /** Empty when there is no such process here, or its file is not as expected. */
    public static Optional<ProcStatus> read(Path proc, long pid) {
        try {
            Path file = proc.resolve(Long.toString(pid)).resolve("status");
            return parse(pid, new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** @param status what the file says, or the part of it that was there in time */
    static Optional<ProcStatus> parse(long pid, String status) {
        Optional<List<Long>> parent = numbers(PARENT, status).filter(numbers -> numbers.size() == 1);
        // Kernels before 4.1 do not have the line: the process is then in one namespace as far as can be told.
        List<Long> namespaces = numbers(NAMESPACES, status).orElse(List.of(pid));
        return parent.map(numbers -> new ProcStatus(pid, numbers.get(0), namespaces));
    }

    private static Optional<List<Long>> numbers(String name, String status) {
        // The kernel writes no line break of a program's name as it is.
        int line = status.startsWith(name) ? 0 : status.indexOf('\n' + name) + 1;
        if (!status.startsWith(name, line)) {
            return Optional.empty();
        }
        int from = line + name.length();
        int end = status.indexOf('\n', from);
        String text = status.substring(from, end < 0 ? status.length() : end).strip();
        return NUMBERS.matcher(text).matches()
                ? Optional.of(BLANKS.splitAsStream(text).map(Long::valueOf).toList())
                : Optional.empty();
    }

    /** Whether it calls itself by this pid and is known by another one here, as a process in a container is. */
    public boolean isElsewhere(long ownPid) {
        return namespacePids.size() > 1 && namespacePids.get(namespacePids.size() - 1) == ownPid;
    }
}
