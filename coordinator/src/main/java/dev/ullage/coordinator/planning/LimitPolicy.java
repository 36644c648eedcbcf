package dev.ullage.coordinator.planning;

/** Chooses how the ranks of a device share its budget. Pure; chooses, never acts; explains every choice. */
@FunctionalInterface
public interface LimitPolicy {
    Shares share(PlanningInput input);
}
