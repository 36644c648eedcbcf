package dev.ullage.worker.probe;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a loaded library; {@code FUNCTION_NOT_FOUND} in place of a link error where it is older than the call.
 * Keeps no state but the library and how it puts its codes. Threads: any, NVML itself is thread safe; answers that are
 * asked for at every reading are written into memory that each thread has for that ({@link NvmlScratch}).
 */
final class NativeNvmlCalls implements NvmlCalls {
    /** Room for processes that start between one question and the next. */
    private static final int PROCESS_SLACK = 16;

    private static final int MAX_PROCESSES = 16_384;
    private static final int MAX_SIZING_ATTEMPTS = 5;

    /** No code of NVML: the library does not have the call. */
    private static final int ABSENT = Integer.MIN_VALUE;

    private static final String MIG_MODE = "nvmlDeviceGetMigMode";
    private static final String MEMORY_V2 = "nvmlDeviceGetMemoryInfo_v2";
    private static final Map<ProcessCalls, String> COMPUTE_PROCESSES = named("nvmlDeviceGetComputeRunningProcesses");
    private static final Map<ProcessCalls, String> GRAPHICS_PROCESSES = named("nvmlDeviceGetGraphicsRunningProcesses");

    /** Of the functions that are called for each device at each reading; where the library has none, that says so. */
    private static final DirectFunction NOT_THERE = (device, first, second) -> ABSENT;

    private final NvmlLibrary library;

    private final Function<String, DirectFunction> finder;

    private final Map<String, DirectFunction> functions = new ConcurrentHashMap<>();

    /** By call, and then by device. */
    private final Map<String, Map<NvmlHandle, KnownList>> lists = new ConcurrentHashMap<>();

    /** By code, as the library puts it: a card without MIG says so at every reading. */
    private final Map<Integer, String> explanations = new ConcurrentHashMap<>();

    /** @param finder finds a function by its name in the same library, or throws {@link UnsatisfiedLinkError} */
    NativeNvmlCalls(NvmlLibrary library, Function<String, DirectFunction> finder) {
        this.library = library;
        this.finder = finder;
    }

    private static Map<ProcessCalls, String> named(String function) {
        Map<ProcessCalls, String> names = new EnumMap<>(ProcessCalls.class);
        for (ProcessCalls generation : ProcessCalls.values()) {
            names.put(generation, generation.named(function));
        }
        return names;
    }

    /**
     * The last list of a device: most readings find the same processes with the same memory, byte for byte.
     *
     * @param bytes as the driver wrote them
     * @param processes what they say
     */
    private record KnownList(ByteBuffer bytes, List<RawProcess> processes) {}

    @Override
    public NvmlAnswer<Boolean> initialise() {
        return ask("nvmlInit_v2", library::nvmlInit_v2, () -> true);
    }

    @Override
    public NvmlAnswer<Boolean> shutdown() {
        return ask("nvmlShutdown", library::nvmlShutdown, () -> true);
    }

    @Override
    public NvmlAnswer<String> driverVersion() {
        byte[] version = new byte[NvmlLibrary.VERSION_BUFFER_BYTES];
        return ask(
                "nvmlSystemGetDriverVersion",
                () -> library.nvmlSystemGetDriverVersion(version, version.length),
                () -> text(version));
    }

    @Override
    public NvmlAnswer<Integer> deviceCount() {
        IntByReference count = new IntByReference();
        return ask("nvmlDeviceGetCount_v2", () -> library.nvmlDeviceGetCount_v2(count), count::getValue);
    }

    @Override
    public NvmlAnswer<NvmlHandle> handle(int index) {
        PointerByReference device = new PointerByReference();
        return ask(
                "nvmlDeviceGetHandleByIndex_v2",
                () -> library.nvmlDeviceGetHandleByIndex_v2(index, device),
                () -> handle(device));
    }

    @Override
    public NvmlAnswer<String> name(NvmlHandle device) {
        byte[] name = new byte[NvmlLibrary.TEXT_BUFFER_BYTES];
        return ask(
                "nvmlDeviceGetName",
                () -> library.nvmlDeviceGetName(pointer(device), name, name.length),
                () -> text(name));
    }

