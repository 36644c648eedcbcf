package dev.ullage.worker.probe;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rank says about the device it will use, as read from its environment.
 *
 * @param visibleDevices its {@code CUDA_VISIBLE_DEVICES}; empty if not set, which is not the same as set to nothing
 * @param localRank its rank among those of its job on this host, from 0, where its launcher tells
 * @param device its {@code ULLAGE_DEVICE}, if set: a UUID, the beginning of one, or an index
 * @param deviceOrder its {@code CUDA_DEVICE_ORDER}
 * @param containerDevices its {@code NVIDIA_VISIBLE_DEVICES}, which says what its container was given
 */
public record DeviceRequest(
        Optional<String> visibleDevices,
        OptionalInt localRank,
        Optional<String> device,
        Optional<String> deviceOrder,
        Optional<String> containerDevices) {
    public DeviceRequest {
        if (localRank.isPresent() && localRank.getAsInt() < 0) {
            throw new IllegalArgumentException("a local rank is 0 or more: " + localRank.getAsInt());
        }
    }

    /** That of a process on the host itself that leaves CUDA's order as it is. */
    public DeviceRequest(Optional<String> visibleDevices, OptionalInt localRank, Optional<String> device) {
        this(visibleDevices, localRank, device, Optional.empty(), Optional.empty());
    }
}
