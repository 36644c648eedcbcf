package dev.ullage.worker.probe;

import dev.ullage.common.model.DeviceId;
import java.util.Optional;

/**
 * Something about a device that was not as it should be when the probe looked for devices.
 *
 * @param index the driver's index of the device
 * @param id its UUID, if it could be had
 * @param usable whether the device is in the probe's list all the same
 * @param text one sentence: call, outcome, consequence
 */
public record DeviceProblem(int index, Optional<DeviceId> id, boolean usable, String text) {
    @Override
    public String toString() {
        return "device " + index + id.map(known -> " (" + known + ")").orElse("") + ": " + text;
    }
}
