package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import dev.ullage.coordinator.planning.estimate.Setup.Measure;

/**
 * Hugging Face transformers in bf16, eager, alone or with DeepSpeed. Checked against Qwen's published table (what the
 * device shows, A100 80 GB).
 */
final class DeepSpeedRecipe implements Recipe {
    /** bf16 logits, their shifted copy, log-softmax and gradient. */
    private static final double BYTES_PER_LOGIT = 8;

    /** stage3_max_live_parameters and the reuse window, 1e9 elements of 2 bytes each. */
    private static final double LIVE_PARAMETERS = 2 * 2e9;

    /**
     * Blocks as large as the logits are of another size in each sequence, so that the allocator cannot use them again:
     * up to 0.85 of the logits, until about 4 GiB lie idle. Both are set by Qwen's published table.
     */
    private static final double IDLE_SHARE = 0.85;

    private static final double MOST_IDLE = 4.2 * GIBIBYTE;

    @Override
    public Terms complete(Setup setup, int stage, StageParameters parameters, Terms state) {
        double loss = Recipe.logits(setup, stage) * BYTES_PER_LOGIT;
        double whole = Activations.eager(setup);
        double inFlight = Recipe.layersInFlight(setup, stage);
        double activations =
                switch (setup.kernels().recompute()) {
                    case FULL -> inFlight * Activations.input(setup) + Math.max(0, whole - loss);
                    case NONE, SELECTIVE -> inFlight * (whole + unfused(setup));
                };
        Terms terms = state.plus(Part.ACTIVATIONS, activations).plus(Part.LOGITS, loss);
        if (setup.scheme().sharding() >= 3) {
            terms = terms.plus(
                    Part.BUFFERS, 2 * parameters.embedding() + 4 * parameters.layer() + liveParameters(parameters));
        }
        if (setup.measure() != Measure.ALLOCATED) {
            terms = terms.plus(Part.SLACK, Math.min(IDLE_SHARE * loss, MOST_IDLE));
        }
        return Recipe.withContext(setup, terms, DEVICE_CONTEXT);
    }

    /** No more than there are. */
    private static double liveParameters(StageParameters parameters) {
        return Math.min(LIVE_PARAMETERS, 2 * parameters.all());
    }

    private static double unfused(Setup setup) {
        boolean writtenOut = setup.kernels().attention() == Kernels.Attention.UNFUSED
                && setup.kernels().recompute() == Recompute.NONE;
        return writtenOut ? 6.0 * setup.model().heads() * setup.sequence() * setup.tokens() : 0;
    }
}
