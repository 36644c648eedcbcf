package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Architecture;
import dev.ullage.coordinator.planning.estimate.Kernels.Attention;
import dev.ullage.coordinator.planning.estimate.ModelShape.Experts;
import dev.ullage.coordinator.planning.estimate.ModelShape.Latent;

/** What one layer keeps of one micro-batch for its backward pass, on one rank. */
final class Activations {
    /**
     * Routed tokens are not spread evenly: what the fullest rank gets, against the mean. Measured on Megatron's runs.
     */
    private static final double ROUTING_IMBALANCE = 1.2;

    private Activations() {}

    /**
     * Megatron-LM and Transformer Engine, 16 bit, fused norms. After Korthikanti et al. (arXiv 2205.05198), term by
     * term instead of as 34 sbh: both norms' inputs and outputs, dropout masks, queries, keys, values, the attention's
     * output, and each matrix' input in the feed-forward part.
     */
    static double fused(Setup setup, boolean routed) {
        ModelShape model = setup.model();
        Layout layout = setup.layout();
        double hidden = model.hidden();
        double residual = layout.residualSplit();
        double tensor = layout.tensor();
        double each = 8 * hidden / residual;
        each += setup.kernels().hiddenDropout() ? 2 * hidden / residual : 0;
        each += attention(model) / tensor;
        if (routed) {
            each += routedPart(setup) / residual;
            each += 2.0
                    * model.experts().orElseThrow().sharedFfn()
                    * model.blocks().feedForwardMatrices()
                    / tensor;
        } else {
            each += 2.0 * model.ffn() * model.blocks().feedForwardMatrices() / tensor;
        }
        return each * setup.tokens() + probabilities(setup);
    }

    private static double attention(ModelShape model) {
        if (model.latent().isEmpty()) {
            return 2.0 * (model.queryWidth() + 2 * model.keyValueWidth()) + 2.0 * model.queryWidth();
        }
        Latent latent = model.latent().get();
        double query = (double) model.heads() * (latent.headDim() + latent.rotaryDim());
        double value = (double) model.heads() * latent.valueDim();
        return 4 * query + 4 * value;
    }

    /** Low ranks and their norms, on every tensor-parallel rank. */
    private static double lowRanks(ModelShape model) {
        return model.latent()
                .map(latent -> 4.0 * latent.queryRank() + 4.0 * (latent.keyValueRank() + latent.rotaryDim()))
                .orElse(0.0);
    }

    /** For each token that this rank sends out: what the experts on it keep of what comes in. */
    private static double routedPart(Setup setup) {
        ModelShape model = setup.model();
        Layout layout = setup.layout();
        Experts experts = model.experts().orElseThrow();
        double gathered = layout.sequenceParallel() ? layout.expertTensor() : 1;
        double copies = setup.kernels().fusedPermutation() ? 2 : 3;
        double imbalance = layout.expert() > 1 ? ROUTING_IMBALANCE : 1;
        double each = 2.0 * model.hidden() * copies
                + 2.0 * experts.ffn() * model.blocks().feedForwardMatrices() / layout.expertTensor();
        return imbalance * experts.topK() * gathered * each;
    }

    /**
     * Without a fused kernel the probabilities, 2 bytes for each head and pair of tokens, and with dropout a mask and a
     * second copy; a fused one keeps a sum for each row and, but on sm90, a copy of its output.
     */
    private static double probabilities(Setup setup) {
        ModelShape model = setup.model();
        double tensor = setup.layout().tensor();
        double lowRanks = lowRanks(model) * setup.tokens();
        if (unfused(setup)) {
            double pair = setup.kernels().attentionDropout() ? 5 : 2;
            return lowRanks
                    + pair
                            * model.heads()
                            / tensor
                            * setup.sequence()
                            / setup.layout().context()
                            * setup.sequence()
                            * setup.microBatch();
        }
        if (model.latent().isPresent()) {
            return lowRanks;
        }
        double copy = setup.kernels().architecture() == Architecture.SM90 ? 0 : 2.0 * model.queryWidth() / tensor;
        return (4.0 * model.heads() / tensor + copy) * setup.tokens();
    }

    private static boolean unfused(Setup setup) {
        return setup.kernels().attention() == Attention.UNFUSED
                && setup.kernels().recompute() != Kernels.Recompute.SELECTIVE;
    }

    /** The layer's input: all that full recomputation keeps. */
    static double input(Setup setup) {
        return 2.0 * setup.model().hidden() / setup.layout().residualSplit() * setup.tokens();
    }

    /**
     * torchtitan's selective operator checkpointing: of the seven products of a block every second is kept (query,
     * value, the first and the last of the feed-forward part), besides attention's output and the block's input.
     */
    static double everySecondProduct(Setup setup) {
        ModelShape model = setup.model();
        double hidden = model.hidden();
        double kept = model.queryWidth() + model.keyValueWidth() + model.ffn() + hidden;
        return (2 * hidden + 2.0 * model.queryWidth() + 2 * kept)
                / setup.layout().tensor()
                * setup.tokens();
    }

    /**
     * Eager PyTorch in bf16. A norm keeps its input and output; RMSNorm is computed in fp32 and keeps 6 bytes. A gated
     * feed-forward part keeps four tensors of its width, another one two. Frozen matrices keep no input; a trained one
     * keeps 2 bytes, an adapter's dropout 3.
     */
    static double eager(Setup setup) {
        ModelShape model = setup.model();
        double hidden = model.hidden();
        boolean adapted = setup.scheme().adapter().isPresent();
        double norm = model.blocks().rmsNorm() ? 6 : 2;
        double each = norm * hidden * (model.blocks().parallel() ? 1 : 2)
                + 2.0 * (model.queryWidth() + 2 * model.keyValueWidth())
                + 2.0 * model.queryWidth()
                + (model.blocks().gated() ? 8.0 : 4.0) * model.ffn();
        each += adapted ? 3 * hidden : 4 * hidden + 2.0 * (model.queryWidth() + model.keyValueWidth());
        return each * setup.tokens();
    }

    /**
     * fp32 weights under {@code torch.autocast}, attention written out: norms and residuals in fp32, 16-bit products,
     * and bytes for each head and pair of tokens. The 37 and the 6 are set so that one measured model (3.4B, sequence
     * 512) comes to about 116 h for a token of a layer; other shapes are not checked.
     */
    static double autocast(Setup setup) {
        ModelShape model = setup.model();
        double each = 37.0 * model.hidden()
                + 2.0 * (model.queryWidth() + 2 * model.keyValueWidth())
                + 2.0 * model.queryWidth()
                + (model.blocks().gated() ? 8.0 : 4.0) * model.ffn();
        double pairs = setup.kernels().attention() == Attention.UNFUSED
                ? 6.0 * model.heads() * setup.sequence()
                : 4.0 * model.heads();
        return (each + pairs) * setup.tokens();
    }
}
