package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Architecture;
import dev.ullage.coordinator.planning.estimate.Kernels.Loss;
import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import java.util.List;

/**
 * Megatron-LM core. Checked against the memory that its own functional tests log ({@code mem-max-allocated-bytes} of
 * golden_values*.json).
 */
final class MegatronRecipe implements Recipe {
    /** Loss scalars, random states, input tokens, masks: what is left on every run once all else is counted. */
    private static final double SMALL_TENSORS = 0.015 * GIBIBYTE;

    @Override
    public Terms complete(Setup setup, int stage, StageParameters parameters, Terms state) {
        double mean = meanLayer(setup, stage);
        double kept = kept(setup, stage, mean);
        double prediction = 0;
        if (setup.layout().isLast(stage)) {
            boolean routed = setup.model().experts().isPresent();
            prediction = setup.model().predictionLayers() * Activations.fused(setup, routed);
        }
        double recomputed = setup.kernels().recompute() == Recompute.FULL ? mean : 0;
        double loss = Recipe.logits(setup, stage) * bytesPerLogit(setup);
        double residual =
                setup.tokens() * setup.model().hidden() / setup.layout().residualSplit();
        Terms terms = state.plus(Part.ACTIVATIONS, kept + prediction + Math.max(0, recomputed - loss))
                .plus(Part.LOGITS, loss + denseBeforeHead(setup, stage))
                // A micro-batch on its way in and its gradient on its way out, 2 bytes each.
                .plus(Part.COMMUNICATION, 4 * residual);
        if (setup.scheme().sharding() >= 3) {
            // Megatron-FSDP gathers as FSDP2 does: root, current and prefetched layer, and one reduction in fp32.
            double largest = Math.max(parameters.embedding(), parameters.layer());
            terms = terms.plus(Part.BUFFERS, 2 * (parameters.embedding() + 2 * parameters.layer()) + 4 * largest);
        }
        terms = Recipe.withSlack(setup, terms, USUAL_SLACK);
        return Recipe.withContext(setup, terms.plus(Part.CONTEXT, workspaces(setup)), DEVICE_CONTEXT);
    }

    private static double meanLayer(Setup setup, int stage) {
        List<Integer> layers = setup.layout().layersOf(stage);
        double sum = 0;
        for (int layer : layers) {
            sum += Activations.fused(setup, setup.model().hasExperts(layer));
        }
        return layers.isEmpty() ? 0 : sum / layers.size();
    }

    /** Offloaded activations leave the layer at work and the one on its way back. */
    private static double kept(Setup setup, int stage, double mean) {
        if (setup.kernels().activationOffload()) {
            return 2 * mean;
        }
        double inFlight = Recipe.layersInFlight(setup, stage);
        return inFlight * (setup.kernels().recompute() == Recompute.FULL ? Activations.input(setup) : mean);
    }

    /**
     * bf16 logits and their fp32 softmax make 6; the fused one keeps fp32 logits and a gradient besides, 10; where the
     * fuser falls back all is written out, 14. A deferred weight gradient holds its input, 4 more.
     */
    private static double bytesPerLogit(Setup setup) {
        double once =
                switch (setup.kernels().loss()) {
                    case FUSED_NATIVE -> 10;
                    case FUSED_FALLBACK -> 14;
                    case COMPILED, CHUNKED -> 4;
                    case USUAL -> 6;
                };
        double heads = 1 + setup.model().predictionLayers();
        return once * heads
                + (setup.kernels().deferredHeadGradient() && setup.kernels().loss() != Loss.CHUNKED ? 4 : 0);
    }

    /** An encoder's extra layer before the output: product, activation and norm, 12 bytes an element. */
    private static double denseBeforeHead(Setup setup, int stage) {
        boolean there = setup.model().blocks().encoder() && setup.layout().isLast(stage);
        return there ? 12.0 * setup.tokens() * setup.model().hidden() : 0;
    }

    /**
     * Transformer Engine holds a cuBLAS workspace of 32 MiB (4 MiB on sm80), and four more for grouped experts. PyTorch
     * holds one for the forward and one for the backward thread: 8.125 MiB each, 32 MiB on sm90 or with
     * {@code CUBLAS_WORKSPACE_CONFIG=:4096:8}; on sm100 it depends on the version, so the mean of the two.
     */
    private static double workspaces(Setup setup) {
        Kernels kernels = setup.kernels();
        double engine = kernels.local() ? 0 : kernels.architecture() == Architecture.SM80 ? 4 : 32;
        double usual =
                switch (kernels.architecture()) {
                    case SM80 -> 8.125;
                    case SM90 -> 32;
                    case SM100 -> 20;
                };
        double sum = SMALL_TENSORS + (engine + 2 * (kernels.deterministic() ? 32 : usual)) * MEBIBYTE;
        if (kernels.groupedExperts() && setup.model().experts().isPresent()) {
            sum += 4 * engine * MEBIBYTE;
        }
        if (kernels.local()) {
            // The output layer's weight gradient before it is added to the main one.
            sum += 2.0
                    * setup.paddedVocab()
                    * setup.model().hidden()
                    / setup.layout().tensor();
        }
        return sum;
    }
}
