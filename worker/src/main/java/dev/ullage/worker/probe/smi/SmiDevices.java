package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.HostMemory;
import dev.ullage.worker.probe.UnifiedMemory;
import dev.ullage.worker.probe.smi.SmiDevice.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What Ullage sees in a report. Pure.
 *
 * <ul>
 *   <li>A GPU in MIG mode is no device: its instances are, each with its own memory.
 *   <li>A GPU without memory figures of its own shares the host's if there is evidence for it: a known product, or
 *       processes whose memory is shown all the same. No memory figures alone are no evidence.
 *   <li>A list with process ids that cannot be is no list.
 * </ul>
 *
 * @param problems about the report and about GPUs that are no devices
 */
public record SmiDevices(List<SmiDevice> devices, List<String> problems) {
    private static final Pattern SHARES_MEMORY =
            Pattern.compile(".*\\b(?:GB10|Orin|Xavier|Thor|Tegra|Jetson)\\b.*|.*\\(nvgpu\\).*");
    private static final List<String> NOT_THERE = List.of("N/A", "Not Supported");

    /** Each of the parts is rounded to a MiB by itself. */
    private static final long ROUNDING = 2 * MemoryBytes.MEBIBYTE;

    public SmiDevices {
        devices = List.copyOf(devices);
        problems = List.copyOf(problems);
    }

    /** @param host the memory of the machine the report is about, if known */
    public static SmiDevices of(SmiReport report, Optional<HostMemory> host) {
        List<SmiDevice> devices = new ArrayList<>();
        List<String> problems = new ArrayList<>(report.problems());
        for (SmiGpu gpu : report.gpus()) {
            if (gpu.mig().isOn()) {
                addInstances(gpu, devices, problems);
            } else {
                devices.add(device(gpu, host));
            }
        }
        return new SmiDevices(devices, problems);
    }

    private static SmiDevice device(SmiGpu gpu, Optional<HostMemory> host) {
        List<String> problems = new ArrayList<>(gpu.problems());
        Optional<List<SmiProcess>> processes = trusted(gpu.processes(), problems);
        if (sharesMemory(gpu, processes)) {
            processes = unlessNeverListed(gpu, processes, problems);
            return new SmiDevice(
                    gpu.id(),
                    Optional.of(DeviceKind.UNIFIED),
                    Optional.empty(),
                    shared(processes, host, problems),
                    processes,
                    problems);
        }
        SmiMemory memory = checked(gpu.memory(), problems);
        return new SmiDevice(gpu.id(), kind(gpu, problems), Optional.empty(), memory, processes, problems);
    }

    /** Of one that shares no memory: a GPU in MIG mode shows its memory too, and no memory may be the host's. */
    private static Optional<DeviceKind> kind(SmiGpu gpu, List<String> problems) {
        boolean hasMemory = gpu.memory().total().isKnown();
        boolean isModeTold = gpu.mig().enabled().isPresent();
        if (hasMemory && isModeTold) {
            return Optional.of(DeviceKind.DISCRETE);
        }
        List<String> untold = new ArrayList<>();
        if (!hasMemory) {
            untold.add("whether it has memory of its own");
        }
        if (!isModeTold) {
            untold.add("whether it is in MIG mode");
        }
        problems.add("kind: " + String.join(" and ", untold) + " cannot be told from this output");
        return Optional.empty();
    }

    private static Optional<List<SmiProcess>> trusted(Optional<List<SmiProcess>> list, List<String> problems) {
        List<SmiProcess> processes = list.orElse(List.of());
        List<SmiProcess> impossible =
                processes.stream().filter(process -> !process.isPossible()).toList();
        if (!impossible.isEmpty()) {
            problems.add("the list of processes has the process id %s, which cannot be; it is not trusted"
                    .formatted(impossible.get(0).pid()));
            return Optional.empty();
        }
        String unknown = processes.stream()
                .filter(process -> !process.used().isKnown())
                .map(process -> process.used().reason())
                .distinct()
                .collect(Collectors.joining(", "));
        if (!unknown.isEmpty()) {
            problems.add("the memory of a process is unknown: " + unknown);
        }
        return list;
    }

