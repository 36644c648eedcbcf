package dev.ullage.worker.probe.smi;

import dev.ullage.common.model.DeviceReading;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.DeviceReading.ProcessUse;
import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A device as the tool shows it, as a reading. Pure. */
final class SmiReadings {
    private SmiReadings() {}

    static DeviceReading reading(SmiDevice device) {
        List<String> problems = new ArrayList<>(device.problems());
        boolean isShared = device.slice().filter(SmiDevice.Slice::sharesMemory).isPresent();
        if (isShared) {
            problems.add("none of the memory can be promised to one of the instances that share it; memory is unknown."
                    + " Give each a GPU instance of its own");
        }
        Optional<MemoryUse> memory = isShared ? Optional.empty() : memory(device.memory(), problems);
        if (device.processes().isEmpty()) {
            problems.add("nvidia-smi gives no list of processes that can be used; processes are unknown");
        }
        Optional<List<ProcessUse>> processes = device.processes().map(list -> list.stream()
                .map(process -> new ProcessUse(process.pid(), process.used().bytes()))
                .toList());
        return new DeviceReading(memory, processes, problems);
    }

    static DeviceReading nothing(String why) {
        return new DeviceReading(Optional.empty(), Optional.empty(), List.of(why));
    }

    private static Optional<MemoryUse> memory(SmiMemory memory, List<String> problems) {
        Optional<MemoryBytes> total = memory.total().bytes();
        Optional<MemoryBytes> used = memory.used().bytes();
        Optional<MemoryBytes> free = memory.free().bytes();
        if (total.isEmpty() || used.isEmpty() || free.isEmpty()) {
            problems.add("nvidia-smi: total %s, used %s, free %s; memory is unknown"
                    .formatted(memory.total(), memory.used(), memory.free()));
            return Optional.empty();
        }
        Optional<MemoryBytes> reserved = memory.reserved().bytes();
        if (reserved.isEmpty()) {
            // What is neither used nor free is reserved; an old driver counts it as used, and then nothing is left.
            reserved = Optional.of(total.get().minusOrZero(used.get()).minusOrZero(free.get()));
        }
        SmiDevices.difference(memory)
                .filter(bytes -> bytes != 0)
                .ifPresent(bytes -> problems.add(
                        "nvidia-smi rounds to MiB: used + free + reserved differs from total by " + bytes + " bytes"));
        return Optional.of(new MemoryUse(total.get(), reserved, used.get(), free.get()));
    }
}
