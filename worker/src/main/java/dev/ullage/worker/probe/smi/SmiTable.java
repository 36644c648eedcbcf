package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiGpu.Mig;
import dev.ullage.worker.probe.smi.SmiProcess.MigInstance;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The table that {@code nvidia-smi} prints without arguments; made for people, so only for looking at recordings. Pure;
 * one object reads one text.
 *
 * <p>It is a row of three lines per GPU, then the MIG instances, then the processes. Where a section begins is told by
 * its title, what a line is by its cells: widths and headings differ from driver to driver.
 */
final class SmiTable {
    private static final Pattern DRIVER =
            Pattern.compile("\\| *NVIDIA-SMI .*?(?:Driver|KMD) Version: *(\\S+) .*|\\| *NVIDIA-SMI (\\S+) .*");
    private static final Pattern GPU = Pattern.compile(
            "\\| +(\\d{1,6}) {1,4}(\\S.*?) +(?:On|Off|N/A|WDDM|TCC|MCDM|ERR!) *\\|([^|]*)\\|([^|]*)\\|");
    private static final Pattern BUS_ID = Pattern.compile(" *([0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+) .*");
    private static final Pattern USE = Pattern.compile(" *(.*?) +/ +(.*?) *");
    private static final Pattern INSTANCE =
            Pattern.compile("\\| +(\\d{1,6}) +(\\d{1,6}) +(\\d{1,6}) +(\\d{1,6}) *\\|([^|]*)\\|.*");
    private static final Pattern PROCESS = Pattern.compile("\\| +(\\d{1,6})(?: +(N/A|\\d{1,6}) +(N/A|\\d{1,6}))?"
            + " +(\\d{1,18}) +([A-Z][A-Z+]*) +(.*?) +"
            + "(N/A|\\[.*]|Not Supported|Insufficient Permissions|ERR!|\\S+) *\\|");

    private static final String FAULT = "ERR!";

    private enum Section {
        GPUS,
        INSTANCES,
        PROCESSES
    }

    /** Over the first line of a GPU, and over the third where the driver knows of MIG. */
    private static final String HEADING = "Bus-Id";

    private static final String MIG_HEADING = "MIG M.";

    private final Map<Integer, Row> rows = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();
    private Section section = Section.GPUS;
    private Optional<String> driver = Optional.empty();
    private Optional<Row> open = Optional.empty();
    private boolean isBeforeMig;
    private boolean listsProcesses;
    private boolean hasProcessSection;

    private SmiTable() {}

    /** What is known of one GPU so far. */
    private static final class Row {
        private SmiGpuId id;
        private SmiMemory memory = SmiMemory.NOT_PRINTED;
        private Optional<Boolean> mig = Optional.empty();
        private boolean isAtFault;
        private final List<SmiMigDevice> instances = new ArrayList<>();
        private final List<SmiProcess> processes = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();

        Row(int index) {
            id = new SmiGpuId(OptionalInt.of(index), Optional.empty(), Optional.empty(), Optional.empty());
        }
    }

    static boolean isOne(List<String> lines) {
        return lines.stream()
                .anyMatch(line -> DRIVER.matcher(line).matches()
                        || GPU.matcher(line).matches()
                        || line.startsWith("| MIG devices:")
                        || line.startsWith("| Processes:"));
    }

    /** Of several, as {@code nvidia-smi -l} prints them, the last. */
    static SmiReport parse(List<String> lines) {
        List<Integer> starts = IntStream.range(0, lines.size())
                .filter(at -> DRIVER.matcher(lines.get(at)).matches())
                .boxed()
                .toList();
        return starts.size() < 2
                ? parseOne(lines)
                : parseOne(lines.subList(starts.get(starts.size() - 1), lines.size()))
                        .with("the last of " + starts.size() + " tables is shown");
    }

    private static SmiReport parseOne(List<String> lines) {
        SmiTable table = new SmiTable();
        table.isBeforeMig = has(lines, HEADING) && !has(lines, MIG_HEADING);
        lines.forEach(table::read);
        table.problems.addAll(SmiOutput.errors(lines));
        if (isCutOff(lines)) {
            table.problems.add("the table is cut off: devices or processes may be missing");
        }
        if (table.hasProcessSection && !table.listsProcesses) {
            table.problems.add("the list of processes is empty and does not say that there are none, as in a container"
                    + " that may not see them; processes are unknown");
        }
        List<SmiGpu> gpus = table.rows.values().stream().map(table::gpu).toList();
        return new SmiReport(table.driver, gpus, table.listsProcesses, table.problems);
    }

    private static boolean has(List<String> lines, String heading) {
        return lines.stream().anyMatch(line -> line.startsWith("|") && line.contains(heading));
    }

    /** A whole one ends with a line of its frame. */
    private static boolean isCutOff(List<String> lines) {
        String last = lines.stream()
                .filter(line -> line.startsWith("|") || line.startsWith("+"))
                .reduce("", (before, line) -> line);
        return !last.matches("\\+-.*\\+");
    }

