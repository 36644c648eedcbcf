package dev.ullage.cli.predict;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.FileReason;
import dev.ullage.common.model.MemoryBytes;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.zip.GZIPInputStream;

/**
 * Reads CSV of two kinds, told by their columns, compressed or not: samples of many pods ({@code timestamp_anon, value,
 * container_ip}), and the allocations of one recorded training step ({@code t_us, allocated_bytes}). A recorded step is
 * cut into equal parts of its time, each with the most that was allocated in it, and repeated: training does that.
 */
final class SeriesFile {
    private static final List<String> POD_COLUMNS = List.of("timestamp_anon", "value", "container_ip");
    private static final List<String> STEP_COLUMNS = List.of("t_us", "allocated_bytes");
    static final int PARTS_OF_A_STEP = 60;
    static final int REPEATED = 20;
    private static final int GZIP_MAGIC = 0x8b1f;

    private final Path file;
    private final SeriesProblems problems;

    private SeriesFile(Path file) {
        this.file = file;
        problems = new SeriesProblems(file);
    }

    /** In the order of their names. */
    static List<Series> read(Path file) throws CommandFailure {
        SeriesFile reading = new SeriesFile(file);
        List<Series> series;
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(uncompressed(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
            series = reading.series(lines);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "'%s' cannot be read: %s".formatted(file, FileReason.of(e)), e);
        }
        if (!reading.problems.isEmpty()) {
            throw new CommandFailure(ExitCode.FAILED, reading.problems.toString());
        }
        return series;
    }

    private static InputStream uncompressed(InputStream file) throws IOException {
        BufferedInputStream bytes = new BufferedInputStream(file);
        bytes.mark(2);
        int magic = bytes.read() | bytes.read() << 8;
        bytes.reset();
        return magic == GZIP_MAGIC ? new GZIPInputStream(bytes) : bytes;
    }

    private List<Series> series(BufferedReader lines) throws IOException {
        String header = lines.readLine();
        List<String> columns =
                header == null ? List.of() : List.of(header.strip().split(",", -1));
        if (columns.containsAll(POD_COLUMNS)) {
            PodSamples samples = new PodSamples(problems);
            rows(lines, columns, POD_COLUMNS, samples::add);
            return samples.series();
        }
        if (columns.containsAll(STEP_COLUMNS)) {
            List<long[]> events = new ArrayList<>();
            rows(lines, columns, STEP_COLUMNS, (line, fields) -> event(line, fields, events));
            return step(events);
        }
        problems.add(
                1,
                "the columns are '%s': samples have %s, a recorded training step has %s"
                        .formatted(
                                header == null ? "" : header,
                                String.join(", ", POD_COLUMNS),
                                String.join(", ", STEP_COLUMNS)));
        return List.of();
    }

    @FunctionalInterface
    private interface Row {
        /** @param fields in the order of the columns that are wanted */
        void add(int line, List<String> fields);
    }

    private void rows(BufferedReader lines, List<String> columns, List<String> wanted, Row row) throws IOException {
        int[] places = wanted.stream().mapToInt(columns::indexOf).toArray();
        int number = 1;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            String[] fields = line.split(",", -1);
            if (line.isBlank()) {
                continue;
            }
            if (fields.length != columns.size()) {
                problems.add(number, "%d fields, the header has %d".formatted(fields.length, columns.size()));
                continue;
            }
            List<String> chosen = new ArrayList<>();
            for (int place : places) {
                chosen.add(fields[place].strip());
            }
            row.add(number, chosen);
        }
        if (number == 1) {
            problems.add(1, "there is nothing below the header");
        }
    }

    private void event(int line, List<String> fields, List<long[]> events) {
        long time = whole(line, STEP_COLUMNS.get(0), fields.get(0));
        long allocated = whole(line, STEP_COLUMNS.get(1), fields.get(1));
        if (!events.isEmpty() && time < events.get(events.size() - 1)[0]) {
            problems.add(line, STEP_COLUMNS.get(0), fields.get(0), "is before the line above");
        }
        events.add(new long[] {time, allocated});
    }

    /** What is wrong becomes a problem, and the file is not used. */
    private long whole(int line, String column, String value) {
        if (!value.matches("\\d{1,18}")) {
            problems.add(line, column, value, "must be a whole number of 0 or more, of at most 18 digits");
            return 0;
        }
        return Long.parseLong(value);
    }

    private List<Series> step(List<long[]> events) {
        if (!problems.isEmpty()) {
            return List.of();
        }
        long first = events.get(0)[0];
        long length = events.get(events.size() - 1)[0] - first + 1;
        long[] most = new long[PARTS_OF_A_STEP];
        int part = 0;
        long allocated = events.get(0)[1];
        for (long[] event : events) {
            int of = (int) ((event[0] - first) * PARTS_OF_A_STEP / length);
            while (part < of) {
                part++;
                most[part] = allocated;
            }
            allocated = event[1];
            most[part] = Math.max(most[part], allocated);
        }
        List<MemoryBytes> values = new ArrayList<>();
        for (int i = 0; i < REPEATED * PARTS_OF_A_STEP; i++) {
            values.add(MemoryBytes.of(most[i % PARTS_OF_A_STEP]));
        }
        return List.of(new Series(String.valueOf(file.getFileName()), values, OptionalInt.of(PARTS_OF_A_STEP), false));
    }
}
