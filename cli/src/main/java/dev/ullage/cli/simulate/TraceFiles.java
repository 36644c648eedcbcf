package dev.ullage.cli.simulate;

import dev.ullage.cli.simulate.CsvTable.Row;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.DeviceRoom;
import dev.ullage.coordinator.planning.balance.NodeRoom;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import dev.ullage.coordinator.simulation.TraceJob;
import dev.ullage.coordinator.simulation.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Nodes and jobs in the columns of the Alibaba GPU trace of 2023 ("openb"). Nodes: {@code sn, cpu_milli, memory_mib,
 * gpu, model}. Jobs: {@code name, cpu_milli, memory_mib, num_gpu, gpu_milli} and, when they are there, {@code gpu_spec}
 * (models that will do, separated by "|"), {@code qos}, {@code pod_phase}, {@code creation_time},
 * {@code deletion_time}, {@code scheduled_time} (seconds).
 */
final class TraceFiles {
    private static final List<String> NODE = List.of("sn", "cpu_milli", "memory_mib", "gpu", "model");
    private static final List<String> JOB = List.of("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli");
    private static final List<String> JOB_MORE =
            List.of("gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time");
    private static final long MAX_CPU_MILLI = 10_000_000;
    private static final long MAX_MEMORY_MEBIBYTES = 1L << 30;
    private static final int MAX_DEVICES = 64;
    private static final long WHOLE_DEVICE = 1000;
    private static final long MAX_SECONDS = 10_000_000_000L;

    /** Classes of service: latency-sensitive and guaranteed, burstable, best effort. */
    private static final NavigableMap<String, Priority> CLASSES = new TreeMap<>(
            Map.of("LS", Priority.HIGH, "Guaranteed", Priority.HIGH, "Burstable", Priority.MEDIUM, "BE", Priority.LOW));

    private final Problems problems = new Problems();
    private final Set<String> models = new LinkedHashSet<>();

    /** @throws TraceException when anything at all is wrong in any of them */
    static List<Workload> read(Path nodeFile, List<Path> jobFiles) throws TraceException {
        TraceFiles files = new TraceFiles();
        List<NodeRoom> nodes = files.nodes(nodeFile);
        List<Workload> workloads = new ArrayList<>();
        Set<String> workloadNames = new LinkedHashSet<>();
        for (Path file : jobFiles) {
            if (!workloadNames.add(nameOf(file))) {
                files.problems.add("%s: another file makes a workload of this name, %s".formatted(file, nameOf(file)));
            }
            workloads.add(new Workload(nameOf(file), nodes, files.jobs(file)));
        }
        if (!files.problems.isEmpty()) {
            throw new TraceException(files.problems.text());
        }
        return workloads;
    }

    /** Nothing of the trace was used. */
    static final class TraceException extends Exception {
        private static final long serialVersionUID = 1L;

        TraceException(String message) {
            super(message);
        }
    }

    /** Of the published traces without what they have in common. */
    private static String nameOf(Path file) {
        return file.getFileName()
                .toString()
                .replaceFirst("(\\.csv)?(\\.gz)?$", "")
                .replaceFirst("^openb_pod_list_", "");
    }

    private List<NodeRoom> nodes(Path file) {
        List<NodeRoom> nodes = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        int before = problems.count();
        long devices = 0;
        for (Row row : CsvTable.read(file, NODE, List.of(), problems).rows()) {
            unique(row, "sn", names);
            Optional<NodeRoom> node = node(row);
            node.ifPresent(nodes::add);
            devices += node.map(found -> found.devices().size()).orElse(0);
        }
        if (devices == 0 && problems.count() == before) {
            problems.add(file + ": has no node with a device");
        }
        return nodes;
    }

    private Optional<NodeRoom> node(Row row) {
        Optional<Long> cpu = row.number("cpu_milli", 0, MAX_CPU_MILLI);
        Optional<Long> memory = row.number("memory_mib", 0, MAX_MEMORY_MEBIBYTES);
        Optional<Long> count = row.number("gpu", 0, MAX_DEVICES);
        String model = row.text("model");
        if (count.isPresent() && (count.orElseThrow() > 0) == model.isEmpty()) {
            row.bad("model", "must be named exactly where there are devices");
        }
        if (cpu.isEmpty() || memory.isEmpty() || count.isEmpty()) {
            return Optional.empty();
        }
        if (!model.isEmpty()) {
            models.add(model);
        }
        String name = row.text("sn");
        List<DeviceRoom> devices = new ArrayList<>();
        for (int i = 0; i < count.orElseThrow(); i++) {
            devices.add(DeviceRoom.wholeDevice(name + "/" + i));
        }
        return Optional.of(new NodeRoom(
                name,
                model,
                Math.toIntExact(cpu.orElseThrow()),
                MemoryBytes.ofMebibytes(memory.orElseThrow()),
                devices));
    }

