package dev.ullage.worker.probe;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * NVML's calls with Java's types: a return code and a value in place of out-parameters, and {@code FUNCTION_NOT_FOUND}
 * in place of a link error where the library is older than the call. Decides nothing and keeps no state but the
 * library.
 */
final class NvmlCalls {
    /** Room for processes that start between the question how many there are and the question which. */
    private static final int PROCESS_SLACK = 16;

    private static final int MAX_PROCESSES = 16_384;
    private static final int MAX_SIZING_ATTEMPTS = 4;

    private final NvmlLibrary library;

    NvmlCalls(NvmlLibrary library) {
        this.library = library;
    }

    /**
     * @param used bytes as NVML writes them, all bits set for "not available"
     * @param gpuInstance the MIG instance it is in, {@link NvmlLibrary#NO_INSTANCE} when in none or not told
     */
    record RawProcess(long pid, long used, int gpuInstance) {}

    /** How large a MIG instance is, in slices of its parent. */
    record RawAttributes(int gpuSlices, int computeSlices, long memoryMebibytes) {}

    /** An event; the handle is that of a whole device also when it concerns one instance. */
    record RawEvent(Optional<Pointer> device, long type, long data, int gpuInstance) {}

    /** Generations of the process calls, newest first. */
    enum ProcessCalls {
        V3("_v3"),
        V2("_v2"),
        V1("");

        private final String suffix;

        ProcessCalls(String suffix) {
            this.suffix = suffix;
        }

        private int entryBytes() {
            return this == V1 ? NvmlLibrary.PROCESS_V1_BYTES : NvmlLibrary.PROCESS_BYTES;
        }
    }

    /** Bytes as NVML writes them, unsigned. */
    record RawMemory(long total, long reserved, long free, long used) {}

    /** Limits on a cgroup's memory, unsigned bytes. */
    record RawLimits(long soft, long hard, long used) {}

    private interface ProcessCall {
        int list(Pointer device, IntByReference count, @Nullable Pointer infos);
    }

    NvmlAnswer<Boolean> initialise() {
        return ask("nvmlInit_v2", library::nvmlInit_v2, () -> true);
    }

    NvmlAnswer<Boolean> shutdown() {
        return ask("nvmlShutdown", library::nvmlShutdown, () -> true);
    }

    NvmlAnswer<String> driverVersion() {
        byte[] version = new byte[NvmlLibrary.VERSION_BUFFER_BYTES];
        return ask(
                "nvmlSystemGetDriverVersion",
                () -> library.nvmlSystemGetDriverVersion(version, version.length),
                () -> text(version));
    }

    NvmlAnswer<Integer> deviceCount() {
        IntByReference count = new IntByReference();
        return ask("nvmlDeviceGetCount_v2", () -> library.nvmlDeviceGetCount_v2(count), count::getValue);
    }

    NvmlAnswer<Pointer> handle(int index) {
        PointerByReference device = new PointerByReference();
        return ask(
                "nvmlDeviceGetHandleByIndex_v2",
                () -> library.nvmlDeviceGetHandleByIndex_v2(index, device),
                device::getValue);
    }

    NvmlAnswer<String> name(Pointer device) {
        byte[] name = new byte[NvmlLibrary.TEXT_BUFFER_BYTES];
        return ask("nvmlDeviceGetName", () -> library.nvmlDeviceGetName(device, name, name.length), () -> text(name));
    }

    NvmlAnswer<String> uuid(Pointer device) {
        byte[] uuid = new byte[NvmlLibrary.TEXT_BUFFER_BYTES];
        return ask("nvmlDeviceGetUUID", () -> library.nvmlDeviceGetUUID(device, uuid, uuid.length), () -> text(uuid));
    }

    NvmlAnswer<String> pciBusId(Pointer device) {
        NvmlLibrary.PciInfo pci = new NvmlLibrary.PciInfo();
        return ask(
                "nvmlDeviceGetPciInfo_v3", () -> library.nvmlDeviceGetPciInfo_v3(device, pci), () -> text(pci.busId));
    }

    NvmlAnswer<Boolean> migEnabled(Pointer device) {
        IntByReference current = new IntByReference();
        IntByReference pending = new IntByReference();
        return ask(
                "nvmlDeviceGetMigMode",
                () -> library.nvmlDeviceGetMigMode(device, current, pending),
                () -> current.getValue() != 0);
    }

