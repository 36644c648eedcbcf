package dev.ullage.coordinator.planning.estimate;

/**
 * What computes, as far as it decides what is kept for the backward pass.
 *
 * @param hiddenDropout a mask is kept for each of the two residual additions
 * @param attentionDropout a mask and a second copy of the probabilities are kept, without a fused kernel
 * @param loss what of the logits is held at once
 * @param local Megatron-LM's own layers, not those of Transformer Engine
 * @param groupedExperts experts run as one grouped multiplication, which has workspaces of its own
 * @param fusedPermutation tokens are sent to experts without an intermediate copy
 * @param deferredHeadGradient the output layer's weight gradient waits, and with it its input
 * @param activationOffload inputs of most modules wait in host memory
 * @param deterministic {@code CUBLAS_WORKSPACE_CONFIG=:4096:8}
 * @param compiled {@code torch.compile}
 * @param asyncTensor tensor-parallel gathers are pipelined with the multiplication, piece by piece
 */
public record Kernels(
        Attention attention,
        Recompute recompute,
        boolean hiddenDropout,
        boolean attentionDropout,
        Loss loss,
        boolean local,
        boolean groupedExperts,
        boolean fusedPermutation,
        boolean deferredHeadGradient,
        boolean activationOffload,
        boolean deterministic,
        boolean compiled,
        boolean asyncTensor,
        Architecture architecture) {

    /** Whether the s x s matrix of probabilities is ever written out. */
    public enum Attention {
        UNFUSED,
        FLASH,
        FUSED
    }

    /** Activations that are dropped in the forward pass and computed again. */
    public enum Recompute {
        NONE,
        /** The core of attention (arXiv 2205.05198); in PyTorch's FSDP2 every second matrix product. */
        SELECTIVE,
        FULL
    }

    /** Bytes held for each logit at the fullest moment of the loss. */
    public enum Loss {
        /** What the framework does by itself. */
        USUAL,
        /** Compiled by the framework's own fuser. */
        FUSED_NATIVE,
        /** The fuser is asked for but falls back, at least in the first call. */
        FUSED_FALLBACK,
        /** Compiled as one kernel that keeps 16-bit logits and their gradient only. */
        COMPILED,
        /** One piece of the sequence after the other. */
        CHUNKED
    }

    /** NVIDIA compute capabilities 8.x, 9.x and 10.x. */
    public enum Architecture {
        SM80,
        SM90,
        SM100
    }

    Kernels with(Attention other) {
        return with(other, recompute);
    }

    Kernels with(Recompute other) {
        return with(attention, other);
    }

    private Kernels with(Attention otherAttention, Recompute otherRecompute) {
        return new Kernels(
                otherAttention,
                otherRecompute,
                hiddenDropout,
                attentionDropout,
                loss,
                local,
                groupedExperts,
                fusedPermutation,
                deferredHeadGradient,
                activationOffload,
                deterministic,
                compiled,
                asyncTensor,
                architecture);
    }
}
