package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Setup.Framework;
import dev.ullage.coordinator.planning.estimate.Setup.Measure;

/** What a framework holds on a rank besides the model's state. */
@FunctionalInterface
interface Recipe {
    double MEBIBYTE = 1L << 20;
    double GIBIBYTE = 1L << 30;

    /** Context and libraries that a device shows for a process: 1 to 2 GB by the documentation of accelerate. */
    double DEVICE_CONTEXT = 1.5 * GIBIBYTE;

    /** Of what comes and goes, the share that stays reserved and unused: measured 1.01 to 1.17 of the allocated. */
    double USUAL_SLACK = 0.08;

    /** {@code state} and all else that a rank of {@code stage} holds. */
    Terms complete(Setup setup, int stage, StageParameters parameters, Terms state);

    static Recipe of(Framework framework) {
        return switch (framework) {
            case MEGATRON -> new MegatronRecipe();
            case FSDP -> new FsdpRecipe();
            case DEEPSPEED -> new DeepSpeedRecipe();
            case LITGPT -> PyTorchRecipes::litgpt;
            case INTERNEVO -> PyTorchRecipes::internEvo;
            case TORCHTUNE -> PyTorchRecipes::torchtune;
            case TORCH -> PyTorchRecipes::plain;
        };
    }

    static Terms withSlack(Setup setup, Terms terms, double share) {
        return setup.measure() == Measure.ALLOCATED ? terms : terms.plus(Part.SLACK, share * terms.working());
    }

    static Terms withContext(Setup setup, Terms terms, double bytes) {
        return setup.measure() == Measure.DEVICE ? terms.plus(Part.CONTEXT, bytes) : terms;
    }

    /** Logits of a micro-batch that a rank of the last stage holds, as a number of elements. */
    static double logits(Setup setup, int stage) {
        return setup.layout().isLast(stage)
                ? setup.tokens() * setup.paddedVocab() / setup.layout().tensor()
                : 0;
    }

    /** Layers times micro-batches in flight on the stage; frozen first layers keep nothing. */
    static double layersInFlight(Setup setup, int stage) {
        Layout layout = setup.layout();
        double sum = 0;
        int held = 0;
        for (int microBatches : layout.inFlight(stage, setup.microBatches())) {
            long trained = layout.layersOfChunk(stage + held * layout.pipeline()).stream()
                    .filter(layer -> layer >= setup.scheme().frozenLayers())
                    .count();
            sum += (double) microBatches * trained;
            held++;
        }
        return sum;
    }
}
