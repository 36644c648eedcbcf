package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.Identity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.NvmlCalls.ProcessCalls;
import dev.ullage.worker.probe.NvmlCalls.RawMemory;
import dev.ullage.worker.probe.NvmlCalls.RawProcess;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads the memory and the processes of one device at a time. Threads: any. State: which generations of the calls the
 * driver has, found once for each device and remembered; soft. What it has is a matter of the library, but one device
 * that answers so for whatever reason must not cost the others what they can tell.
 */
final class NvmlReader {
    /** Answers of version 2 that do not change while the driver runs, so that asking again is pointless. */
    private static final Set<NvmlReturn> VERSION_2_MISSING =
            EnumSet.of(NvmlReturn.FUNCTION_NOT_FOUND, NvmlReturn.ARGUMENT_VERSION_MISMATCH);

    /** Answers of version 2 after which version 1 has been seen to work, on WSL and on some virtual GPUs. */
    private static final Set<NvmlReturn> VERSION_1_MAY_WORK = EnumSet.of(
            NvmlReturn.FUNCTION_NOT_FOUND,
            NvmlReturn.ARGUMENT_VERSION_MISMATCH,
            NvmlReturn.INVALID_ARGUMENT,
            NvmlReturn.NOT_SUPPORTED,
            NvmlReturn.UNKNOWN);

    /** Answers of version 1 that mean: this driver has no figures for such a device. */
    private static final Set<NvmlReturn> NO_FIGURES =
            EnumSet.of(NvmlReturn.FUNCTION_NOT_FOUND, NvmlReturn.NOT_SUPPORTED);

    private final NvmlCalls calls;
    private final Supplier<Optional<HostMemory>> host;
    private final CudaFacts cuda;
    private final Map<NvmlHandle, NvmlAnswer<RawMemory>> version2Failures = new ConcurrentHashMap<>();
    private final Map<NvmlHandle, ProcessCalls> computeCalls = new ConcurrentHashMap<>();
    private final Map<NvmlHandle, ProcessCalls> graphicsCalls = new ConcurrentHashMap<>();
    private final Map<NvmlHandle, Merged> merged = new ConcurrentHashMap<>();

    NvmlReader(NvmlCalls calls, NvmlHost host) {
        this.calls = calls;
        this.host = host.memory();
        this.cuda = host.cuda();
    }

    /** The answers to both versions of the question for memory; version 1 is asked only where it may help. */
    record MemoryAnswers(NvmlAnswer<RawMemory> version2, Optional<NvmlAnswer<RawMemory>> version1) {}

    /** What two lists of processes were made into; the same objects again say the same. */
    private record Merged(
            List<RawProcess> compute,
            List<RawProcess> graphics,
            Optional<List<ProcessUse>> processes,
            List<String> problems) {

        boolean isOf(List<RawProcess> newCompute, List<RawProcess> newGraphics) {
            return Identity.isSame(compute, newCompute) && Identity.isSame(graphics, newGraphics);
        }
    }

    DeviceReading read(NvmlDevice device) {
        List<String> problems = new ArrayList<>();
        if (device.isUnified()) {
            Optional<List<ProcessUse>> processes = processes(device, problems);
            return new DeviceReading(UnifiedMemory.use(host.get(), processes, problems), processes, problems);
        }
        List<String> ofProcesses = new ArrayList<>();
        Optional<List<ProcessUse>> processes = processes(device, ofProcesses);
        Optional<MemoryUse> memory =
                device.isMig() ? sliceMemory(device, problems) : memoryUnlessMig(device, processes, problems);
        problems.addAll(ofProcesses);
        return new DeviceReading(memory, processes, problems);
    }

    private Optional<MemoryUse> sliceMemory(NvmlDevice device, List<String> problems) {
        if (device.sharedWith() > 1) {
            problems.add(("%d compute instances share the memory of one GPU instance, so none of it can be promised to"
                            + " one of them; memory is unknown. Give each a GPU instance of its own")
                    .formatted(device.sharedWith()));
            return Optional.empty();
        }
        return memory(device.handle(), () -> Optional.empty(), problems);
    }

    private Optional<MemoryUse> memoryUnlessMig(
            NvmlDevice device, Optional<List<ProcessUse>> processes, List<String> problems) {
        NvmlAnswer<Boolean> mig = calls.migEnabled(device.handle());
        if (mig.value().orElse(false)) {
            problems.add(NvmlDevices.IN_MIG_MODE);
            return Optional.empty();
        }
        if (!mig.isSuccess() && !NvmlDevices.HAS_NO_MIG.contains(mig.outcome())) {
            problems.add(mig.failure() + "; whether the device is in MIG mode is unknown");
        }
        return memory(device.handle(), () -> fromCuda(device, processes), problems);
    }

    /** What CUDA and the processes tell where NVML has no figures at all, as on some virtual GPUs. */
    private Optional<MemoryUse> fromCuda(NvmlDevice device, Optional<List<ProcessUse>> processes) {
        Optional<MemoryBytes> used = processes.flatMap(UnifiedMemory::sum);
        return cuda.total(device.info().id())
                .filter(total -> used.isPresent() && !used.get().isMoreThan(total))
                .map(total ->
                        new MemoryUse(total, Optional.empty(), used.orElseThrow(), total.minus(used.orElseThrow())));
    }

