package dev.ullage.worker.probe;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rank says about the device it will use, as read from its environment.
 *
 * @param visibleDevices its {@code CUDA_VISIBLE_DEVICES}; empty if not set, which is not the same as set to nothing
 * @param localRank its rank among those of its job on this host, from 0, where its launcher tells
 * @param device its {@code ULLAGE_DEVICE}, if set: a UUID, the beginning of one, or an index
 */
public record DeviceRequest(Optional<String> visibleDevices, OptionalInt localRank, Optional<String> device) {
    public DeviceRequest {
        if (localRank.isPresent() && localRank.getAsInt() < 0) {
            throw new IllegalArgumentException("a local rank is 0 or more: " + localRank.getAsInt());
        }
    }
}