    NvmlAnswer<RawMemory> memoryV2(Pointer device) {
        NvmlLibrary.MemoryV2 memory = NvmlLibrary.MemoryV2.create();
        return ask(
                "nvmlDeviceGetMemoryInfo_v2",
                () -> library.nvmlDeviceGetMemoryInfo_v2(device, memory),
                () -> new RawMemory(memory.total, memory.reserved, memory.free, memory.used));
    }

    /** In the answer {@code reserved} is 0, because version 1 counts it as used. */
    NvmlAnswer<RawMemory> memoryV1(Pointer device) {
        NvmlLibrary.MemoryV1 memory = new NvmlLibrary.MemoryV1();
        return ask(
                "nvmlDeviceGetMemoryInfo",
                () -> library.nvmlDeviceGetMemoryInfo(device, memory),
                () -> new RawMemory(memory.total, 0, memory.free, memory.used));
    }

    NvmlAnswer<Integer> maxMigDevices(Pointer device) {
        IntByReference count = new IntByReference();
        return ask(
                "nvmlDeviceGetMaxMigDeviceCount",
                () -> library.nvmlDeviceGetMaxMigDeviceCount(device, count),
                count::getValue);
    }

    NvmlAnswer<Pointer> migDevice(Pointer device, int index) {
        PointerByReference mig = new PointerByReference();
        return ask(
                "nvmlDeviceGetMigDeviceHandleByIndex",
                () -> library.nvmlDeviceGetMigDeviceHandleByIndex(device, index, mig),
                mig::getValue);
    }

