package dev.ullage.coordinator.planning;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * All that planning rests on.
 *
 * @param onTheirWay the plans that were made and have not settled; looked up, never iterated
 * @param token of the coordinator that plans: devices that do not obey it are not planned
 * @param wantedRoom what the queue would like running jobs of lower priority to make room for; looked up, never
 *     iterated
 */
public record Situation(
        ClusterView view,
        Map<DeviceId, DevicePlan> onTheirWay,
        OperatorWishes wishes,
        CoordinatorToken token,
        Instant now,
        Map<DeviceId, WantedRoom> wantedRoom) {

    /** Nobody waits for room. */
    public Situation(
            ClusterView view,
            Map<DeviceId, DevicePlan> onTheirWay,
            OperatorWishes wishes,
            CoordinatorToken token,
            Instant now) {
        this(view, onTheirWay, wishes, token, now, Map.of());
    }

    Optional<WantedRoom> wanted(DeviceId device) {
        return Optional.ofNullable(wantedRoom.get(device));
    }

    Optional<DevicePlan> onItsWay(DeviceId device) {
        return Optional.ofNullable(onTheirWay.get(device));
    }

    Situation withWishes(OperatorWishes other) {
        return new Situation(view, onTheirWay, other, token, now, wantedRoom);
    }
}
