package dev.ullage.cli.devices;

import dev.ullage.worker.probe.HostMemory;
import dev.ullage.worker.probe.smi.SmiDevices;
import dev.ullage.worker.probe.smi.SmiOutput;
import dev.ullage.worker.probe.smi.SmiReport;
import dev.ullage.worker.probe.smi.SmiReports;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Outputs of {@code nvidia-smi} that somebody kept, and {@code /proc/meminfo} beside them for devices that share the
 * host's memory.
 *
 * <p>In a folder the files whose names are the same up to the word for their kind ({@code a-query-gpu.csv} and
 * {@code a-compute-apps.csv}, or just {@code query-gpu.csv} and {@code meminfo.txt}) are of one machine at one time;
 * every other file stands for itself.
 */
final class Recordings {
    /** In the order of their exactness. */
    private static final List<String> KINDS =
            List.of("nvidia-smi-q-x", "compute-apps", "query-gpu", "nvidia-smi-L", "mig-table", "table", "meminfo");

    private static final Pattern KIND = Pattern.compile("(.*?)(?:query-)?(" + String.join("|", KINDS) + ").*");
    private static final Pattern FILE = Pattern.compile(".*\\.(?:txt|csv|xml|log)");
    private static final int MAX_FILES = 2_000;
    private static final int MAX_BYTES = 16 << 20;

    private Recordings() {}

    private record Recording(Path file, String text) {}

    static List<ShownSource> read(Path fileOrFolder) throws IOException {
        if (!Files.isDirectory(fileOrFolder)) {
            return List.of(source(fileOrFolder.toString(), List.of(recording(fileOrFolder))));
        }
        Map<String, List<Recording>> machines = new TreeMap<>();
        for (Path file : files(fileOrFolder)) {
            machines.computeIfAbsent(machine(fileOrFolder, file), name -> new ArrayList<>())
                    .add(recording(file));
        }
        return machines.entrySet().stream()
                .map(entry -> source(name(fileOrFolder, entry.getValue()), entry.getValue()))
                .toList();
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> FILE.matcher(file.toString()).matches() && Files.isRegularFile(file))
                    .sorted()
                    .limit(MAX_FILES)
                    .toList();
        }
    }

    private static String machine(Path folder, Path file) {
        Matcher kind = KIND.matcher(String.valueOf(file.getFileName()));
        String place = folder.relativize(file).toString();
        return kind.matches() ? place.substring(0, place.length() - kind.group().length()) + kind.group(1) : place;
    }

    private static String name(Path folder, List<Recording> recordings) {
        return String.join(
                " + ",
                recordings.stream()
                        .map(recording -> folder.relativize(recording.file()).toString())
                        .toList());
    }

    private static Recording recording(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new Recording(file, new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8));
        }
    }

    private static ShownSource source(String name, List<Recording> recordings) {
        Optional<HostMemory> host = Optional.empty();
        List<SmiReport> reports = new ArrayList<>();
        List<Recording> sorted = recordings.stream()
                .sorted(Comparator.comparingInt(Recordings::exactness))
                .toList();
        for (Recording recording : sorted) {
            Optional<HostMemory> memory =
                    HostMemory.parse(recording.text().lines().toList());
            host = host.or(() -> memory);
            if (memory.isEmpty()) {
                reports.add(SmiOutput.parse(recording.text()));
            }
        }
        SmiReport report = SmiReports.join(reports);
        return ShownSource.of(name, report, SmiDevices.of(report, host));
    }

    private static int exactness(Recording recording) {
        Matcher kind = KIND.matcher(String.valueOf(recording.file().getFileName()));
        return kind.matches() ? KINDS.indexOf(kind.group(2)) : 0;
    }
}