    MemoryAnswers askMemory(NvmlHandle device) {
        Optional<NvmlAnswer<RawMemory>> known = Optional.ofNullable(version2Failures.get(device));
        NvmlAnswer<RawMemory> version2 = known.orElseGet(() -> calls.memoryV2(device));
        if (known.isEmpty() && VERSION_2_MISSING.contains(version2.outcome())) {
            version2Failures.put(device, version2);
        }
        return new MemoryAnswers(
                version2,
                VERSION_1_MAY_WORK.contains(version2.outcome())
                        ? Optional.of(calls.memoryV1(device))
                        : Optional.empty());
    }

    /** @param otherwise asked where neither version has figures for the device, as opposed to one that is not well */
    private Optional<MemoryUse> memory(
            NvmlHandle device, Supplier<Optional<MemoryUse>> otherwise, List<String> problems) {
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
            Optional<MemoryUse> other = NO_FIGURES.contains(version1.outcome()) ? otherwise.get() : Optional.empty();
            problems.add(version2.failure() + ", " + version1.failure()
                    + (other.isPresent()
                            ? "; the total is CUDA's, and what is used is the sum over the processes"
                            : "; memory is unknown"));
            return other;
        }
        problems.add(
                version2.failure() + "; read with version 1: what the driver reserves is unknown and counts as used");
        return NvmlMemory.fromVersion1(version1.value().get(), problems);
    }

    Optional<List<ProcessUse>> processes(NvmlDevice device, List<String> problems) {
        NvmlAnswer<List<RawProcess>> compute = computeProcesses(device.handle());
        NvmlAnswer<List<RawProcess>> graphics = graphicsProcesses(device.handle());
        boolean isOfCard = device.isMig() && compute.outcome() == NvmlReturn.NOT_SUPPORTED;
        if (isOfCard) {
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
        if (isOfCard && !isInstanceTold(device, compute.value().get(), drawing.get())) {
            problems.add(
                    "the processes are listed for the whole card and not with their instance; those of this one are"
                            + " unknown");
            return Optional.empty();
        }
        Merged both = merged(device, compute.value().get(), drawing.get());
        problems.addAll(both.problems());
        return both.processes();
    }

    private Merged merged(NvmlDevice device, List<RawProcess> compute, List<RawProcess> graphics) {
        Merged known = merged.get(device.handle());
        if (known != null && known.isOf(compute, graphics)) {
            return known;
        }
        List<String> problems = new ArrayList<>();
        Optional<List<ProcessUse>> processes =
                NvmlProcesses.merge(onSlice(device, compute), onSlice(device, graphics), problems);
        Merged now = new Merged(compute, graphics, processes.map(List::copyOf), List.copyOf(problems));
        merged.put(device.handle(), now);
        return now;
    }

    private static boolean isInstanceTold(NvmlDevice slice, List<RawProcess> compute, List<RawProcess> drawing) {
        List<RawProcess> all = new ArrayList<>(compute);
        all.addAll(drawing);
        return all.isEmpty()
                || (slice.gpuInstance().isPresent()
                        && all.stream().noneMatch(process -> process.gpuInstance() == NvmlLibrary.NO_INSTANCE));
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
        ProcessCalls generation = computeCalls.getOrDefault(device, ProcessCalls.V3);
        NvmlAnswer<List<RawProcess>> answer = calls.computeProcesses(generation, device);
        return isMissing(answer)
                ? stepDown(generation, answer, older -> calls.computeProcesses(older, device), computeCalls, device)
                : answer;
    }

    private NvmlAnswer<List<RawProcess>> graphicsProcesses(NvmlHandle device) {
        ProcessCalls generation = graphicsCalls.getOrDefault(device, ProcessCalls.V3);
        NvmlAnswer<List<RawProcess>> answer = calls.graphicsProcesses(generation, device);
        return isMissing(answer)
                ? stepDown(generation, answer, older -> calls.graphicsProcesses(older, device), graphicsCalls, device)
                : answer;
    }

    private static boolean isMissing(NvmlAnswer<List<RawProcess>> answer) {
        return answer.outcome() == NvmlReturn.FUNCTION_NOT_FOUND;
    }

    /** A generation after the other for as long as the library does not have the call, and remembers which it has. */
    private static NvmlAnswer<List<RawProcess>> stepDown(
            ProcessCalls newest,
            NvmlAnswer<List<RawProcess>> missing,
            Function<ProcessCalls, NvmlAnswer<List<RawProcess>>> call,
            Map<NvmlHandle, ProcessCalls> remembered,
            NvmlHandle device) {
        NvmlAnswer<List<RawProcess>> answer = missing;
        for (ProcessCalls older : ProcessCalls.values()) {
            if (isMissing(answer) && older.compareTo(newest) > 0) {
                answer = call.apply(older);
                remembered.put(device, older);
            }
        }
        return answer;
    }
}
