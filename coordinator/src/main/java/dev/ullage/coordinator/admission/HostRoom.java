package dev.ullage.coordinator.admission;

import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a host has for jobs beside its devices. What is not known is empty, and is room for nobody who asks for it.
 *
 * @param cpuMilli processor time in thousandths of a core
 * @param memory in whole MiB, rounded down
 */
record HostRoom(OptionalLong cpuMilli, Optional<MemoryBytes> memory) {
    static final HostRoom UNKNOWN = new HostRoom(OptionalLong.empty(), Optional.empty());

    HostRoom {
        memory = memory.map(bytes -> MemoryBytes.of(bytes.value() - bytes.value() % MemoryBytes.MEBIBYTE));
    }

    static HostRoom of(HostCapacity host) {
        return new HostRoom(
                host.cpuMilli().isPresent() ? OptionalLong.of(host.cpuMilli().getAsInt()) : OptionalLong.empty(),
                host.memory());
    }

    /** For how many ranks that ask for this each there is room. */
    int ranks(HostNeed each) {
        long byCpu = each.cpuMilli().isPresent()
                ? cpuMilli.orElse(0) / each.cpuMilli().getAsInt()
                : Integer.MAX_VALUE;
        long byMemory = each.memory()
                .map(need -> memory.orElse(MemoryBytes.ZERO).value() / need.value())
                .orElse((long) Integer.MAX_VALUE);
        return (int) Math.min(Integer.MAX_VALUE, Math.min(byCpu, byMemory));
    }

    HostRoom minus(HostAmount taken) {
        return new HostRoom(
                cpuMilli.isPresent() ? OptionalLong.of(Math.max(0, cpuMilli.getAsLong() - taken.cpuMilli())) : cpuMilli,
                memory.map(bytes -> bytes.minusOrZero(taken.memory())));
    }

    HostRoom plus(HostAmount given) {
        HostAmount sum = new HostAmount(cpuMilli.orElse(0), memory.orElse(MemoryBytes.ZERO)).plus(given);
        return new HostRoom(
                cpuMilli.isPresent() ? OptionalLong.of(sum.cpuMilli()) : cpuMilli, memory.map(bytes -> sum.memory()));
    }

    /** The lesser of both, of each; known where both are. */
    HostRoom min(HostRoom other) {
        return new HostRoom(
                cpuMilli.isPresent() && other.cpuMilli.isPresent()
                        ? OptionalLong.of(Math.min(cpuMilli.getAsLong(), other.cpuMilli.getAsLong()))
                        : OptionalLong.empty(),
                memory.flatMap(mine -> other.memory.map(mine::min)));
    }

    /** As if what is not known were without bounds: for what can be ruled out whatever it turns out to be. */
    HostRoom atItsBest() {
        return new HostRoom(
                OptionalLong.of(cpuMilli.orElse(Long.MAX_VALUE)),
                Optional.of(memory.orElse(MemoryBytes.of(Long.MAX_VALUE))));
    }
}
