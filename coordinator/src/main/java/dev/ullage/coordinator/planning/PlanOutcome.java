package dev.ullage.coordinator.planning;

import dev.ullage.common.model.DeviceId;
import dev.ullage.coordinator.planning.PlanGuard.Veto;

/** What planning came to for one device. */
public sealed interface PlanOutcome {
    DeviceId device();

    DevicePlan plan();

    /** To be carried out. */
    record Planned(DevicePlan plan) implements PlanOutcome {
        @Override
        public DeviceId device() {
            return plan.device();
        }
    }

    /** Held back. */
    record Vetoed(DevicePlan plan, Veto veto) implements PlanOutcome {
        @Override
        public DeviceId device() {
            return plan.device();
        }
    }
}
