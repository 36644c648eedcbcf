package dev.ullage.coordinator.oom;

/** How far a job's newest directive has come; drawn in {@link JobMoves}. */
public enum MoveState {
    /** Decided; the rank that ran out has not said that it did it. */
    ORDERED,
    /** That rank did it; what it measured is not known, before or after. */
    APPLIED,
    /** That rank did it and holds less than when it ran out. */
    DONE,
    /** That rank did it and holds as much as when it ran out: the same level again would not help. */
    NO_EFFECT
}
