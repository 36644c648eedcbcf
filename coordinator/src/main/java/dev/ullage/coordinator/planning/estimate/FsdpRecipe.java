package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Loss;
import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;

/**
 * PyTorch FSDP2 with tensor, context and pipeline parallelism, as torchtitan drives it: fp32 shards, computed in bf16.
 * Checked against torchtitan's published benchmarks (largest reserved memory of all devices).
 */
final class FsdpRecipe implements Recipe {
    private static final double SMALL_TENSORS = 0.1 * GIBIBYTE;

    @Override
    public Terms complete(Setup setup, int stage, StageParameters parameters, Terms state) {
        Terms terms = state.plus(Part.ACTIVATIONS, activations(setup, stage))
                .plus(Part.LOGITS, Recipe.logits(setup, stage) * bytesPerLogit(setup))
                .plus(Part.BUFFERS, buffers(setup, parameters))
                .plus(Part.COMMUNICATION, gathers(setup));
        terms = Recipe.withSlack(setup, terms, USUAL_SLACK).plus(Part.CONTEXT, SMALL_TENSORS);
        return Recipe.withContext(setup, terms, DEVICE_CONTEXT);
    }

    private static double activations(Setup setup, int stage) {
        boolean routed = setup.model().experts().isPresent();
        double whole = Activations.fused(setup, routed);
        double inFlight = Recipe.layersInFlight(setup, stage);
        Recompute recompute = setup.kernels().recompute();
        if (recompute == Recompute.FULL) {
            return inFlight * Activations.input(setup) + whole;
        }
        return inFlight
                * (recompute == Recompute.SELECTIVE ? Math.min(whole, Activations.everySecondProduct(setup)) : whole);
    }

    /**
     * Compiled: 12 (bf16 and fp32 logits, softmax, gradient) or, as one kernel, 4. Eager 14; on tensor-parallel pieces
     * ({@code loss_parallel}) all of it is written out, 16.
     */
    private static double bytesPerLogit(Setup setup) {
        if (setup.layout().tensor() > 1) {
            return 16;
        }
        if (setup.kernels().loss() == Loss.COMPILED) {
            return 4;
        }
        return setup.kernels().compiled() ? 12 : 14;
    }

    /**
     * Gathered bf16 weights of the root, the current and the prefetched layer, and one reduce-scatter in fp32. Between
     * pipeline stages weights stay gathered (2 bytes, of one chunk at a time) and gradients stay whole (4 bytes) until
     * the last micro-batch.
     */
    private static double buffers(Setup setup, StageParameters parameters) {
        if (setup.scheme().sharding() < 3) {
            return 0;
        }
        double layer = parameters.layer();
        double table = parameters.embedding();
        if (setup.layout().pipeline() == 1) {
            return 2 * (table + 2 * layer) + 4 * Math.max(table, layer);
        }
        return (4 + 2.0 / setup.layout().virtualStages()) * parameters.all() + 6 * layer;
    }

    /** The inputs of attention and feed-forward part and their gradients, gathered over tensor parallelism. */
    private static double gathers(Setup setup) {
        if (setup.layout().tensor() == 1 || setup.kernels().asyncTensor()) {
            return 0;
        }
        double once = 4.0 * setup.tokens() * setup.model().hidden();
        return setup.layout().pipeline() == 1 ? once : 2 * once;
    }
}
