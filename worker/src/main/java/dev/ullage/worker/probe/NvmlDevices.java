package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The devices that NVML lists. Each reading of one finds it here. */
final class NvmlDevices {
    static final NvmlDevices NONE = new NvmlDevices(List.of(), List.of());

    static final String IN_MIG_MODE =
            "the device is in MIG mode: its memory belongs to its instances and it is not allocated on itself";

    static final String NO_INSTANCE_NOW =
            "it was a MIG instance and is none now: its memory went back to its card, or to other instances";

    /** Answers to the question for the MIG mode that mean: this device or driver has no such mode. */
    static final Set<NvmlReturn> HAS_NO_MIG = EnumSet.of(NvmlReturn.NOT_SUPPORTED, NvmlReturn.FUNCTION_NOT_FOUND);

    private final List<NvmlDevice> found;
    private final List<DeviceProblem> problems;
    private final Map<DeviceId, NvmlDevice> byId = new HashMap<>();

    NvmlDevices(List<NvmlDevice> found, List<DeviceProblem> problems) {
        this.found = List.copyOf(found);
        this.problems = List.copyOf(problems);
        found.forEach(device -> byId.putIfAbsent(device.info().id(), device));
    }

    /** Those that can be allocated on, by index and then by place among the slices of a card. */
    List<NvmlDevice> found() {
        return found;
    }

    /** Those that cannot, and what is not known about the others. */
    List<DeviceProblem> problems() {
        return problems;
    }

    /** Of devices with the same UUID the first stays, and the other is a problem. */
    static NvmlDevices of(List<NvmlDevices> byIndex) {
        Map<DeviceId, NvmlDevice> unique = new TreeMap<>();
        List<NvmlDevice> found = new ArrayList<>();
        List<DeviceProblem> problems = new ArrayList<>();
        for (NvmlDevices some : byIndex) {
            problems.addAll(some.problems());
            for (NvmlDevice device : some.found()) {
                if (unique.putIfAbsent(device.info().id(), device) == null) {
                    found.add(device);
                } else {
                    problems.add(new DeviceProblem(
                            device.info().index(),
                            Optional.of(device.info().id()),
                            false,
                            "an earlier device has the same UUID; this one is left out"));
                }
            }
        }
        return new NvmlDevices(found, problems);
    }

    List<DeviceInfo> devices() {
        return found.stream().map(NvmlDevice::info).toList();
    }

    Optional<NvmlDevice> find(DeviceId id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** What was found at one index, with a problem in addition. */
    NvmlDevices at(int index, String problem) {
        List<NvmlDevice> here =
                found.stream().filter(device -> device.info().index() == index).toList();
        Optional<DeviceId> id = here.stream().map(device -> device.info().id()).findFirst();
        return new NvmlDevices(here, List.of(new DeviceProblem(index, id, !here.isEmpty(), problem)));
    }

    /**
     * Why a device that is not among {@link #found} can hold nothing; empty where it may only be silent or lost.
     *
     * @param last as it was when it was last found
     */
    Optional<String> retired(DeviceInfo last) {
        if (last.mig().isEmpty()) {
            return isCut(last.id()) ? Optional.of(IN_MIG_MODE) : Optional.empty();
        }
        DeviceId card = last.mig().get().parent();
        boolean isGone = find(card).isPresent() || (isCut(card) && areAllInstancesSeen(card));
        return isGone ? Optional.of(NO_INSTANCE_NOW) : Optional.empty();
    }

    private boolean isCut(DeviceId card) {
        return problems.stream()
                .anyMatch(problem -> isOf(card, problem) && problem.text().equals(IN_MIG_MODE));
    }

    /** One that could not be asked has no name, and may be any. */
    private boolean areAllInstancesSeen(DeviceId card) {
        return problems.stream().filter(problem -> isOf(card, problem)).noneMatch(cut -> problems.stream()
                .anyMatch(other -> other.index() == cut.index() && other.id().isEmpty()));
    }

    private static boolean isOf(DeviceId card, DeviceProblem problem) {
        return problem.id().equals(Optional.of(card));
    }

    /** Why a device that was listed once is not any more: by its name, wherever it is now, else by its index. */
    String problemsOf(DeviceId id, int index) {
        List<String> named = texts(problem -> problem.id().equals(Optional.of(id)));
        List<String> texts = named.isEmpty() ? texts(problem -> problem.index() == index) : named;
        return texts.isEmpty() ? "the driver does not say why" : String.join("; ", texts);
    }

    private List<String> texts(Predicate<DeviceProblem> which) {
        return problems.stream().filter(which).map(DeviceProblem::text).toList();
    }
}