    private SmiGpu gpu(Row row) {
        Optional<List<SmiProcess>> processes = listsProcesses ? Optional.of(row.processes) : Optional.empty();
        Optional<Boolean> mig = row.mig.or(() -> isBeforeMig ? Optional.of(false) : Optional.empty());
        return new SmiGpu(row.id, row.memory, new Mig(mig, row.instances), processes, row.problems);
    }

    private void read(String line) {
        if (line.startsWith("| MIG devices:")) {
            section = Section.INSTANCES;
        } else if (line.startsWith("| Processes:")) {
            section = Section.PROCESSES;
            hasProcessSection = true;
        } else if (DRIVER.matcher(line).matches()) {
            readDriver(line);
        } else if (section == Section.GPUS) {
            readGpu(line);
        } else if (section == Section.INSTANCES) {
            readInstance(line);
        } else {
            readProcess(line);
        }
    }

    /** On WSL the tool and the driver have different versions; the driver's counts. */
    private void readDriver(String line) {
        Matcher found = DRIVER.matcher(line);
        if (found.matches()) {
            driver = Optional.ofNullable(found.group(1)).or(() -> Optional.ofNullable(found.group(2)));
        }
    }

    private void readGpu(String line) {
        Matcher first = GPU.matcher(line);
        if (first.matches()) {
            Row row = row(Integer.parseInt(first.group(1)));
            Matcher bus = BUS_ID.matcher(first.group(3));
            row.id = new SmiGpuId(
                    row.id.index(),
                    Optional.empty(),
                    Optional.of(first.group(2)),
                    bus.matches() ? Optional.of(bus.group(1)) : Optional.empty());
            row.isAtFault = first.group(4).contains(FAULT);
            open = Optional.of(row);
            return;
        }
        if (open.isEmpty() || !line.startsWith("|")) {
            open = Optional.empty();
            return;
        }
        List<String> cells = List.of(line.substring(1).split("\\|", -1));
        if (cells.size() == 4) {
            readUse(open.get(), cells);
        }
    }

    /** The second line of a GPU has its use, the third its MIG mode. */
    private static void readUse(Row row, List<String> cells) {
        String last = cells.get(2).strip();
        if (cells.get(0).isBlank()) {
            row.mig = SmiCsv.migMode(last);
            return;
        }
        Matcher use = USE.matcher(cells.get(1));
        row.memory = use.matches()
                ? SmiMemory.ofTable(SmiAmount.parse(use.group(1), ""), SmiAmount.parse(use.group(2), ""))
                : SmiMemory.unknown(SmiAmount.unknown(SmiAmount.words(cells.get(1))));
        if (cells.get(0).contains(FAULT)) {
            row.problems.add("ERR! is printed for fan, temperature or power");
        }
        if (row.isAtFault || last.contains(FAULT)) {
            row.problems.add(
                    "ERR! is printed for ECC or utilization: the device may be at fault, and such a one is shown"
                            + " with all of its memory free; what is used is unknown");
            row.memory = SmiMemory.ofTable(SmiAmount.unknown(FAULT), row.memory.total());
        }
    }

    private void readInstance(String line) {
        Matcher found = INSTANCE.matcher(line);
        if (!found.matches()) {
            return;
        }
        Matcher use = USE.matcher(found.group(5));
        SmiMemory memory = use.matches()
                ? SmiMemory.ofTable(SmiAmount.parse(use.group(1), ""), SmiAmount.parse(use.group(2), ""))
                : SmiMemory.unknown(SmiAmount.unknown(SmiAmount.words(found.group(5))));
        row(Integer.parseInt(found.group(1)))
                .instances
                .add(new SmiMigDevice(
                        Integer.parseInt(found.group(4)),
                        Optional.of(
                                new MigInstance(Integer.parseInt(found.group(2)), Integer.parseInt(found.group(3)))),
                        Optional.empty(),
                        Optional.empty(),
                        memory));
    }

    private void readProcess(String line) {
        if (line.contains("No running processes found")) {
            listsProcesses = true;
            return;
        }
        Matcher found = PROCESS.matcher(line);
        if (found.matches()) {
            listsProcesses = true;
            row(Integer.parseInt(found.group(1)))
                    .processes
                    .add(new SmiProcess(
                            Long.parseLong(found.group(4)),
                            found.group(6),
                            SmiAmount.parse(found.group(7), ""),
                            instance(found)));
        }
    }

    private static Optional<MigInstance> instance(Matcher process) {
        String gpu = process.group(2);
        String compute = process.group(3);
        if (gpu == null || compute == null || gpu.equals("N/A") || compute.equals("N/A")) {
            return Optional.empty();
        }
        return Optional.of(new MigInstance(Integer.parseInt(gpu), Integer.parseInt(compute)));
    }

    private Row row(int index) {
        return rows.computeIfAbsent(index, Row::new);
    }
}
