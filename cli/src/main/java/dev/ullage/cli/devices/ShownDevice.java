package dev.ullage.cli.devices;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.worker.probe.ContextOverhead;
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
 * @param processes an empty list means nobody, an empty optional not known
 * @param context what a CUDA context costs on it; empty when nobody asked
 */
record ShownDevice(
        Names names,
        DeviceKind kind,
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
        return new ShownDevice(names, info.kind(), figures, processes, reading.problems(), Optional.empty());
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
        return new ShownDevice(names, device.kind(), figures, processes, problems, Optional.empty());
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
