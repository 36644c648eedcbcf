package dev.ullage.coordinator.planning.estimate;

import java.util.Optional;
import java.util.Set;

/**
 * In what numbers weights, gradients and optimizer state are kept, and how they are shared out.
 *
 * @param sharding ZeRO stage: 1 optimizer state, 2 gradients too, 3 (FSDP) weights too
 * @param optimizerInstances copies of the sharded optimizer among the data-parallel ranks
 * @param adapter empty when all weights are trained
 * @param frozenLayers first layers (and, if any, the input embedding) that are not trained
 * @param optimizerInBackward each gradient is used and freed while the backward pass goes on
 */
public record Scheme(
        Precision precision,
        Optimizer optimizer,
        int sharding,
        int optimizerInstances,
        Optional<Adapter> adapter,
        Quantized quantized,
        Offload offload,
        int frozenLayers,
        boolean optimizerInBackward) {

    /** What is computed in, and what the weights are kept in. */
    public enum Precision {
        /** bf16 weights, fp32 gradients, fp32 master weights. */
        BF16,
        /** fp16 weights and gradients, fp32 master weights and, in the step, fp32 gradients. */
        FP16,
        FP32,
        /** Linear layers compute in fp8; kept as BF16. */
        FP8,
        /** All in bf16, the optimizer state too. */
        BF16_TRUE,
        /** fp32 weights, computed in bf16 ({@code torch.autocast}, or FSDP's mixed precision). */
        BF16_AUTOCAST
    }

    /** Optimizers by the state they keep for each trained parameter. */
    public enum Optimizer {
        SGD,
        MOMENTUM,
        ADAM,
        ADAM_8BIT,
        /** The state lives in pageable memory, outside the allocator. */
        PAGED_ADAM_8BIT,
        ADAFACTOR,
        MUON;

        /** Bytes of state a parameter, at {@code width} bytes a number. */
        double stateBytes(double width, int hidden) {
            return switch (this) {
                case SGD, PAGED_ADAM_8BIT -> 0;
                case MOMENTUM -> width;
                case ADAM -> 2 * width;
                case ADAM_8BIT -> 2;
                // A row and a column for each matrix (arXiv 1804.04235): about 2 / hidden of its elements.
                case ADAFACTOR -> 2 * width / hidden;
                // As Megatron-LM keeps it: Adam's two moments are there for every parameter.
                case MUON -> 2 * width;
            };
        }
    }

    /** How the frozen base of an adapter is kept. */
    public enum Quantized {
        NONE(2),
        /** 4 bits and doubly quantized scales (arXiv 2305.14314): 0.516, with rounding 0.52. */
        NF4(0.52),
        /** GPTQ, 4 bits, groups of 128, scales and zeros: 0.58. */
        INT4(0.58),
        INT8(1.03);

        private final double bytes;

        Quantized(double bytes) {
            this.bytes = bytes;
        }

        double bytes() {
            return bytes;
        }
    }

    /** What lives in the host's memory instead of the device's. */
    public enum Offload {
        NONE,
        OPTIMIZER,
        /** Weights too; needs sharding 3. */
        ALL
    }

    /** LoRA (arXiv 2106.09685): two matrices of {@code rank} beside each target. */
    public record Adapter(int rank, Set<Target> targets) {
        public Adapter {
            targets = Set.copyOf(targets);
        }
    }

    /** Linear layers that an adapter can sit beside. */
    public enum Target {
        Q,
        K,
        V,
        O,
        /** One fused matrix for query, key and value. */
        QKV,
        MLP
    }

    /** Optimizer state is shared out, alone or with more. */
    boolean shardsOptimizer() {
        return sharding >= 1;
    }

    Scheme withSharding(int stage) {
        return with(stage, optimizer, offload);
    }

    Scheme with(Optimizer other) {
        return with(sharding, other, offload);
    }

    Scheme with(Offload other) {
        return with(sharding, optimizer, other);
    }

    private Scheme with(int stage, Optimizer otherOptimizer, Offload otherOffload) {
        return new Scheme(
                precision,
                otherOptimizer,
                stage,
                optimizerInstances,
                adapter,
                quantized,
                otherOffload,
                frozenLayers,
                optimizerInBackward);
    }
}
