package dev.ullage.worker.probe;

import java.util.List;
import java.util.Optional;

/**
 * The calls of NVML that Ullage makes, with Java's types: a return code and a value in place of out-parameters. Decides
 * nothing. A library answers ({@link NativeNvmlCalls}), one that is also written down ({@link NvmlRecorder}), or what
 * was written down ({@link RecordedNvmlCalls}); whoever asks cannot tell. Threads: any.
 */
interface NvmlCalls {
    /**
     * @param used bytes as NVML writes them, all bits set for "not available"
     * @param gpuInstance the MIG instance it is in, {@link NvmlLibrary#NO_INSTANCE} when in none or not told
     */
    record RawProcess(long pid, long used, int gpuInstance) {}

    /** How large a MIG instance is, in slices of its parent. */
    record RawAttributes(int gpuSlices, int computeSlices, long memoryMebibytes) {}

    /** An event; the handle is that of a whole device also when it concerns one instance. */
    record RawEvent(Optional<NvmlHandle> device, long type, long data, int gpuInstance) {}

    /** Generations of the process calls, newest first. */
    enum ProcessCalls {
        V3("_v3"),
        V2("_v2"),
        V1("");

        private final String suffix;

        ProcessCalls(String suffix) {
            this.suffix = suffix;
        }

        /** The C function of this generation. */
        String named(String function) {
            return function + suffix;
        }
    }

    /** Bytes as NVML writes them, unsigned. */
    record RawMemory(long total, long reserved, long free, long used) {}

    /** Limits on a cgroup's memory, unsigned bytes. */
    record RawLimits(long soft, long hard, long used) {}

    NvmlAnswer<Boolean> initialise();

    NvmlAnswer<Boolean> shutdown();

    NvmlAnswer<String> driverVersion();

    NvmlAnswer<Integer> deviceCount();

    NvmlAnswer<NvmlHandle> handle(int index);

    NvmlAnswer<String> name(NvmlHandle device);

    NvmlAnswer<String> uuid(NvmlHandle device);

    NvmlAnswer<String> pciBusId(NvmlHandle device);

    NvmlAnswer<Boolean> migEnabled(NvmlHandle device);

    NvmlAnswer<RawMemory> memoryV2(NvmlHandle device);

    /** In the answer {@code reserved} is 0, because version 1 counts it as used. */
    NvmlAnswer<RawMemory> memoryV1(NvmlHandle device);

    NvmlAnswer<Integer> maxMigDevices(NvmlHandle device);

    NvmlAnswer<NvmlHandle> migDevice(NvmlHandle device, int index);

    NvmlAnswer<NvmlHandle> parentOf(NvmlHandle mig);

    NvmlAnswer<Integer> gpuInstance(NvmlHandle mig);

    NvmlAnswer<Integer> computeInstance(NvmlHandle mig);

    NvmlAnswer<RawAttributes> attributes(NvmlHandle mig);

    NvmlAnswer<RawLimits> memoryLimits(NvmlHandle device, String cgroup);

    NvmlAnswer<Boolean> setMemoryLimits(NvmlHandle device, String cgroup, long soft, long hard);

    NvmlAnswer<NvmlHandle> createEventSet();

    NvmlAnswer<Boolean> registerXid(NvmlHandle device, NvmlHandle set);

    NvmlAnswer<RawEvent> waitForEvent(NvmlHandle set, int timeoutMillis);

    NvmlAnswer<Boolean> freeEventSet(NvmlHandle set);

    NvmlAnswer<List<RawProcess>> computeProcesses(ProcessCalls generation, NvmlHandle device);

    NvmlAnswer<List<RawProcess>> graphicsProcesses(ProcessCalls generation, NvmlHandle device);
}