    @Override
    public NvmlAnswer<String> uuid(NvmlHandle device) {
        byte[] uuid = new byte[NvmlLibrary.TEXT_BUFFER_BYTES];
        return ask(
                "nvmlDeviceGetUUID",
                () -> library.nvmlDeviceGetUUID(pointer(device), uuid, uuid.length),
                () -> text(uuid));
    }

    @Override
    public NvmlAnswer<String> pciBusId(NvmlHandle device) {
        NvmlLibrary.PciInfo pci = new NvmlLibrary.PciInfo();
        return ask(
                "nvmlDeviceGetPciInfo_v3",
                () -> library.nvmlDeviceGetPciInfo_v3(pointer(device), pci),
                () -> text(pci.busId));
    }

    @Override
    public NvmlAnswer<Boolean> migEnabled(NvmlHandle device) {
        NvmlScratch scratch = NvmlScratch.ofThisThread();
        int code = function(MIG_MODE)
                .call(
                        device.address(),
                        scratch.number().address(),
                        scratch.other().address());
        return code == NvmlReturn.SUCCESS.code()
                ? NvmlAnswer.success(MIG_MODE, scratch.number().bytes().getInt(0) != 0)
                : failed(MIG_MODE, code);
    }

    @Override
    public NvmlAnswer<RawMemory> memoryV2(NvmlHandle device) {
        NvmlScratch.Block memory = NvmlScratch.ofThisThread().memoryV2();
        int code = function(MEMORY_V2).call(device.address(), memory.address(), 0);
        ByteBuffer told = memory.bytes();
        return code == NvmlReturn.SUCCESS.code()
                ? NvmlAnswer.success(
                        MEMORY_V2,
                        new RawMemory(
                                told.getLong(NvmlLibrary.MEMORY_V2_TOTAL_OFFSET),
                                told.getLong(NvmlLibrary.MEMORY_V2_RESERVED_OFFSET),
                                told.getLong(NvmlLibrary.MEMORY_V2_FREE_OFFSET),
                                told.getLong(NvmlLibrary.MEMORY_V2_USED_OFFSET)))
                : failed(MEMORY_V2, code);
    }

    @Override
    public NvmlAnswer<RawMemory> memoryV1(NvmlHandle device) {
        NvmlLibrary.MemoryV1 memory = new NvmlLibrary.MemoryV1();
        return ask(
                "nvmlDeviceGetMemoryInfo",
                () -> library.nvmlDeviceGetMemoryInfo(pointer(device), memory),
                () -> new RawMemory(memory.total, 0, memory.free, memory.used));
    }

    @Override
    public NvmlAnswer<Integer> maxMigDevices(NvmlHandle device) {
        IntByReference count = new IntByReference();
        return ask(
                "nvmlDeviceGetMaxMigDeviceCount",
                () -> library.nvmlDeviceGetMaxMigDeviceCount(pointer(device), count),
                count::getValue);
    }

    @Override
    public NvmlAnswer<NvmlHandle> migDevice(NvmlHandle device, int index) {
        PointerByReference mig = new PointerByReference();
        return ask(
                "nvmlDeviceGetMigDeviceHandleByIndex",
                () -> library.nvmlDeviceGetMigDeviceHandleByIndex(pointer(device), index, mig),
                () -> handle(mig));
    }

    @Override
    public NvmlAnswer<NvmlHandle> parentOf(NvmlHandle mig) {
        PointerByReference device = new PointerByReference();
        return ask(
                "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
                () -> library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(pointer(mig), device),
                () -> handle(device));
    }

    @Override
    public NvmlAnswer<Integer> gpuInstance(NvmlHandle mig) {
        IntByReference id = new IntByReference();
        return ask(
                "nvmlDeviceGetGpuInstanceId", () -> library.nvmlDeviceGetGpuInstanceId(pointer(mig), id), id::getValue);
    }

    @Override
    public NvmlAnswer<Integer> computeInstance(NvmlHandle mig) {
        IntByReference id = new IntByReference();
        return ask(
                "nvmlDeviceGetComputeInstanceId",
                () -> library.nvmlDeviceGetComputeInstanceId(pointer(mig), id),
                id::getValue);
    }

