package dev.ullage.coordinator.admission;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Reservation;

/** What a worker is to be told about a job's part of one of its devices. */
public record RoomMessage(NodeId node, DeviceId device, Step step, Reservation reservation) {
    /** What is asked. */
    public enum Step {
        RESERVE,
        COMMIT,
        RELEASE
    }
}