    /** A figure that is smaller than one of its parts is worth nothing. */
    private static SmiMemory checked(SmiMemory memory, List<String> problems) {
        Optional<MemoryBytes> total = memory.total().bytes();
        Optional<MemoryBytes> used = memory.used().bytes();
        if (total.filter(MemoryBytes::isZero).isPresent()) {
            problems.add("a total of 0 cannot be; memory is unknown");
            return SmiMemory.unknown(SmiAmount.unknown("total is 0"));
        }
        if (total.isPresent() && used.isPresent() && used.get().isMoreThan(total.get())) {
            problems.add("%s used of %s in all cannot be; memory is unknown".formatted(used.get(), total.get()));
            return SmiMemory.unknown(SmiAmount.unknown("used is more than total"));
        }
        Optional<Long> difference = difference(memory);
        difference
                .filter(bytes -> Math.abs(bytes) > ROUNDING)
                .ifPresent(bytes -> problems.add("used + free + reserved differs from total by " + bytes
                        + " bytes, which is more than the rounding to MiB explains"));
        return memory;
    }

    /** {@code used + free + reserved - total}, where all are known. */
    static Optional<Long> difference(SmiMemory memory) {
        List<SmiAmount> parts = List.of(memory.total(), memory.reserved(), memory.used(), memory.free());
        if (!parts.stream().allMatch(SmiAmount::isKnown)) {
            return Optional.empty();
        }
        List<Long> bytes = parts.stream()
                .map(part -> part.bytes().orElse(MemoryBytes.ZERO).value())
                .toList();
        return Optional.of(bytes.get(1) + bytes.get(2) + bytes.get(3) - bytes.get(0));
    }

    private static boolean sharesMemory(SmiGpu gpu, Optional<List<SmiProcess>> processes) {
        if (!gpu.memory().isWithoutAnyNumber()
                || !NOT_THERE.contains(gpu.memory().total().reason())) {
            return false;
        }
        boolean isKnownProduct = gpu.id()
                .name()
                .filter(name -> SHARES_MEMORY.matcher(name).matches())
                .isPresent();
        boolean isHeld = processes.orElse(List.of()).stream()
                .anyMatch(process -> process.used().isKnown());
        return isKnownProduct || isHeld;
    }

    /** Jetson's kernel driver tells of no process, and the tool prints that as if there were none. */
    private static Optional<List<SmiProcess>> unlessNeverListed(
            SmiGpu gpu, Optional<List<SmiProcess>> processes, List<String> problems) {
        boolean isNvgpu =
                gpu.id().name().filter(name -> name.contains("(nvgpu)")).isPresent();
        if (!isNvgpu || processes.filter(List::isEmpty).isEmpty()) {
            return processes;
        }
        problems.add("processes are unknown: this GPU's driver (nvgpu) lists none, also where there are some");
        return Optional.empty();
    }

    private static SmiMemory shared(
            Optional<List<SmiProcess>> processes, Optional<HostMemory> host, List<String> problems) {
        problems.add("shares the host's memory: total is the host's, used is what its processes hold");
        SmiAmount used = held(processes);
        if (host.isEmpty()) {
            SmiAmount unknown = SmiAmount.unknown("the host's memory is not part of this output");
            return new SmiMemory(unknown, unknown, used, unknown);
        }
        Optional<List<ProcessUse>> uses = processes.map(list -> list.stream()
                .map(process -> new ProcessUse(process.pid(), process.used().bytes()))
                .toList());
        SmiAmount unknown = SmiAmount.unknown("what is used is unknown");
        return UnifiedMemory.use(host, uses, problems)
                .map(use -> new SmiMemory(
                        SmiAmount.of(use.total()),
                        use.reserved().map(SmiAmount::of).orElse(unknown),
                        SmiAmount.of(use.used()),
                        SmiAmount.of(use.free())))
                .orElseGet(() -> new SmiMemory(SmiAmount.of(host.get().total()), unknown, used, unknown));
    }