    @Override
    public NvmlAnswer<RawAttributes> attributes(NvmlHandle mig) {
        NvmlLibrary.Attributes attributes = new NvmlLibrary.Attributes();
        return ask(
                "nvmlDeviceGetAttributes_v2",
                () -> library.nvmlDeviceGetAttributes_v2(pointer(mig), attributes),
                () -> new RawAttributes(
                        attributes.gpuInstanceSliceCount,
                        attributes.computeInstanceSliceCount,
                        attributes.memorySizeMB));
    }

    @Override
    public NvmlAnswer<RawLimits> memoryLimits(NvmlHandle device, String cgroup) {
        NvmlLibrary.GetMemoryLimits limits = new NvmlLibrary.GetMemoryLimits();
        limits.nameSpace = cgroup;
        return ask(
                "nvmlDeviceGetMemoryLimits_v1",
                () -> library.nvmlDeviceGetMemoryLimits_v1(pointer(device), limits),
                () -> new RawLimits(limits.softLimit, limits.hardLimit, limits.currentUsed));
    }

    @Override
    public NvmlAnswer<Boolean> setMemoryLimits(NvmlHandle device, String cgroup, long soft, long hard) {
        NvmlLibrary.SetMemoryLimits limits = new NvmlLibrary.SetMemoryLimits();
        limits.nameSpace = cgroup;
        limits.softLimit = soft;
        limits.hardLimit = hard;
        return ask(
                "nvmlDeviceSetMemoryLimits_v1",
                () -> library.nvmlDeviceSetMemoryLimits_v1(pointer(device), limits),
                () -> true);
    }

    @Override
    public NvmlAnswer<NvmlHandle> createEventSet() {
        PointerByReference set = new PointerByReference();
        return ask("nvmlEventSetCreate", () -> library.nvmlEventSetCreate(set), () -> handle(set));
    }

    @Override
    public NvmlAnswer<Boolean> registerXid(NvmlHandle device, NvmlHandle set) {
        return ask(
                "nvmlDeviceRegisterEvents",
                () -> library.nvmlDeviceRegisterEvents(pointer(device), NvmlLibrary.EVENT_XID, pointer(set)),
                () -> true);
    }

    @Override
    public NvmlAnswer<RawEvent> waitForEvent(NvmlHandle set, int timeoutMillis) {
        NvmlLibrary.EventData data = new NvmlLibrary.EventData();
        return ask(
                "nvmlEventSetWait_v2",
                () -> library.nvmlEventSetWait_v2(pointer(set), data, timeoutMillis),
                () -> new RawEvent(
                        Optional.ofNullable(data.device).map(NativeNvmlCalls::handle),
                        data.eventType,
                        data.eventData,
                        data.gpuInstanceId));
    }

    @Override
    public NvmlAnswer<Boolean> freeEventSet(NvmlHandle set) {
        return ask("nvmlEventSetFree", () -> library.nvmlEventSetFree(pointer(set)), () -> true);
    }

    @Override
    public NvmlAnswer<List<RawProcess>> computeProcesses(ProcessCalls generation, NvmlHandle device) {
        return processes(Objects.requireNonNull(COMPUTE_PROCESSES.get(generation)), generation, device);
    }

    @Override
    public NvmlAnswer<List<RawProcess>> graphicsProcesses(ProcessCalls generation, NvmlHandle device) {
        return processes(Objects.requireNonNull(GRAPHICS_PROCESSES.get(generation)), generation, device);
    }

    /**
     * Asks which there are, with as much room as an answer took before and some to spare, and again with more room
     * while the list outgrows it.
     */
    private NvmlAnswer<List<RawProcess>> processes(String call, ProcessCalls generation, NvmlHandle device) {
        DirectFunction function = function(call);
        NvmlScratch scratch = NvmlScratch.ofThisThread();
        int capacity = Math.min(scratch.listBytes() / entryBytes(generation), MAX_PROCESSES);
        int code = NvmlReturn.INSUFFICIENT_SIZE.code();
        for (int attempt = 0; attempt < MAX_SIZING_ATTEMPTS && code == NvmlReturn.INSUFFICIENT_SIZE.code(); attempt++) {
            NvmlScratch.Block infos = scratch.clearedList(capacity * entryBytes(generation));
            NvmlScratch.Block count = scratch.number();
            count.bytes().putInt(0, capacity);
            code = function.call(device.address(), count.address(), infos.address());
            long found = Integer.toUnsignedLong(count.bytes().getInt(0));
            if (code == NvmlReturn.SUCCESS.code()) {
                int entries = (int) Math.min(found, capacity);
                ByteBuffer answer = infos.bytes().slice(0, entries * entryBytes(generation));
                return NvmlAnswer.success(call, read(call, device, answer, generation));
            }
            capacity = (int) Math.min(found + PROCESS_SLACK, MAX_PROCESSES);
        }
        return failed(call, code);
    }

