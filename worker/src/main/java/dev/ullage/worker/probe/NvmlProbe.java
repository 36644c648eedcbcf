package dev.ullage.worker.probe;

import com.sun.jna.Pointer;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * NVIDIA devices, read through NVML. Makes no CUDA context and so costs no device memory.
 *
 * <p>Threads: as {@link GpuProbe} says; NVML itself is thread safe. State: the devices found at the start, and one soft
 * fact, that the library has no memory info version 2. The library stays loaded after {@link #close()}, because another
 * thread may still be inside it.
 *
 * <p>A device in MIG mode is not in {@link #devices()}: its memory belongs to its instances. If the mode is switched on
 * later, its readings have no memory from then on.
 */
public final class NvmlProbe implements GpuProbe {
    /** What the driver installs. The name without a version is part of a development package and often missing. */
    public static final String DEFAULT_LIBRARY = "libnvidia-ml.so.1";

    /** Answers of version 2 that are about the library and not about the device, so that asking again is pointless. */
    private static final Set<NvmlReturn> VERSION_2_MISSING =
            EnumSet.of(NvmlReturn.FUNCTION_NOT_FOUND, NvmlReturn.ARGUMENT_VERSION_MISMATCH);

    /** Answers of version 2 after which version 1 has been seen to work, on WSL and on some virtual GPUs. */
    private static final Set<NvmlReturn> VERSION_1_MAY_WORK = EnumSet.of(
            NvmlReturn.FUNCTION_NOT_FOUND,
            NvmlReturn.ARGUMENT_VERSION_MISMATCH,
            NvmlReturn.INVALID_ARGUMENT,
            NvmlReturn.NOT_SUPPORTED,
            NvmlReturn.UNKNOWN);

    private final NvmlCalls calls;
    private final String description;
    private final NvmlDevices found;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile Optional<String> version2Failure = Optional.empty();

    private NvmlProbe(NvmlCalls calls, String description, NvmlDevices found) {
        this.calls = calls;
        this.description = description;
        this.found = found;
    }

    /**
     * A probe on the given library, with the devices it has now.
     *
     * @param library a name for the system's loader, {@link #DEFAULT_LIBRARY} for one, or a path
     */
    public static NvmlProbe open(String library) throws ProbeUnavailableException {
        NvmlCalls calls = NvmlLoader.start(library);
        NvmlAnswer<Integer> count = calls.deviceCount();
        if (!count.isSuccess()) {
            calls.shutdown();
            throw NvmlLoader.because(
                    ProbeUnavailableException.Reason.NVML_FAILED, count, "the number of devices cannot be had");
        }
        String driver = calls.driverVersion()
                .value()
                .map(version -> "driver " + version)
                .orElse("unknown driver");
        return new NvmlProbe(
                calls, "NVML, " + driver, NvmlDevices.find(calls, count.value().orElse(0)));
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<DeviceInfo> devices() {
        return found.devices();
    }

    @Override
    public List<DeviceProblem> problems() {
        return found.problems();
    }

    @Override
    public DeviceReading read(DeviceId id) {
        if (closed.get()) {
            return nothing("the probe is closed");
        }
        return Optional.ofNullable(found.handles().get(id))
                .map(this::read)
                .orElseGet(() -> nothing("device " + id + " is not one of this probe's devices"));
    }

    private DeviceReading read(Pointer device) {
        List<String> problems = new ArrayList<>();
        Optional<MemoryUse> memory = memoryUnlessMig(device, problems);
        Optional<List<ProcessUse>> processes = processes(device, problems);
        return new DeviceReading(memory, processes, problems);
    }

    private Optional<MemoryUse> memoryUnlessMig(Pointer device, List<String> problems) {
        NvmlAnswer<Boolean> mig = calls.migEnabled(device);
        if (mig.value().orElse(false)) {
            problems.add(NvmlDevices.IN_MIG_MODE);
            return Optional.empty();
        }
        if (!mig.isSuccess() && !NvmlDevices.HAS_NO_MIG.contains(mig.outcome())) {
            problems.add(mig.failure() + "; whether the device is in MIG mode is unknown");
        }
        return memory(device, problems);
    }

    private Optional<MemoryUse> memory(Pointer device, List<String> problems) {
        Optional<String> known = version2Failure;
        if (known.isPresent()) {
            return memoryVersion1(device, known.get(), problems);
        }
        NvmlAnswer<RawMemory> version2 = calls.memoryV2(device);
        if (version2.value().isPresent()) {
            return NvmlMemory.fromVersion2(version2.value().get(), problems);
        }
        if (!VERSION_1_MAY_WORK.contains(version2.outcome())) {
            problems.add(version2.failure() + "; memory is unknown");
            return Optional.empty();
        }
        if (VERSION_2_MISSING.contains(version2.outcome())) {
            version2Failure = Optional.of(version2.failure());
        }
        return memoryVersion1(device, version2.failure(), problems);
    }

    private Optional<MemoryUse> memoryVersion1(Pointer device, String version2Failed, List<String> problems) {
        NvmlAnswer<RawMemory> version1 = calls.memoryV1(device);
        if (version1.value().isEmpty()) {
            problems.add(version2Failed + ", " + version1.failure() + "; memory is unknown");
            return Optional.empty();
        }
        problems.add(version2Failed + "; read with version 1: what the driver reserves is unknown and counts as used");
        return NvmlMemory.fromVersion1(version1.value().get(), problems);
    }

    private Optional<List<ProcessUse>> processes(Pointer device, List<String> problems) {
        NvmlAnswer<List<RawProcess>> compute = calls.computeProcesses(device);
        NvmlAnswer<List<RawProcess>> graphics = calls.graphicsProcesses(device);
        // A device that does not do graphics has no graphics processes; that it has no compute ones does not follow.
        Optional<List<RawProcess>> drawing =
                graphics.outcome() == NvmlReturn.NOT_SUPPORTED ? Optional.of(List.of()) : graphics.value();
        if (compute.value().isEmpty() || drawing.isEmpty()) {
            problems.add((compute.isSuccess() ? graphics : compute).failure() + "; processes are unknown");
            return Optional.empty();
        }
        return NvmlProcesses.merge(compute.value().get(), drawing.get(), problems);
    }

    private static DeviceReading nothing(String problem) {
        return new DeviceReading(Optional.empty(), Optional.empty(), List.of(problem));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            calls.shutdown();
        }
    }
}