    private static SmiAmount held(Optional<List<SmiProcess>> processes) {
        if (processes.isEmpty()) {
            return SmiAmount.unknown("the processes are unknown");
        }
        MemoryBytes sum = MemoryBytes.ZERO;
        for (SmiProcess process : processes.get()) {
            if (!process.used().isKnown()) {
                return SmiAmount.unknown("the memory of process " + process.pid() + " is unknown");
            }
            sum = sum.plus(process.used().bytes().orElse(MemoryBytes.ZERO));
        }
        return SmiAmount.of(sum);
    }

    private static void addInstances(SmiGpu gpu, List<SmiDevice> devices, List<String> problems) {
        List<SmiMigDevice> instances = gpu.mig().devices();
        String parent = gpu.id().index().isPresent()
                ? "GPU " + gpu.id().index().getAsInt()
                : gpu.id().uuid().orElse("a GPU");
        problems.add(
                instances.isEmpty()
                        ? parent + " is in MIG mode and no instance of it is shown: nothing can be given out on it"
                        : parent + " is in MIG mode: its memory belongs to its "
                                + Counts.of(instances.size(), "instance"));
        List<String> ofParent = new ArrayList<>(gpu.problems());
        Optional<List<SmiProcess>> processes = trusted(gpu.processes(), ofParent);
        for (SmiMigDevice instance : instances) {
            devices.add(device(gpu, instance, processes, ofParent));
        }
    }

    private static SmiDevice device(
            SmiGpu gpu, SmiMigDevice instance, Optional<List<SmiProcess>> ofParent, List<String> parentProblems) {
        List<String> problems = new ArrayList<>(parentProblems);
        Optional<List<SmiProcess>> processes = ofParent.flatMap(list -> ofInstance(list, instance, problems));
        List<String> sharing = gpu.mig().devices().stream()
                .filter(other -> other.number() != instance.number() && isSameMemory(other, instance))
                .map(other -> Integer.toString(other.number()))
                .toList();
        if (!sharing.isEmpty()) {
            problems.add("its memory is also that of MIG device " + String.join(", ", sharing)
                    + ": compute instances of one GPU instance share it");
        }
        Optional<String> name = instance.profile()
                .map(profile -> gpu.id().name().map(of -> of + " ").orElse("") + "MIG " + profile);
        SmiGpuId id = new SmiGpuId(
                gpu.id().index(),
                instance.uuid(),
                name.or(() -> Optional.of(
                        gpu.id().name().map(of -> of + " ").orElse("") + "MIG device " + instance.number())),
                gpu.id().pciBusId());
        Slice slice = new Slice(gpu.id().uuid(), instance.instance(), instance.profile(), !sharing.isEmpty());
        return new SmiDevice(
                id,
                Optional.of(DeviceKind.MIG),
                Optional.of(slice),
                checked(instance.memory(), problems),
                processes,
                problems);
    }

    private static boolean isSameMemory(SmiMigDevice first, SmiMigDevice second) {
        return first.instance().isPresent()
                && first.instance()
                        .map(SmiProcess.MigInstance::gpu)
                        .equals(second.instance().map(SmiProcess.MigInstance::gpu));
    }

    /** Those of the parent whose instance this is; unknown as soon as one cannot be told. */
    private static Optional<List<SmiProcess>> ofInstance(
            List<SmiProcess> ofParent, SmiMigDevice instance, List<String> problems) {
        boolean isTold = instance.instance().isPresent()
                && ofParent.stream().allMatch(process -> process.instance().isPresent());
        if (!isTold && !ofParent.isEmpty()) {
            problems.add("on which instance a process runs is not shown; processes are unknown");
            return Optional.empty();
        }
        return Optional.of(ofParent.stream()
                .filter(process -> process.instance().equals(instance.instance()))
                .toList());
    }
}