    private DirectFunction function(String name) {
        DirectFunction known = functions.get(name);
        return known != null ? known : functions.computeIfAbsent(name, this::find);
    }

    private DirectFunction find(String name) {
        try {
            return finder.apply(name);
        } catch (UnsatisfiedLinkError e) {
            return NOT_THERE;
        }
    }

    private static int entryBytes(ProcessCalls generation) {
        return generation == ProcessCalls.V1 ? NvmlLibrary.PROCESS_V1_BYTES : NvmlLibrary.PROCESS_BYTES;
    }

    /** The very list of the last time where nothing differs, so that what was made of it need not be made again. */
    private List<RawProcess> read(String call, NvmlHandle device, ByteBuffer answer, ProcessCalls generation) {
        Map<NvmlHandle, KnownList> ofCall = lists.computeIfAbsent(call, key -> new ConcurrentHashMap<>());
        KnownList known = ofCall.get(device);
        if (known != null && known.bytes().equals(answer)) {
            return known.processes();
        }
        byte[] copy = new byte[answer.remaining()];
        answer.get(0, copy);
        List<RawProcess> processes = read(answer.order(ByteOrder.nativeOrder()), generation);
        ofCall.put(device, new KnownList(ByteBuffer.wrap(copy), processes));
        return processes;
    }

    private static List<RawProcess> read(ByteBuffer infos, ProcessCalls generation) {
        List<RawProcess> processes = new ArrayList<>();
        for (int entry = 0; entry < infos.limit(); entry += entryBytes(generation)) {
            int instance = generation == ProcessCalls.V1
                    ? NvmlLibrary.NO_INSTANCE
                    : infos.getInt(entry + NvmlLibrary.PROCESS_GPU_INSTANCE_OFFSET);
            processes.add(new RawProcess(
                    Integer.toUnsignedLong(infos.getInt(entry)),
                    infos.getLong(entry + NvmlLibrary.PROCESS_USED_OFFSET),
                    instance));
        }
        return List.copyOf(processes);
    }

    private <T> NvmlAnswer<T> ask(String call, IntSupplier invocation, Supplier<T> value) {
        int code = invoke(invocation);
        return code == NvmlReturn.SUCCESS.code() ? NvmlAnswer.success(call, value.get()) : failed(call, code);
    }

    /** The call's own code, or what a library without it would answer. */
    private static int invoke(IntSupplier invocation) {
        try {
            return invocation.getAsInt();
        } catch (UnsatisfiedLinkError e) {
            return ABSENT;
        }
    }

    private <T> NvmlAnswer<T> failed(String call, int code) {
        return code == ABSENT
                ? NvmlAnswer.failed(
                        call, NvmlReturn.FUNCTION_NOT_FOUND.code(), "this driver's library does not have the call")
                : NvmlAnswer.failed(call, code, explanation(code));
    }

    private String explanation(int code) {
        String known = explanations.get(code);
        return known != null ? known : explanations.computeIfAbsent(code, this::inWords);
    }

    private String inWords(int code) {
        try {
            String text = library.nvmlErrorString(code);
            return text == null ? "no text" : text;
        } catch (UnsatisfiedLinkError e) {
            return "no text";
        }
    }

    private static Pointer pointer(NvmlHandle handle) {
        return new Pointer(handle.address());
    }

    private static NvmlHandle handle(PointerByReference reference) {
        return handle(reference.getValue());
    }

    private static NvmlHandle handle(@Nullable Pointer pointer) {
        return new NvmlHandle(Pointer.nativeValue(pointer));
    }

    private static String text(byte[] buffer) {
        return Native.toString(buffer, StandardCharsets.UTF_8).strip();
    }
}
