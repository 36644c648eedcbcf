package dev.ullage.cli.estimate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.coordinator.http.JsonFault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** Files with measurements, each known by its columns or its shape; a folder stands for the files in it. */
final class MeasurementFiles {
    private static final String MEGATRON_TABLE = "megatron_golden_memory.csv";
    private static final String MEGATRON_SETTINGS = "megatron_config_fields.json";
    private static final JsonMapper MAPPER = new JsonMapper();

    private final List<Map<String, String>> megatron = new ArrayList<>();
    private final List<Map<String, String>> published = new ArrayList<>();
    private final List<Map<String, String>> peft = new ArrayList<>();
    private final List<List<String>> logs = new ArrayList<>();
    private final Map<String, JsonNode> phases = new TreeMap<>();
    private final Map<String, Map<String, String>> megatronSettings = new TreeMap<>();
    private final Map<String, Map<String, String>> megatronByPath = new TreeMap<>();

    static Samples read(List<Path> paths) throws CommandFailure {
        MeasurementFiles files = new MeasurementFiles();
        try {
            for (Path path : paths) {
                files.addAll(path);
            }
            files.addNeighbours(paths);
            return files.samples();
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "cannot read measurements: " + e, e);
        }
    }

    private void addAll(Path path) throws IOException, CommandFailure {
        if (!Files.isDirectory(path)) {
            add(path);
            return;
        }
        List<Path> inside;
        try (Stream<Path> list = Files.list(path)) {
            inside = list.filter(file -> file.toString().matches(".*\\.(csv|json|txt)(\\.gz)?"))
                    .sorted()
                    .toList();
        }
        for (Path file : inside) {
            add(file);
        }
    }

    private void add(Path file) throws IOException, CommandFailure {
        if (!Files.isReadable(file)) {
            throw new CommandFailure(ExitCode.FAILED, "no such file, or not readable: " + file);
        }
        if (nameOf(file).endsWith(".json")) {
            addJson(file);
            return;
        }
        if (nameOf(file).endsWith(".txt")) {
            addLog(file);
            return;
        }
        List<Map<String, String>> rows = table(file);
        if (rows.stream().anyMatch(MegatronRows::isTable)) {
            megatron.addAll(rows);
            index(rows);
        } else if (rows.stream().anyMatch(PlannerRows::isTable)) {
            published.addAll(rows);
        } else if (rows.stream().anyMatch(PeftTable::isTable)) {
            peft.addAll(rows);
        } else {
            throw unknown(
                    file,
                    "its columns are neither those of a Megatron table nor of published peaks nor of PEFT's runs");
        }
    }

    private void addLog(Path file) throws IOException, CommandFailure {
        List<String> lines;
        try (InputStream in = open(file)) {
            lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
        if (!RankLogs.isOne(lines)) {
            throw unknown(file, "no line of it says what a rank of Megatron-LM held at most");
        }
        logs.add(lines);
    }

    private void addJson(Path file) throws IOException, CommandFailure {
        JsonNode root;
        try (InputStream in = open(file)) {
            root = MAPPER.readTree(in);
        } catch (JsonProcessingException e) {
            throw unknown(file, "it is not JSON: " + JsonFault.text(e));
        }
        if (root.isArray() && root.path(0).has("test_case")) {
            root.forEach(this::addSettings);
        } else if (PhaseFile.isOne(root)) {
            phases.put(file.getFileName().toString(), root);
        } else {
            throw unknown(file, "it is neither settings of Megatron's tests nor memory of ranks in phases");
        }
    }

    private static CommandFailure unknown(Path file, String why) {
        return new CommandFailure(ExitCode.FAILED, "cannot use " + file + ": " + why);
    }

    private void addSettings(JsonNode test) {
        Map<String, String> settings = new TreeMap<>();
        test.properties()
                .forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        megatronSettings.putIfAbsent(settings.getOrDefault("test_case", ""), settings);
    }

    private void index(List<Map<String, String>> rows) {
        rows.forEach(row -> megatronByPath.putIfAbsent(row.getOrDefault("source_path", ""), row));
    }

    /** Settings that lie beside a table belong to it, and a table to published rows that name its tests. */
    private void addNeighbours(List<Path> paths) throws IOException, CommandFailure {
        for (Path path : paths) {
            for (String ending : List.of("", ".gz")) {
                Path settings = path.resolveSibling(MEGATRON_SETTINGS + ending);
                if (megatronSettings.isEmpty() && Files.isReadable(settings)) {
                    addJson(settings);
                }
                Path table = path.resolveSibling(MEGATRON_TABLE + ending);
                if (megatronByPath.isEmpty() && !published.isEmpty() && Files.isReadable(table)) {
                    index(table(table));
                }
            }
        }
    }

    private Samples samples() throws IOException {
        Samples samples = new Samples();
        MegatronRows.read(megatron, megatronSettings, samples);
        PlannerRows rows = new PlannerRows(Tables.knownModels(), megatronByPath, megatronSettings);
        rows.read(published, samples);
        rows.read(
                peft.stream()
                        .flatMap(row -> PeftTable.published(row, samples).stream())
                        .toList(),
                samples);
        RankLogs ranks = new RankLogs(Tables.knownModels(), samples);
        logs.forEach(ranks::read);
        phases.forEach((name, root) -> PhaseFile.read(name, root, samples));
        return samples;
    }

    private static List<Map<String, String>> table(Path file) throws IOException {
        try (InputStream in = open(file)) {
            return Tables.read(in);
        }
    }

    private static String nameOf(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return name.endsWith(".gz") ? name.substring(0, name.length() - 3) : name;
    }

    private static InputStream open(Path file) throws IOException {
        InputStream in = Files.newInputStream(file);
        return file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
    }
}
