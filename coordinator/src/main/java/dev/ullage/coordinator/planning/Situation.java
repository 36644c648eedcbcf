package dev.ullage.coordinator.planning;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * All that planning rests on.
 *
 * @param onTheirWay the plans that were made and have not settled; looked up, never iterated
 * @param token of the coordinator that plans: devices that do not obey it are not planned
 */
public record Situation(
        ClusterView view,
        Map<DeviceId, DevicePlan> onTheirWay,
        OperatorWishes wishes,
        CoordinatorToken token,
        Instant now) {

    Optional<DevicePlan> onItsWay(DeviceId device) {
        return Optional.ofNullable(onTheirWay.get(device));
    }

    Situation withWishes(OperatorWishes other) {
        return new Situation(view, onTheirWay, other, token, now);
    }
}
