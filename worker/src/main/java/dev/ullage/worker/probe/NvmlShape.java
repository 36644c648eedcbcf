package dev.ullage.worker.probe;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.worker.probe.NvmlCalls.ProcessCalls;
import dev.ullage.worker.probe.NvmlCalls.RawAttributes;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * What the answer of a call looks like where it is written down: the fields beside {@code fn} and {@code rc}.
 *
 * @param write puts an answer's value into fields
 * @param read takes it out of them again
 */
record NvmlShape<T>(BiConsumer<T, ObjectNode> write, Function<NvmlFields, T> read) {
    private static final int MAX_PROCESSES = 16_384;
    private static final String GPU_INSTANCE = "gpuInstance";
    private static final String USED = "usedGpuMemory";
    private static final String PROCESSES_FIELD = "procs";
    private static final String BARE_PIDS = "pids_as_returned";

    static final String COMPUTE = "nvmlDeviceGetComputeRunningProcesses";
    static final String GRAPHICS = "nvmlDeviceGetGraphicsRunningProcesses";
    static final String INIT = "nvmlInit_v2";
    static final String DRIVER = "nvmlSystemGetDriverVersion";
    static final String DEVICES = "nvmlDeviceGetCount_v2";
    static final String CARD = "nvmlDeviceGetHandleByIndex_v2";
    static final String SLICE = "nvmlDeviceGetMigDeviceHandleByIndex";
    static final String PARENT = "nvmlDeviceGetDeviceHandleFromMigDeviceHandle";
    static final String NAME_CALL = "nvmlDeviceGetName";
    static final String UUID_CALL = "nvmlDeviceGetUUID";
    static final String BUS_CALL = "nvmlDeviceGetPciInfo_v3";
    static final String MIG_MODE = "nvmlDeviceGetMigMode";
    static final String MEMORY_2 = "nvmlDeviceGetMemoryInfo_v2";
    static final String MEMORY_1 = "nvmlDeviceGetMemoryInfo";
    static final String MOST_SLICES = "nvmlDeviceGetMaxMigDeviceCount";
    static final String GPU_INSTANCE_CALL = "nvmlDeviceGetGpuInstanceId";
    static final String COMPUTE_INSTANCE_CALL = "nvmlDeviceGetComputeInstanceId";
    static final String ATTRIBUTES_CALL = "nvmlDeviceGetAttributes_v2";

    /** That it went well is all there is to say. */
    static final NvmlShape<Boolean> DONE = new NvmlShape<>((done, fields) -> {}, fields -> true);

    static final NvmlShape<String> VERSION = text("version");
    static final NvmlShape<String> NAME = text("name");
    static final NvmlShape<String> UUID = text("uuid");
    static final NvmlShape<String> BUS_ID = text("busId");
    static final NvmlShape<Integer> COUNT = number("count");
    static final NvmlShape<Integer> ID = number("id");
    static final NvmlShape<Boolean> MODE = new NvmlShape<>(
            (mode, fields) -> fields.put("current", mode ? 1 : 0), from -> from.number("current", 0) != 0);

    static final NvmlShape<RawMemory> MEMORY_V2 = new NvmlShape<>(
            (memory, fields) -> {
                writeMemory(memory, fields);
                put(fields, "reserved", memory.reserved());
            },
            from -> new RawMemory(
                    from.amount("total"), from.amount("reserved"), from.amount("free"), from.amount("used")));

    static final NvmlShape<RawMemory> MEMORY_V1 = new NvmlShape<>(
            NvmlShape::writeMemory,
            from -> new RawMemory(from.amount("total"), 0, from.amount("free"), from.amount("used")));

    static final NvmlShape<RawAttributes> ATTRIBUTES = new NvmlShape<>(
            (attributes, fields) -> fields.put("gpuSlices", attributes.gpuSlices())
                    .put("computeSlices", attributes.computeSlices())
                    .put("memoryMiB", attributes.memoryMebibytes()),
            from -> new RawAttributes(
                    from.number("gpuSlices", 0), from.number("computeSlices", 0), from.amount("memoryMiB")));

