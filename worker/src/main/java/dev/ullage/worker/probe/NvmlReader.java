package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.worker.probe.NvmlCalls.ProcessCalls;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads the memory and the processes of one device at a time. Threads: any. State: which generations of the calls the
 * loaded library has, found once and remembered; soft.
 */
final class NvmlReader {
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
    private final Supplier<Optional<HostMemory>> host;
    private volatile Optional<NvmlAnswer<RawMemory>> version2Failure = Optional.empty();
    private volatile ProcessCalls computeCalls = ProcessCalls.V3;
    private volatile ProcessCalls graphicsCalls = ProcessCalls.V3;

    NvmlReader(NvmlCalls calls, Supplier<Optional<HostMemory>> host) {
        this.calls = calls;
        this.host = host;
    }

    /** The answers to both versions of the question for memory; version 1 is asked only where it may help. */
    record MemoryAnswers(NvmlAnswer<RawMemory> version2, Optional<NvmlAnswer<RawMemory>> version1) {}

    DeviceReading read(NvmlDevice device) {
        List<String> problems = new ArrayList<>();
        if (device.isUnified()) {
            Optional<List<ProcessUse>> processes = processes(device, problems);
            return new DeviceReading(UnifiedMemory.use(host.get(), processes, problems), processes, problems);
        }
        Optional<MemoryUse> memory =
                device.isMig() ? sliceMemory(device, problems) : memoryUnlessMig(device.handle(), problems);
        return new DeviceReading(memory, processes(device, problems), problems);
    }

    private Optional<MemoryUse> sliceMemory(NvmlDevice device, List<String> problems) {
        if (device.sharedWith() > 1) {
            problems.add(("%d compute instances share the memory of one GPU instance, so none of it can be promised to"
                            + " one of them; memory is unknown. Give each a GPU instance of its own")
                    .formatted(device.sharedWith()));
            return Optional.empty();
        }
        return memory(device.handle(), problems);
    }

    private Optional<MemoryUse> memoryUnlessMig(NvmlHandle device, List<String> problems) {
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

    MemoryAnswers askMemory(NvmlHandle device) {
        Optional<NvmlAnswer<RawMemory>> known = version2Failure;
        NvmlAnswer<RawMemory> version2 = known.orElseGet(() -> calls.memoryV2(device));
        if (known.isEmpty() && VERSION_2_MISSING.contains(version2.outcome())) {
            version2Failure = Optional.of(version2);
        }
        return new MemoryAnswers(
                version2,
                VERSION_1_MAY_WORK.contains(version2.outcome())
                        ? Optional.of(calls.memoryV1(device))
                        : Optional.empty());
    }

    private Optional<MemoryUse> memory(NvmlHandle device, List<String> problems) {
        MemoryAnswers answers = askMemory(device);
        NvmlAnswer<RawMemory> version2 = answers.version2();
        if (version2.value().isPresent()) {
            return NvmlMemory.fromVersion2(version2.value().get(), problems);
        }
        if (answers.version1().isEmpty()) {
            problems.add(version2.failure() + "; memory is unknown");
            return Optional.empty();
        }
        NvmlAnswer<RawMemory> version1 = answers.version1().get();
        if (version1.value().isEmpty()) {
            problems.add(version2.failure() + ", " + version1.failure() + "; memory is unknown");
            return Optional.empty();
        }
        problems.add(
                version2.failure() + "; read with version 1: what the driver reserves is unknown and counts as used");
        return NvmlMemory.fromVersion1(version1.value().get(), problems);
    }

    Optional<List<ProcessUse>> processes(NvmlDevice device, List<String> problems) {
        NvmlAnswer<List<RawProcess>> compute = computeProcesses(device.handle());
        NvmlAnswer<List<RawProcess>> graphics = graphicsProcesses(device.handle());
        if (device.isMig() && compute.outcome() == NvmlReturn.NOT_SUPPORTED) {
            // Where an instance does not list its processes, its card does, each with its instance.
            compute = computeProcesses(device.card());
            graphics = graphicsProcesses(device.card());
        }
        // A device that does not do graphics has no graphics processes; that it has no compute ones does not follow.
        Optional<List<RawProcess>> drawing =
                graphics.outcome() == NvmlReturn.NOT_SUPPORTED ? Optional.of(List.of()) : graphics.value();
        if (compute.value().isEmpty() || drawing.isEmpty()) {
            problems.add((compute.isSuccess() ? graphics : compute).failure() + "; processes are unknown");
            return Optional.empty();
        }
        return NvmlProcesses.merge(onSlice(device, compute.value().get()), onSlice(device, drawing.get()), problems);
    }

    /** Without the processes that are known to be in another instance of the same card. */
    private static List<RawProcess> onSlice(NvmlDevice device, List<RawProcess> processes) {
        if (!device.isMig() || device.gpuInstance().isEmpty()) {
            return processes;
        }
        int instance = device.gpuInstance().getAsInt();
        return processes.stream()
                .filter(process ->
                        process.gpuInstance() == NvmlLibrary.NO_INSTANCE || process.gpuInstance() == instance)
                .toList();
    }

    private NvmlAnswer<List<RawProcess>> computeProcesses(NvmlHandle device) {
        return withNewest(
                computeCalls,
                generation -> calls.computeProcesses(generation, device),
                generation -> computeCalls = generation);
    }

    private NvmlAnswer<List<RawProcess>> graphicsProcesses(NvmlHandle device) {
        return withNewest(
                graphicsCalls,
                generation -> calls.graphicsProcesses(generation, device),
                generation -> graphicsCalls = generation);
    }

    /** Steps down a generation for as long as the library does not have the call, and stays there. */
    private static NvmlAnswer<List<RawProcess>> withNewest(
            ProcessCalls start,
            Function<ProcessCalls, NvmlAnswer<List<RawProcess>>> call,
            java.util.function.Consumer<ProcessCalls> remember) {
        NvmlAnswer<List<RawProcess>> answer = call.apply(start);
        for (ProcessCalls older : ProcessCalls.values()) {
            if (answer.outcome() == NvmlReturn.FUNCTION_NOT_FOUND && older.compareTo(start) > 0) {
                answer = call.apply(older);
                remember.accept(older);
            }
        }
        return answer;
    }
}
