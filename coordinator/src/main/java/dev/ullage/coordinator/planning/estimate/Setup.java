package dev.ullage.coordinator.planning.estimate;

/**
 * All that decides how much memory a rank needs.
 *
 * @param sequence tokens of a sample
 * @param microBatch samples that a rank works on at once
 * @param microBatches of one optimizer step
 */
public record Setup(
        ModelShape model,
        int sequence,
        int microBatch,
        int microBatches,
        Layout layout,
        Scheme scheme,
        Kernels kernels,
        Framework framework,
        Measure measure) {

    /** Whose buffers, copies and kernels are counted. */
    public enum Framework {
        /** Megatron-LM core. */
        MEGATRON,
        /** PyTorch FSDP2 as torchtitan drives it. */
        FSDP,
        /** Hugging Face transformers, alone or with DeepSpeed. */
        DEEPSPEED,
        LITGPT,
        INTERNEVO,
        TORCHTUNE,
        /** Plain PyTorch: fp32 weights, autocast, one process a device. */
        TORCH
    }

    /** Which number is wanted. */
    public enum Measure {
        /** {@code max_memory_allocated}. */
        ALLOCATED,
        /** {@code max_memory_reserved}: with what the allocator cannot use again. */
        RESERVED,
        /** What the device shows for the process: with its context and libraries. */
        DEVICE
    }

    Setup with(Layout other) {
        return new Setup(model, sequence, microBatch, microBatches, other, scheme, kernels, framework, measure);
    }

    Setup with(Scheme other) {
        return new Setup(model, sequence, microBatch, microBatches, layout, other, kernels, framework, measure);
    }

    Setup with(Kernels other) {
        return new Setup(model, sequence, microBatch, microBatches, layout, scheme, other, framework, measure);
    }

    Setup withSequence(int tokens) {
        return new Setup(model, tokens, microBatch, microBatches, layout, scheme, kernels, framework, measure);
    }

    /** The same step in micro-batches of another size. */
    Setup withMicroBatch(int samples) {
        int steps = Math.max(1, microBatches * microBatch / samples);
        return new Setup(model, sequence, samples, steps, layout, scheme, kernels, framework, measure);
    }

    /** Tokens of a micro-batch on one rank. */
    double tokens() {
        return (double) sequence * microBatch / layout.context();
    }

    /** Ranks that share the state of the dense part. */
    double sharers() {
        return (double) layout.data() * layout.context();
    }

    /** The vocabulary as stored: padded so that tensor parallelism divides it. */
    long paddedVocab() {
        long multiple = (long) model.vocabMultiple() * layout.tensor();
        return (model.vocab() + multiple - 1) / multiple * multiple;
    }
}