    private List<TraceJob> jobs(Path file) {
        int before = problems.count();
        CsvTable table = CsvTable.read(file, JOB, JOB_MORE, problems);
        List<TraceJob> jobs = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        for (Row row : table.rows()) {
            unique(row, "name", names);
            OptionalLong ranFor = checkTheRest(table, row);
            request(row)
                    .ifPresent(
                            request -> jobs.add(new TraceJob(row.text("name"), request, priority(table, row), ranFor)));
        }
        if (jobs.stream().noneMatch(job -> job.request().devices() > 0) && problems.count() == before) {
            problems.add(file + ": has no job that asks for a device");
        }
        return jobs;
    }

    private Optional<PlacementRequest> request(Row row) {
        Optional<Long> cpu = row.number("cpu_milli", 0, MAX_CPU_MILLI);
        Optional<Long> memory = row.number("memory_mib", 0, MAX_MEMORY_MEBIBYTES);
        Optional<Long> devices = row.number("num_gpu", 0, MAX_DEVICES);
        Optional<Long> share = row.number("gpu_milli", 0, WHOLE_DEVICE);
        TreeSet<String> named = new TreeSet<>(models(row));
        if (cpu.isEmpty() || memory.isEmpty() || devices.isEmpty() || share.isEmpty()) {
            return Optional.empty();
        }
        if ((devices.orElseThrow() == 0) != (share.orElseThrow() == 0)) {
            row.bad("gpu_milli", "must be 0 exactly where num_gpu is, which is " + devices.orElseThrow());
            return Optional.empty();
        }
        return Optional.of(new PlacementRequest(
                Math.toIntExact(devices.orElseThrow()),
                share.orElseThrow(),
                Math.toIntExact(cpu.orElseThrow()),
                MemoryBytes.ofMebibytes(memory.orElseThrow()),
                named));
    }

    private List<String> models(Row row) {
        String text = row.text("gpu_spec");
        List<String> named = text.isEmpty() ? List.of() : List.of(text.split("\\|", -1));
        for (String model : named) {
            if (!models.contains(model)) {
                row.bad(
                        "gpu_spec",
                        "no node has the model \"%s\"; there are %s".formatted(Problems.shown(model), models));
            }
        }
        return named;
    }

    /** Medium where the trace does not say. */
    private static Priority priority(CsvTable table, Row row) {
        return table.has("qos") ? CLASSES.getOrDefault(row.text("qos"), Priority.MEDIUM) : Priority.MEDIUM;
    }

    /**
     * The columns that the arrivals do not need must be sound as well: a trace that is wrong there is wrong.
     *
     * @return seconds from the start to the end; a job that still ran when the trace ended ended with it
     */
    private static OptionalLong checkTheRest(CsvTable table, Row row) {
        if (table.has("qos") && !CLASSES.containsKey(row.text("qos"))) {
            row.bad("qos", "must be one of " + CLASSES.keySet());
        }
        Optional<Long> started =
                table.has("scheduled_time") && !row.text("scheduled_time").isEmpty()
                        ? row.number("scheduled_time", 0, MAX_SECONDS)
                        : Optional.empty();
        Optional<Long> created =
                table.has("creation_time") ? row.number("creation_time", 0, MAX_SECONDS) : Optional.empty();
        Optional<Long> deleted =
                table.has("deletion_time") ? row.number("deletion_time", 0, MAX_SECONDS) : Optional.empty();
        if (created.isPresent() && deleted.isPresent() && deleted.orElseThrow() < created.orElseThrow()) {
            row.bad("deletion_time", "must not be before creation_time, which is " + created.orElseThrow());
        }
        if (started.isPresent() && created.isPresent() && started.orElseThrow() < created.orElseThrow()) {
            row.bad("scheduled_time", "must not be before creation_time, which is " + created.orElseThrow());
        }
        if (started.isPresent() && deleted.isPresent() && started.orElseThrow() > deleted.orElseThrow()) {
            row.bad("scheduled_time", "must not be after deletion_time, which is " + deleted.orElseThrow());
        }
        boolean isKnown = started.isPresent() && deleted.isPresent() && deleted.orElseThrow() > started.orElseThrow();
        return isKnown ? OptionalLong.of(deleted.orElseThrow() - started.orElseThrow()) : OptionalLong.empty();
    }

    private static void unique(Row row, String column, Set<String> names) {
        String name = row.text(column);
        if (name.isEmpty() || !names.add(name)) {
            row.bad(column, name.isEmpty() ? "must not be empty" : "stands there twice");
        }
    }
}
