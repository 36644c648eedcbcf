package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiGpu.Mig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code --query-gpu} and {@code --query-compute-apps} with {@code --format=csv}, read by the names in the header line.
 * Pure. Columns that are not known are ignored.
 *
 * <p>Written by hand because it is not the CSV that libraries read: nothing is quoted, so that a comma or a quote in
 * the name of a process stands there as it is. Cells end with a comma and a blank; those too many belong to the name.
 */
final class SmiCsv {
    private static final Pattern HEADING = Pattern.compile("([a-zA-Z][a-zA-Z0-9_.]*)(?: \\[([^\\]]*)\\])?");
    private static final List<String> NAMES =
            List.of("memory.total", "memory.used", "uuid", "gpu_uuid", "pid", "pci.bus_id", "gpu_bus_id");
    private static final String PROCESS_NAME = "process_name";
    private static final int MAX_PROBLEMS = 16;
    private static final int MAX_LINES_BEFORE = 200;
    private static final Pattern ENDS_IN_NUMBER = Pattern.compile(".*, ?\\d+");

    private final List<String> names = new ArrayList<>();
    private final List<String> units = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    private SmiCsv() {}

    /**
     * The lines as a report; empty if they have no header line of either query. Lines before that are a shell's.
     *
     * @param hasEnd whether the last line is a whole one
     */
    static Optional<SmiReport> parse(List<String> lines, boolean hasEnd) {
        SmiCsv csv = new SmiCsv();
        List<String> errors = SmiOutput.errors(lines);
        List<String> rows = lines.stream()
                .filter(line -> !line.isBlank() && !errors.contains(SmiAmount.words(line)))
                .toList();
        int header = 0;
        while (header < rows.size() && !csv.readHeader(rows.get(header))) {
            header++;
        }
        if (header >= Math.min(rows.size(), MAX_LINES_BEFORE)) {
            return Optional.empty();
        }
        csv.problems.addAll(errors);
        List<String> body = new ArrayList<>(rows.subList(header + 1, rows.size()));
        if (!hasEnd) {
            markCutOff(body);
        }
        return Optional.of(csv.names.contains("pid") ? csv.processes(body) : csv.gpus(body));
    }

    /** Without an end, {@code 15690 MiB} may stand there as {@code 1569}: it is not known. */
    private static void markCutOff(List<String> rows) {
        int last = rows.size() - 1;
        if (last >= 0 && ENDS_IN_NUMBER.matcher(rows.get(last)).matches()) {
            rows.set(last, rows.get(last) + "...");
        }
    }

    private boolean readHeader(String line) {
        names.clear();
        units.clear();
        for (String cell : line.split(", ?", -1)) {
            Matcher heading = HEADING.matcher(cell.strip());
            if (!heading.matches()) {
                return false;
            }
            names.add(heading.group(1));
            units.add(heading.group(2) == null ? "" : heading.group(2));
        }
        return names.stream().anyMatch(NAMES::contains);
    }

    private SmiReport gpus(List<String> rows) {
        List<SmiGpu> gpus = new ArrayList<>();
        Optional<String> driver = Optional.empty();
        for (String row : rows) {
            Optional<Map<String, String>> cells = cells(row);
            if (cells.isPresent()) {
                gpus.add(gpu(cells.get()));
                driver = driver.or(() -> text(cells.get(), "driver_version"));
            }
        }
        return new SmiReport(driver, gpus, false, problems);
    }

    private SmiGpu gpu(Map<String, String> cells) {
        SmiMemory memory = new SmiMemory(
                amount(cells, "memory.total"),
                amount(cells, "memory.reserved"),
                amount(cells, "memory.used"),
                amount(cells, "memory.free"));
        Optional<Boolean> mig =
                Optional.ofNullable(cells.get("mig.mode.current")).flatMap(SmiCsv::migMode);
        return new SmiGpu(id(cells), memory, new Mig(mig, List.of()), Optional.empty(), List.of());
    }

    /** A GPU that has no such mode says that it is not available; anything else is said by one that is not well. */
    static Optional<Boolean> migMode(String text) {
        return switch (text.replaceAll("[*\\[\\]]", "")) {
            case "Enabled" -> Optional.of(true);
            case "Disabled", "N/A", "Not Supported" -> Optional.of(false);
            default -> Optional.empty();
        };
    }

