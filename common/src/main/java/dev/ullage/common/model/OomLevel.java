package dev.ullage.common.model;

/** What all ranks of a job do after one of them ran out of memory, from the least to the last. */
public enum OomLevel {
    /** The same step once more, as it is, within the limit that is in force by then. */
    LIMIT,
    /** The same step once more, with the allocator set so that it fragments less. */
    ALLOCATOR,
    /** A smaller micro-batch and more of them: the batch stays what it was. */
    MICRO_BATCH,
    /** The processes end and are started again: what was not given back is gone with them. */
    RESTART,
    /** The simplification that the user registered, such as activation checkpointing. */
    SIMPLIFY,
    /** On with the CPU, as the user registered. */
    CPU,
    /** A checkpoint, if the user registered one, and the end. */
    STOP
}
