package dev.ullage.common.model;

/** What a rank is doing, as far as memory is concerned. A rank is in exactly one phase at a time. */
public enum Phase {
    /** From the start of the process until the first training step: model, context, libraries, communicators. */
    INIT,
    FORWARD,
    BACKWARD,
    /** The optimizer's step. The first one is special: Adam allocates its state there. */
    OPTIMIZER,
    EVALUATION,
    CHECKPOINT,
    /** Between phases: data loading, logging, waiting. */
    IDLE
}
