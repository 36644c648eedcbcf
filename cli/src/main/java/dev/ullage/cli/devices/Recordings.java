package dev.ullage.cli.devices;

import dev.ullage.worker.probe.HostMemory;
import dev.ullage.worker.probe.NvmlRecording;
import dev.ullage.worker.probe.NvmlRecordingException;
import dev.ullage.worker.probe.smi.SmiDevices;
import dev.ullage.worker.probe.smi.SmiOutput;
import dev.ullage.worker.probe.smi.SmiReport;
import dev.ullage.worker.probe.smi.SmiReports;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Outputs of {@code nvidia-smi} that somebody kept, recordings of NVML, and {@code /proc/meminfo} beside them for
 * devices that share the host's memory.
 *
 * <p>In a folder the files whose names are the same up to the word for their kind ({@code a-query-gpu.csv} and
 * {@code a-compute-apps.csv}, or just {@code query-gpu.csv} and {@code meminfo.txt}) are of one machine at one time;
 * every other file stands for itself. A recording of NVML ({@code nvml.json}) is always shown by itself, for it may say
 * something else than the tool did on the same machine.
 */
final class Recordings {
    /** In the order of their exactness. */
    private static final List<String> KINDS =
            List.of("nvidia-smi-q-x", "compute-apps", "query-gpu", "nvidia-smi-L", "mig-table", "table", "meminfo");

    private static final Pattern KIND = Pattern.compile("(.*?)(?:query-)?(" + String.join("|", KINDS) + ").*");
    private static final Pattern NVML = Pattern.compile("(.*?)nvml[^/]*\\.json");
    private static final Pattern FILE = Pattern.compile(".*\\.(?:txt|csv|xml|log)|" + NVML.pattern());
    private static final int MAX_FILES = 2_000;
    /** Of files of any kind: a walk through a whole system takes hours. */
    private static final int MAX_ENTRIES = 50_000;

    private static final int MAX_BYTES = 16 << 20;

    private Recordings() {}

    /** @param failure why its text cannot be had; then the text is empty */
    private record Recording(Path file, String text, Optional<String> failure) {
        static Recording unreadable(Path file, String why) {
            return new Recording(file, "", Optional.of(why));
        }
    }

    static List<ShownSource> read(Path fileOrFolder) throws IOException {
        if (!Files.isDirectory(fileOrFolder)) {
            Recording recording = recording(fileOrFolder);
            String name = fileOrFolder.toString();
            return List.of(
                    isNvml(recording)
                            ? nvml(name, recording, Optional.empty())
                            : tool(name, List.of(recording), Optional.empty()));
        }
        // A link to a folder is meant as the folder; links in it are not followed, for they may lead around.
        Path folder = fileOrFolder.toRealPath();
        Map<String, List<Recording>> machines = new TreeMap<>();
        for (Path file : files(folder)) {
            machines.computeIfAbsent(machine(folder, file), name -> new ArrayList<>())
                    .add(recording(file));
        }
        return machines.values().stream()
                .flatMap(recordings -> sources(folder, recordings).stream())
                .toList();
    }

    /** By its content, for a single file may have any name. */
    private static boolean isNvml(Recording recording) {
        return String.valueOf(recording.file().getFileName()).endsWith(".json")
                || recording.text().stripLeading().startsWith("{");
    }

    private static List<ShownSource> sources(Path folder, List<Recording> machine) {
        Optional<HostMemory> host = machine.stream()
                .sorted(Comparator.comparingInt(Recordings::exactness))
                .flatMap(recording -> host(recording).stream())
                .findFirst();
        List<Recording> ofTool =
                machine.stream().filter(recording -> !isNvml(recording)).toList();
        List<Recording> ofNvml = machine.stream().filter(Recordings::isNvml).toList();
        List<ShownSource> sources = new ArrayList<>();
        if (ofNvml.isEmpty()
                || ofTool.stream().anyMatch(recording -> host(recording).isEmpty())) {
            sources.add(tool(name(folder, ofTool), ofTool, host));
        }
        ofNvml.forEach(recording -> sources.add(nvml(name(folder, List.of(recording)), recording, host)));
        return sources;
    }

    private static Optional<HostMemory> host(Recording recording) {
        return HostMemory.parse(recording.text().lines().toList());
    }

    private static ShownSource nvml(String name, Recording recording, Optional<HostMemory> host) {
        if (recording.failure().isPresent()) {
            return ShownSource.unreadable(name, List.of(recording.failure().get()));
        }
        try {
            return ShownSource.of(name, NvmlRecording.parse(recording.text()), host);
        } catch (NvmlRecordingException e) {
            return ShownSource.unreadable(name, e.problems());
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        AtomicInteger entries = new AtomicInteger();
        List<Path> found;
        try (Stream<Path> files = Files.walk(folder)) {
            found = files.takeWhile(file -> entries.incrementAndGet() <= MAX_ENTRIES)
                    .filter(file -> FILE.matcher(file.toString()).matches() && Files.isRegularFile(file))
                    .limit(MAX_FILES + 1L)
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            throw new IOException("a folder in it cannot be read: " + e.getMessage(), e);
        }
        if (found.size() > MAX_FILES) {
            throw new IOException("it has more than " + MAX_FILES + " files; name a folder in it");
        }
        if (entries.get() > MAX_ENTRIES) {
            throw new IOException("it has more than " + MAX_ENTRIES + " files of any kind; name a folder in it");
        }
        return found;
    }

    private static String machine(Path folder, Path file) {
        String last = String.valueOf(file.getFileName());
        Matcher nvml = NVML.matcher(last);
        Matcher kind = nvml.matches() ? nvml : KIND.matcher(last);
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

    /** One file that cannot be read does not keep the others of a folder from being shown. */
    private static Recording recording(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            // Of half a file the last figure may be half a figure.
            return bytes.length > MAX_BYTES
                    ? Recording.unreadable(file, "it is larger than " + (MAX_BYTES >> 20) + " MiB")
                    : new Recording(file, RecordedText.decode(bytes), Optional.empty());
        } catch (AccessDeniedException e) {
            return Recording.unreadable(file, "this user may not read it");
        } catch (IOException e) {
            return Recording.unreadable(file, "it cannot be read: " + e.getMessage());
        }
    }

    private static ShownSource tool(String name, List<Recording> recordings, Optional<HostMemory> hostOfMachine) {
        Optional<HostMemory> host = hostOfMachine;
        List<SmiReport> reports = new ArrayList<>();
        List<Recording> sorted = recordings.stream()
                .sorted(Comparator.comparingInt(Recordings::exactness))
                .toList();
        for (Recording recording : sorted) {
            Optional<HostMemory> memory = host(recording);
            host = host.or(() -> memory);
            if (memory.isEmpty()) {
                reports.add(recording
                        .failure()
                        .map(why -> new SmiReport(Optional.empty(), List.of(), false, List.of(why)))
                        .orElseGet(() -> SmiOutput.parse(recording.text())));
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
