package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * A cluster that need not exist, to work out limits for.
 *
 * @param devices what each can give out, before its reserve; in order
 * @param size ranks of the job; those beyond the devices' ranks are elsewhere
 * @param ranksPerDevice ranks on each device; empty: spread evenly
 * @param priorities of each rank in order; one for all; or none, which is the job's
 * @param step the step every rank has reached; empty: not known
 */
public record PlanSettings(
        List<MemoryBytes> devices,
        int size,
        OptionalInt ranksPerDevice,
        List<Priority> priorities,
        OptionalLong step,
        LimitSettings limits) {

    public PlanSettings {
        devices = List.copyOf(devices);
        priorities = List.copyOf(priorities);
    }

    /** How many ranks each device has, in the order of the devices: the first ones have one more where it is uneven. */
    public List<Integer> ranksOnDevices() {
        return layout(devices.size(), size, ranksPerDevice);
    }

    static List<Integer> layout(int devices, int size, OptionalInt ranksPerDevice) {
        return IntStream.range(0, devices)
                .mapToObj(device -> ranksPerDevice.isPresent()
                        ? Math.max(0, Math.min(ranksPerDevice.getAsInt(), size - device * ranksPerDevice.getAsInt()))
                        : size / devices + (device < size % devices ? 1 : 0))
                .toList();
    }
}
