package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.TurnPlan;
import java.util.List;
import java.util.Optional;

/**
 * What a device is to look like.
 *
 * @param limits in the order in which growth is to be considered
 * @param turns who takes turns at a burst; empty: nobody does
 * @param reason what made this plan differ from what was asked of the device before
 */
public record DevicePlan(
        DeviceId device, Share reserve, List<PlannedLimit> limits, Optional<TurnPlan> turns, PlanReason reason) {
    public DevicePlan {
        limits = List.copyOf(limits);
    }

    /** Nobody takes turns. */
    public DevicePlan(DeviceId device, Share reserve, List<PlannedLimit> limits, PlanReason reason) {
        this(device, reserve, limits, Optional.empty(), reason);
    }

    /** One rank's part of a plan and why it is what it is. */
    public record PlannedLimit(RankInstance instance, PhaseLimits limits, Share share, PlanReason reason) {}
}
