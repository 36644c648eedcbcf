package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What only the driver knows of the names that processes use for devices.
 *
 * @param fastestFirst the order in which CUDA numbers devices unless it is told otherwise; empty when not known
 * @param legacyNames instances of devices in MIG mode by {@code MIG-GPU-<uuid>/<gpu instance>/<compute instance>}
 */
public record DriverFacts(Optional<List<DeviceId>> fastestFirst, Map<String, DeviceId> legacyNames) {
    public static final DriverFacts NONE = new DriverFacts(Optional.empty(), Map.of());

    public DriverFacts {
        fastestFirst = fastestFirst.map(List::copyOf);
        legacyNames = Map.copyOf(legacyNames);
    }
}
