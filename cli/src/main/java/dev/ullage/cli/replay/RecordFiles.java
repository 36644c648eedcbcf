package dev.ullage.cli.replay;

import dev.ullage.cli.FileReason;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.journal.DecisionFile;
import dev.ullage.coordinator.journal.DecisionJson;
import dev.ullage.coordinator.journal.DecisionJson.Line;
import dev.ullage.coordinator.journal.DecisionJson.UnreadableException;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads decision logs, record by record, and gathers everything that is wrong with them. */
final class RecordFiles {
    private static final Pattern ROTATED =
            Pattern.compile(Pattern.quote(DecisionFile.FILE_NAME) + "(?:\\.(\\d{1,4}))?");
    private static final int SHOWN_AT_MOST = 20;

    private final Consumer<Found> onDecision;
    private final List<String> problems = new ArrayList<>();
    private final List<String> cutOff = new ArrayList<>();
    private int problemCount;
    private long dropped;
    private long unknown;

    /** @param where as in {@code decisions.jsonl:17} */
    record Found(String where, Decision decision) {}

    /** @param onDecision gets each decision in the order of the files */
    RecordFiles(Consumer<Found> onDecision) {
        this.onDecision = onDecision;
    }

    /** A folder stands for the log in it, with what was rotated, the oldest first. */
    void read(Path path) {
        if (!Files.isDirectory(path)) {
            readFile(path);
            return;
        }
        try (Stream<Path> entries = Files.list(path)) {
            List<Path> logs = entries.filter(entry -> age(entry) >= 0)
                    .sorted(Comparator.comparingInt(RecordFiles::age).reversed())
                    .toList();
            if (logs.isEmpty()) {
                problem(path + ": has no " + DecisionFile.FILE_NAME);
            }
            logs.forEach(this::readFile);
        } catch (IOException e) {
            problem(path + ": cannot be read: " + FileReason.of(e));
        }
    }

    /** What is wrong, the first few and how many more; empty: nothing. */
    List<String> problems() {
        List<String> shown = new ArrayList<>(problems);
        if (problemCount > shown.size()) {
            shown.add("and " + (problemCount - shown.size()) + " more");
        }
        return shown;
    }

    /** Where a file ends within a record, as after a crash: no error. */
    List<String> cutOff() {
        return List.copyOf(cutOff);
    }

    /** Records that the coordinator says are missing. */
    long dropped() {
        return dropped;
    }

    /** Records of a kind that this version does not know. */
    long unknown() {
        return unknown;
    }

    /** 0 for the newest file, more for older ones, less for what is no log. */
    private static int age(Path path) {
        Matcher matcher = ROTATED.matcher(String.valueOf(path.getFileName()));
        if (!matcher.matches()) {
            return -1;
        }
        return matcher.group(1) == null ? 0 : Integer.parseInt(matcher.group(1));
    }

    private void readFile(Path file) {
        try (BufferedReader lines = new BufferedReader(new FileReader(file.toFile(), StandardCharsets.UTF_8))) {
            boolean isWhole = endsWithALine(file);
            int number = 0;
            String line = lines.readLine();
            while (line != null) {
                number++;
                String next = lines.readLine();
                readLine(file + ":" + number, line, next == null && !isWhole);
                line = next;
            }
        } catch (IOException e) {
            problem(file + ": cannot be read: " + FileReason.of(e));
        }
    }

    private void readLine(String where, String line, boolean mayBeCutOff) {
        if (line.isBlank()) {
            return;
        }
        try {
            Line read = DecisionJson.parse(line);
            if (read instanceof Line.Of of) {
                onDecision.accept(new Found(where, of.decision()));
            } else if (read instanceof Line.Dropped missing) {
                dropped += missing.records();
            } else {
                unknown++;
            }
        } catch (UnreadableException e) {
            if (mayBeCutOff) {
                cutOff.add(where);
            } else {
                problem(where + ": " + oneLine(String.valueOf(e.getMessage())));
            }
        }
    }

    private static String oneLine(String text) {
        return text.lines().findFirst().orElse("");
    }

    private void problem(String text) {
        problemCount++;
        if (problems.size() < SHOWN_AT_MOST) {
            problems.add(text);
        }
    }

    private static boolean endsWithALine(Path file) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "r")) {
            if (open.length() == 0) {
                return true;
            }
            open.seek(open.length() - 1);
            return open.read() == '\n';
        }
    }
}