    static final NvmlShape<List<RawProcess>> PROCESSES =
            new NvmlShape<>(NvmlShape::writeProcesses, NvmlShape::readProcesses);

    /** By the C function; every call of a round of readings. */
    private static final Map<String, NvmlShape<?>> BY_FUNCTION = byFunction();

    private static Map<String, NvmlShape<?>> byFunction() {
        Map<String, NvmlShape<?>> shapes = new TreeMap<>(Map.of(
                INIT,
                DONE,
                CARD,
                DONE,
                SLICE,
                DONE,
                PARENT,
                DONE,
                DRIVER,
                VERSION,
                DEVICES,
                COUNT,
                MOST_SLICES,
                COUNT));
        shapes.putAll(Map.of(NAME_CALL, NAME, UUID_CALL, UUID, BUS_CALL, BUS_ID, MIG_MODE, MODE));
        shapes.putAll(Map.of(MEMORY_2, MEMORY_V2, MEMORY_1, MEMORY_V1, ATTRIBUTES_CALL, ATTRIBUTES));
        shapes.putAll(Map.of(GPU_INSTANCE_CALL, ID, COMPUTE_INSTANCE_CALL, ID));
        for (ProcessCalls generation : ProcessCalls.values()) {
            shapes.put(generation.named(COMPUTE), PROCESSES);
            shapes.put(generation.named(GRAPHICS), PROCESSES);
        }
        return Map.copyOf(shapes);
    }

    /** Empty for a function that is not called in a round of readings. */
    static Optional<NvmlShape<?>> of(String function) {
        return Optional.ofNullable(BY_FUNCTION.get(function));
    }

    /** Notes what is wrong with the fields, if anything is. */
    void check(NvmlFields from) {
        var unused = read.apply(from);
    }

    private static NvmlShape<String> text(String name) {
        return new NvmlShape<>((value, fields) -> fields.put(name, value), from -> from.text(name));
    }

    private static NvmlShape<Integer> number(String name) {
        return new NvmlShape<>((value, fields) -> fields.put(name, value), from -> from.number(name, 0));
    }

    private static void put(ObjectNode fields, String name, long unsigned) {
        if (unsigned >= 0) {
            fields.put(name, unsigned);
        } else {
            fields.put(name, new BigInteger(Long.toUnsignedString(unsigned)));
        }
    }

    private static void writeMemory(RawMemory memory, ObjectNode fields) {
        put(fields, "total", memory.total());
        put(fields, "free", memory.free());
        put(fields, "used", memory.used());
    }

    private static void writeProcesses(List<RawProcess> processes, ObjectNode fields) {
        ArrayNode list = fields.putArray(PROCESSES_FIELD);
        for (RawProcess process : processes) {
            ObjectNode one = list.addObject();
            one.put("pid", process.pid());
            put(one, USED, process.used());
            if (process.gpuInstance() != NvmlLibrary.NO_INSTANCE) {
                one.put(GPU_INSTANCE, process.gpuInstance());
            }
        }
    }

    /** A list of processes, or of bare pids: what people have left of a list that was garbage. */
    private static List<RawProcess> readProcesses(NvmlFields from) {
        List<RawProcess> processes = new ArrayList<>();
        if (from.node().has(BARE_PIDS)) {
            int count = from.size(BARE_PIDS, MAX_PROCESSES);
            for (int i = 0; i < count; i++) {
                if (!from.node().path(BARE_PIDS).path(i).isIntegralNumber()) {
                    from.wrong(BARE_PIDS, "a list of whole numbers");
                    return List.of();
                }
                processes.add(
                        new RawProcess(from.node().path(BARE_PIDS).path(i).longValue(), -1, NvmlLibrary.NO_INSTANCE));
            }
            return processes;
        }
        int count = from.size(PROCESSES_FIELD, MAX_PROCESSES);
        for (int i = 0; i < count; i++) {
            NvmlFields process = from.at(PROCESSES_FIELD, i);
            processes.add(new RawProcess(
                    process.amount("pid"),
                    process.amountOrNotAvailable(USED),
                    process.numberOr(GPU_INSTANCE, 0, NvmlLibrary.NO_INSTANCE)));
        }
        return processes;
    }
}
