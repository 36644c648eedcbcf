package dev.ullage.common.model;

/** How far a device has come on the way from a plan to limits in force. See docs/architecture.md, "Rollout". */
public enum RolloutState {
    /** A plan exists that its worker has not been sent. */
    PENDING,
    /** Sent, not reported back yet. */
    SENT,
    /** Some rank may still believe a limit above its target. */
    SHRINKING,
    /** Nothing left to shrink; grown limits are not all confirmed. */
    GROWING,
    /** Every rank confirmed its target. */
    SETTLED,
    /** Not settled in the time set; its room stays its own. */
    STALLED,
    /** Replaced by a newer plan before it settled. */
    SUPERSEDED
}