    NvmlAnswer<Pointer> parentOf(Pointer mig) {
        PointerByReference device = new PointerByReference();
        return ask(
                "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
                () -> library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, device),
                device::getValue);
    }

    NvmlAnswer<Integer> gpuInstance(Pointer mig) {
        IntByReference id = new IntByReference();
        return ask("nvmlDeviceGetGpuInstanceId", () -> library.nvmlDeviceGetGpuInstanceId(mig, id), id::getValue);
    }

    NvmlAnswer<Integer> computeInstance(Pointer mig) {
        IntByReference id = new IntByReference();
        return ask(
                "nvmlDeviceGetComputeInstanceId", () -> library.nvmlDeviceGetComputeInstanceId(mig, id), id::getValue);
    }

    NvmlAnswer<RawAttributes> attributes(Pointer mig) {
        NvmlLibrary.Attributes attributes = new NvmlLibrary.Attributes();
        return ask(
                "nvmlDeviceGetAttributes_v2",
                () -> library.nvmlDeviceGetAttributes_v2(mig, attributes),
                () -> new RawAttributes(
                        attributes.gpuInstanceSliceCount,
                        attributes.computeInstanceSliceCount,
                        attributes.memorySizeMB));
    }

    NvmlAnswer<RawLimits> memoryLimits(Pointer device, String cgroup) {
        NvmlLibrary.GetMemoryLimits limits = new NvmlLibrary.GetMemoryLimits();
        limits.nameSpace = cgroup;
        return ask(
                "nvmlDeviceGetMemoryLimits_v1",
                () -> library.nvmlDeviceGetMemoryLimits_v1(device, limits),
                () -> new RawLimits(limits.softLimit, limits.hardLimit, limits.currentUsed));
    }

    NvmlAnswer<Boolean> setMemoryLimits(Pointer device, String cgroup, long soft, long hard) {
        NvmlLibrary.SetMemoryLimits limits = new NvmlLibrary.SetMemoryLimits();
        limits.nameSpace = cgroup;
        limits.softLimit = soft;
        limits.hardLimit = hard;
        return ask(
                "nvmlDeviceSetMemoryLimits_v1", () -> library.nvmlDeviceSetMemoryLimits_v1(device, limits), () -> true);
    }

    NvmlAnswer<Pointer> createEventSet() {
        PointerByReference set = new PointerByReference();
        return ask("nvmlEventSetCreate", () -> library.nvmlEventSetCreate(set), set::getValue);
    }

    NvmlAnswer<Boolean> registerXid(Pointer device, Pointer set) {
        return ask(
                "nvmlDeviceRegisterEvents",
                () -> library.nvmlDeviceRegisterEvents(device, NvmlLibrary.EVENT_XID, set),
                () -> true);
    }

    NvmlAnswer<RawEvent> waitForEvent(Pointer set, int timeoutMillis) {
        NvmlLibrary.EventData data = new NvmlLibrary.EventData();
        return ask(
                "nvmlEventSetWait_v2",
                () -> library.nvmlEventSetWait_v2(set, data, timeoutMillis),
                () -> new RawEvent(
                        Optional.ofNullable(data.device), data.eventType, data.eventData, data.gpuInstanceId));
    }

    NvmlAnswer<Boolean> freeEventSet(Pointer set) {
        return ask("nvmlEventSetFree", () -> library.nvmlEventSetFree(set), () -> true);
    }

    NvmlAnswer<List<RawProcess>> computeProcesses(ProcessCalls generation, Pointer device) {
        ProcessCall function =
                switch (generation) {
                    case V3 -> library::nvmlDeviceGetComputeRunningProcesses_v3;
                    case V2 -> library::nvmlDeviceGetComputeRunningProcesses_v2;
                    case V1 -> library::nvmlDeviceGetComputeRunningProcesses;
                };
        return processes("nvmlDeviceGetComputeRunningProcesses", generation, function, device);
    }

    NvmlAnswer<List<RawProcess>> graphicsProcesses(ProcessCalls generation, Pointer device) {
        ProcessCall function =
                switch (generation) {
                    case V3 -> library::nvmlDeviceGetGraphicsRunningProcesses_v3;
                    case V2 -> library::nvmlDeviceGetGraphicsRunningProcesses_v2;
                    case V1 -> library::nvmlDeviceGetGraphicsRunningProcesses;
                };
        return processes("nvmlDeviceGetGraphicsRunningProcesses", generation, function, device);
    }

    /** Asks how many, then which with room to spare, and again with more room while the list outgrows it. */
    private NvmlAnswer<List<RawProcess>> processes(
            String name, ProcessCalls generation, ProcessCall function, Pointer device) {
        String call = name + generation.suffix;
        IntByReference count = new IntByReference(0);
        NvmlAnswer<Integer> answer = ask(call, () -> function.list(device, count, null), count::getValue);
        if (answer.isSuccess()) {
            return NvmlAnswer.success(call, List.of());
        }
        for (int attempt = 0;
                attempt < MAX_SIZING_ATTEMPTS && answer.outcome() == NvmlReturn.INSUFFICIENT_SIZE;
                attempt++) {
            long wanted = Integer.toUnsignedLong(count.getValue()) + PROCESS_SLACK;
            int capacity = (int) Math.min(wanted, MAX_PROCESSES);
            Memory infos = new Memory((long) capacity * generation.entryBytes());
            infos.clear();
            count.setValue(capacity);
            answer = ask(call, () -> function.list(device, count, infos), count::getValue);
            if (answer.isSuccess()) {
                long found = Math.min(Integer.toUnsignedLong(count.getValue()), capacity);
                return NvmlAnswer.success(call, read(infos, (int) found, generation));
            }
        }
        return new NvmlAnswer<>(call, answer.outcome(), answer.failure(), Optional.empty());
    }

    private static List<RawProcess> read(Memory infos, int count, ProcessCalls generation) {
        List<RawProcess> processes = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long entry = (long) i * generation.entryBytes();
            int instance = generation == ProcessCalls.V1
                    ? NvmlLibrary.NO_INSTANCE
                    : infos.getInt(entry + NvmlLibrary.PROCESS_GPU_INSTANCE_OFFSET);
            processes.add(new RawProcess(
                    Integer.toUnsignedLong(infos.getInt(entry)),
                    infos.getLong(entry + NvmlLibrary.PROCESS_USED_OFFSET),
                    instance));
        }
        return processes;
    }

    private <T> NvmlAnswer<T> ask(String call, IntSupplier invocation, Supplier<T> value) {
        int code;
        try {
            code = invocation.getAsInt();
        } catch (UnsatisfiedLinkError e) {
            return NvmlAnswer.failed(
                    call, NvmlReturn.FUNCTION_NOT_FOUND.code(), "this driver's library does not have the call");
        }
        return code == NvmlReturn.SUCCESS.code()
                ? NvmlAnswer.success(call, value.get())
                : NvmlAnswer.failed(call, code, explanation(code));
    }

    private String explanation(int code) {
        try {
            String text = library.nvmlErrorString(code);
            return text == null ? "no text" : text;
        } catch (UnsatisfiedLinkError e) {
            return "no text";
        }
    }

    private static String text(byte[] buffer) {
        return Native.toString(buffer, StandardCharsets.UTF_8).strip();
    }
}
