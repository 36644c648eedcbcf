package dev.ullage.coordinator.planning.estimate;

/** Kinds of memory on a rank. */
public enum Part {
    WEIGHTS(true),
    GRADIENTS(true),
    /** fp32 copies of the weights, there from the start. */
    MASTER(true),
    /** State that the optimizer makes in its first step. */
    OPTIMIZER(true),
    /** What only the optimizer step needs. */
    STEP(false),
    ACTIVATIONS(false),
    LOGITS(false),
    /** Gathered weights, unsharded gradients, buckets. */
    BUFFERS(false),
    COMMUNICATION(false),
    /** Workspaces of libraries and, seen from the device, the context. */
    CONTEXT(false),
    /** What the allocator holds and cannot use again. */
    SLACK(false);

    private final boolean isState;

    Part(boolean isState) {
        this.isState = isState;
    }

    /** Kept from step to step, and known exactly from parameter counts. */
    public boolean isState() {
        return isState;
    }
}
