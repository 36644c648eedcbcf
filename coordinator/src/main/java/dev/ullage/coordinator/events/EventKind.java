package dev.ullage.coordinator.events;

import java.util.Locale;

/** What kinds of events there are. */
public enum EventKind {
    /** A coordinator began to plan: the list of events begins here. */
    COORDINATOR_ACTIVE,
    /** It met a newer one and plans no more. */
    COORDINATOR_FENCED,
    NODE_JOINED,
    NODE_FORGOTTEN,
    DEVICE_FOUND,
    DEVICE_GONE,
    DEVICE_STALE,
    DEVICE_LOST,
    DEVICE_RECOVERED,
    /** More is promised than may be: until ranks have shrunk, nothing grows. */
    OVER_BUDGET,
    WITHIN_BUDGET,
    RANK_JOINED,
    RANK_LEFT,
    /** A rank was ordered another limit. */
    LIMIT_CHANGED,
    /** A rank's processes were measured above its ceiling, some readings in a row. */
    ABOVE_CEILING,
    WITHIN_CEILING,
    /** What a rank has allocated at the ends of its steps grows without end. */
    LEAK_SUSPECTED,
    /** A rank ran out of memory, and its job was directed what to do. */
    OUT_OF_MEMORY,
    /** The device's ledger refused growth, or a rank's confirmation. */
    REFUSED,
    RESERVE_WANTED,
    RESERVE_IN_FORCE,
    ROLLOUT_STALLED,
    /** A plan was made and not carried out. */
    PLAN_HELD_BACK,
    OPERATOR_WRITE,
    /** A job asks for room and waits. */
    JOB_SUBMITTED,
    /** All of its room is reserved. */
    JOB_PLACED,
    /** A ledger refused, or did not answer in time: what was reserved is released, and the job waits again. */
    PLACEMENT_FAILED,
    /** A job waits for room, and others of lower priority are asked to make some. */
    ROOM_ASKED,
    JOB_REQUEUED,
    /** It asks no longer: cancelled, or not heard of. */
    JOB_WITHDRAWN;

    /** As JSON and people see it, such as {@code limit-changed}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
