package dev.ullage.cli.devices;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.ContextOverhead;
import dev.ullage.worker.probe.UnlistedMemory;
import dev.ullage.worker.probe.smi.SmiAmount;
import dev.ullage.worker.probe.smi.SmiDevice;
import dev.ullage.worker.probe.smi.SmiMemory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A device as it is shown, wherever it was seen. Whatever is not known is empty.
 *
 * @param kind empty where recordings do not tell it
 * @param processes an empty list means nobody, an empty optional not known
 * @param context what a CUDA context costs on it; empty when nobody asked
 */
record ShownDevice(
        Names names,
        Optional<DeviceKind> kind,
        Figures figures,
        Optional<List<ShownProcess>> processes,
        List<String> problems,
        Optional<ContextOverhead> context) {

    record Names(OptionalInt index, Optional<String> uuid, Optional<String> pciBusId, Optional<String> name) {}

    /** Bytes. */
    record Figures(
            OptionalLong total, OptionalLong reserved, OptionalLong allocatable, OptionalLong used, OptionalLong free) {
        static final Figures UNKNOWN = new Figures(
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    record ShownProcess(long pid, Optional<String> name, OptionalLong used) {}

    private static final String NOT_SEEN = "likely of processes that cannot be seen from where this was read: a"
            + " container, and WSL, list none of the host's";

    /** What is in use and held by none of the listed processes; empty where any of these is not known. */
    OptionalLong unlisted() {
        if (figures.used().isEmpty()
                || processes.isEmpty()
                || processes.get().stream().anyMatch(process -> process.used().isEmpty())) {
            return OptionalLong.empty();
        }
        long listed = processes.get().stream()
                .mapToLong(process -> process.used().orElseThrow())
                .sum();
        return OptionalLong.of(Math.max(0, figures.used().getAsLong() - listed));
    }

    /** Nobody in the list is not nobody on the device where more is in use than a driver holds. */
    private ShownDevice withUnlisted(String why) {
        Optional<MemoryBytes> somebodys =
                amount(unlisted()).filter(unlisted -> UnlistedMemory.isOfAProcess(unlisted, amount(figures.total())));
        if (somebodys.isEmpty()) {
            return this;
        }
        List<String> more = new ArrayList<>(problems);
        more.add(somebodys.get() + " in use that no listed process holds: " + why);
        return new ShownDevice(names, kind, figures, processes, more, context);
    }

    private static Optional<MemoryBytes> amount(OptionalLong bytes) {
        return bytes.isPresent() ? Optional.of(MemoryBytes.of(bytes.getAsLong())) : Optional.empty();
    }

    static ShownDevice of(DeviceInfo info, DeviceReading reading) {
        Names names = new Names(
                OptionalInt.of(info.index()),
                Optional.of(info.id().value()),
                info.pciBusId(),
                Optional.of(info.name()));
        Optional<List<ShownProcess>> processes = reading.processes().map(list -> list.stream()
                .map(process -> new ShownProcess(process.pid(), Optional.empty(), bytes(process.used())))
                .toList());
        Figures figures = reading.memory().map(ShownDevice::figures).orElse(Figures.UNKNOWN);
        return new ShownDevice(
                        names, Optional.of(info.kind()), figures, processes, reading.problems(), Optional.empty())
                .withUnlisted(NOT_SEEN);
    }

    ShownDevice with(ContextOverhead measured) {
        return new ShownDevice(names, kind, figures, processes, problems, Optional.of(measured));
    }

    private static Figures figures(MemoryUse use) {
        return new Figures(
                OptionalLong.of(use.total().value()),
                bytes(use.reserved()),
                bytes(use.reserved().map(reserved -> use.allocatable())),
                OptionalLong.of(use.used().value()),
                OptionalLong.of(use.free().value()));
    }

    static ShownDevice of(SmiDevice device) {
        Names names = new Names(
                device.id().index(),
                device.id().uuid(),
                device.id().pciBusId(),
                device.id().name());
        SmiMemory memory = device.memory();
        Figures figures = new Figures(
                bytes(memory.total().bytes()),
                bytes(memory.reserved().bytes()),
                bytes(device.allocatable().bytes()),
                bytes(memory.used().bytes()),
                bytes(memory.free().bytes()));
        Optional<List<ShownProcess>> processes = device.processes().map(list -> list.stream()
                .map(process -> new ShownProcess(
                        process.pid(),
                        Optional.of(process.name()).filter(name -> !name.isEmpty()),
                        bytes(process.used().bytes())))
                .toList());
        List<String> problems = new ArrayList<>(device.problems());
        problems.addAll(reasons(memory));
        if (processes.isEmpty() && problems.stream().noneMatch(problem -> problem.contains("process"))) {
            problems.add("processes: not part of this output");
        }
        boolean isShared = device.slice().filter(SmiDevice.Slice::sharesMemory).isPresent();
        return new ShownDevice(names, device.kind(), figures, processes, problems, Optional.empty())
                .withUnlisted(
                        isShared
                                ? "the processes of the instances that share its memory hold it too"
                                : NOT_SEEN + "; and a list of compute processes leaves out those that only draw");
    }

    /** {@code total, used: Not Supported}: each reason once, with what it is the reason for. */
    private static List<String> reasons(SmiMemory memory) {
        Map<String, List<String>> parts = new LinkedHashMap<>();
        note(parts, "total", memory.total());
        note(parts, "reserved", memory.reserved());
        note(parts, "used", memory.used());
        note(parts, "free", memory.free());
        return parts.entrySet().stream()
                .map(entry -> String.join(", ", entry.getValue()) + ": " + entry.getKey())
                .toList();
    }

    private static void note(Map<String, List<String>> parts, String name, SmiAmount amount) {
        if (!amount.isKnown()) {
            parts.computeIfAbsent(amount.reason(), reason -> new ArrayList<>()).add(name);
        }
    }

    private static OptionalLong bytes(Optional<MemoryBytes> amount) {
        return amount.map(bytes -> OptionalLong.of(bytes.value())).orElse(OptionalLong.empty());
    }
}