    private SmiReport processes(List<String> rows) {
        if (names.contains("max_memory_usage")) {
            return SmiReport.nothing("a list of accounted processes says nothing about memory held now");
        }
        Map<SmiGpuId, List<SmiProcess>> byGpu = new LinkedHashMap<>();
        for (String row : rows) {
            Optional<Map<String, String>> cells = cells(row);
            Optional<SmiProcess> process = cells.flatMap(this::process);
            if (process.isPresent()) {
                byGpu.computeIfAbsent(id(cells.orElseThrow()), id -> new ArrayList<>())
                        .add(process.get());
            }
        }
        List<SmiGpu> gpus = byGpu.entrySet().stream()
                .map(entry -> new SmiGpu(
                        entry.getKey(),
                        SmiMemory.NOT_PRINTED,
                        Mig.NOT_PRINTED,
                        Optional.of(entry.getValue()),
                        List.of()))
                .toList();
        return new SmiReport(Optional.empty(), gpus, true, problems);
    }

    private Optional<SmiProcess> process(Map<String, String> cells) {
        String pid = cells.getOrDefault("pid", "").strip();
        if (!pid.matches("\\d{1,18}")) {
            problem("a process without a process id is left out: '" + SmiAmount.words(pid) + "'");
            return Optional.empty();
        }
        SmiAmount used =
                cells.containsKey("used_gpu_memory") ? amount(cells, "used_gpu_memory") : amount(cells, "used_memory");
        String name = cells.getOrDefault(PROCESS_NAME, cells.getOrDefault("name", ""));
        return Optional.of(new SmiProcess(Long.parseLong(pid), name, used, Optional.empty()));
    }

    private SmiGpuId id(Map<String, String> cells) {
        String index = cells.getOrDefault("index", "");
        return new SmiGpuId(
                index.matches("\\d{1,6}") ? OptionalInt.of(Integer.parseInt(index)) : OptionalInt.empty(),
                text(cells, "uuid").or(() -> text(cells, "gpu_uuid")),
                (names.contains("pid") ? Optional.<String>empty() : text(cells, "name"))
                        .or(() -> text(cells, "gpu_name")),
                text(cells, "pci.bus_id").or(() -> text(cells, "gpu_bus_id")));
    }

    /** A cell's text, unless it is one of the tool's words for not known. */
    private static Optional<String> text(Map<String, String> cells, String name) {
        return Optional.ofNullable(cells.get(name)).flatMap(SmiCsv::unlessUnknown);
    }

    static Optional<String> unlessUnknown(String text) {
        String value = text.strip();
        boolean isUnknown = value.isEmpty() || value.startsWith("[") || value.equals("N/A") || value.equals("ERR!");
        return isUnknown ? Optional.empty() : Optional.of(value);
    }

    private SmiAmount amount(Map<String, String> cells, String name) {
        String value = cells.get(name);
        return value == null ? SmiAmount.NOT_PRINTED : SmiAmount.parse(value, units.get(names.indexOf(name)));
    }

    /** The cells of a row by their heading; of two columns with one heading the first counts. */
    private Optional<Map<String, String>> cells(String row) {
        List<String> cells = new ArrayList<>(List.of(row.split(", ", -1)));
        int surplus = cells.size() - names.size();
        int nameAt = names.indexOf(PROCESS_NAME);
        if (surplus > 0 && nameAt >= 0) {
            List<String> name = cells.subList(nameAt, nameAt + surplus + 1);
            String joined = String.join(", ", name);
            name.clear();
            cells.add(nameAt, joined);
        }
        if (cells.size() != names.size()) {
            problem("a row of %d cells under %d headings is left out: '%s'"
                    .formatted(cells.size(), names.size(), SmiAmount.words(row)));
            return Optional.empty();
        }
        Map<String, String> byName = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            byName.putIfAbsent(names.get(i), cells.get(i).strip());
        }
        return Optional.of(byName);
    }

    private void problem(String text) {
        if (problems.size() < MAX_PROBLEMS) {
            problems.add(text);
        }
    }
}
