package dev.ullage.worker.probe.smi;

import dev.ullage.worker.probe.smi.SmiGpu.Mig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Several outputs of one machine as one: GPUs are joined by UUID, else by PCI bus id, else by index; two that have no
 * name in common are joined when there is only one on either side. Pure.
 */
public final class SmiReports {
    private SmiReports() {}

    /** @param reports the most exact one first: where two know a figure, the first one's counts */
    public static SmiReport join(List<SmiReport> reports) {
        SmiReport joined = new SmiReport(Optional.empty(), List.of(), false, List.of());
        for (SmiReport report : reports) {
            joined = join(joined, report);
        }
        return joined;
    }

    private static SmiReport join(SmiReport first, SmiReport second) {
        List<SmiGpu> gpus = new ArrayList<>(first.gpus());
        boolean isOneEach = first.gpus().size() == 1 && second.gpus().size() == 1;
        for (SmiGpu other : second.gpus()) {
            int place = place(gpus, other.id(), isOneEach);
            if (place < 0) {
                gpus.add(other);
            } else {
                gpus.set(place, join(gpus.get(place), other));
            }
        }
        List<String> problems = new ArrayList<>(first.problems());
        second.problems().stream()
                .filter(problem -> !problems.contains(problem))
                .forEach(problems::add);
        boolean listsProcesses = first.listsProcesses() || second.listsProcesses();
        return new SmiReport(
                first.driver().or(second::driver),
                gpus.stream().map(gpu -> withNobody(gpu, listsProcesses)).toList(),
                listsProcesses,
                problems);
    }

    /** A complete list that does not name a GPU says that nobody is on it. */
    private static SmiGpu withNobody(SmiGpu gpu, boolean listsProcesses) {
        return listsProcesses && gpu.processes().isEmpty() ? gpu.withProcesses(Optional.of(List.of())) : gpu;
    }

    private static int place(List<SmiGpu> gpus, SmiGpuId id, boolean isOneEach) {
        for (int i = 0; i < gpus.size(); i++) {
            if (gpus.get(i).id().isSameAs(id).orElse(isOneEach)) {
                return i;
            }
        }
        return -1;
    }

    private static SmiGpu join(SmiGpu first, SmiGpu second) {
        List<String> problems = new ArrayList<>(first.problems());
        second.problems().stream()
                .filter(problem -> !problems.contains(problem))
                .forEach(problems::add);
        return new SmiGpu(
                first.id().or(second.id()),
                first.memory().or(second.memory()),
                join(first.mig(), second.mig()),
                tellsInstances(second) && !tellsInstances(first)
                        ? second.processes()
                        : first.processes().or(second::processes),
                problems);
    }

    /** On a device in MIG mode a list without the instances, however exact, says nothing about any of them. */
    private static boolean tellsInstances(SmiGpu gpu) {
        List<SmiProcess> processes = gpu.processes().orElse(List.of());
        return !processes.isEmpty()
                && processes.stream().allMatch(process -> process.instance().isPresent());
    }

    private static Mig join(Mig first, Mig second) {
        List<SmiMigDevice> devices = new ArrayList<>(first.devices());
        for (SmiMigDevice other : second.devices()) {
            Optional<SmiMigDevice> same = devices.stream()
                    .filter(device -> device.number() == other.number())
                    .findFirst();
            same.ifPresentOrElse(
                    device -> devices.set(devices.indexOf(device), device.or(other)), () -> devices.add(other));
        }
        return new Mig(first.enabled().or(second::enabled), devices);
    }
}
