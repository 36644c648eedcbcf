package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import dev.ullage.coordinator.planning.estimate.Scheme.Quantized;

/** Frameworks whose rules are short, and plain PyTorch. */
final class PyTorchRecipes {
    private PyTorchRecipes() {}

    /**
     * litgpt in bf16-true: the head runs over pieces of the sequence, 8 bytes a logit, 4 under checkpointing. With FSDP
     * a full copy of a frozen base stays beside the shard, and three layers are gathered. Checked against litgpt's
     * resource tables (largest allocated, LoRA).
     */
    static Terms litgpt(Setup setup, int stage, StageParameters parameters, Terms state) {
        double inFlight = Recipe.layersInFlight(setup, stage);
        boolean full = setup.kernels().recompute() == Recompute.FULL;
        double activations = inFlight * (full ? Activations.input(setup) : Activations.eager(setup));
        Terms terms = state.plus(Part.ACTIVATIONS, activations)
                .plus(Part.LOGITS, Recipe.logits(setup, stage) * (full ? 4 : 8));
        if (setup.scheme().sharding() >= 3) {
            terms = terms.plus(Part.BUFFERS, 6 * parameters.layer());
            terms = setup.scheme().adapter().isPresent() ? terms.plus(Part.WEIGHTS, 2 * parameters.all()) : terms;
        }
        terms = Recipe.withSlack(setup, terms, Recipe.USUAL_SLACK).plus(Part.CONTEXT, 0.03 * Recipe.GIBIBYTE);
        return Recipe.withContext(setup, terms, Recipe.DEVICE_CONTEXT);
    }

    /**
     * InternEvo keeps flat copies, 16 bytes a parameter (12 under FSDP), and without FSDP about 3 GiB more. These three
     * numbers are set by its published table, not read from its code. Whether its "GB" is 10^9 or 2^30 bytes is not
     * stated: 7 % that no formula removes.
     */
    static Terms internEvo(Setup setup, int stage, StageParameters parameters, Terms state) {
        boolean fsdp = setup.scheme().sharding() >= 3;
        double sharers = setup.sharers();
        double flat = (fsdp ? 12 : 16) * parameters.all() / sharers;
        double gathered = sharers > 1
                ? 2 * (parameters.embedding() + 2 * parameters.layer())
                        + 4 * Math.max(parameters.embedding(), parameters.layer())
                : 0;
        double bucket = fsdp ? 0 : 3 * Recipe.GIBIBYTE;
        double whole = Activations.fused(setup, setup.model().experts().isPresent());
        boolean full = setup.kernels().recompute() == Recompute.FULL;
        double inFlight = Recipe.layersInFlight(setup, stage);
        double activations = full ? inFlight * Activations.input(setup) + whole : inFlight * whole;
        Terms terms = state.plus(Part.ACTIVATIONS, activations)
                .plus(Part.LOGITS, setup.layout().pipeline() == 1 ? Recipe.logits(setup, stage) * 14 : 0)
                .plus(Part.BUFFERS, gathered);
        terms = Recipe.withSlack(setup, terms, Recipe.USUAL_SLACK)
                .plus(Part.BUFFERS, bucket)
                .plus(Part.OPTIMIZER, flat)
                .plus(Part.COMMUNICATION, setup.layout().tensor() > 1 ? 0.5 * Recipe.GIBIBYTE : 0);
        return Recipe.withContext(setup, terms, Recipe.DEVICE_CONTEXT);
    }

    /**
     * torchtune: bf16, checkpointed, compiled. The loss goes over the sequence in eight pieces, of which one and a half
     * are there at once, except in plain full fine-tuning. Checked against torchtune's README.
     */
    static Terms torchtune(Setup setup, int stage, StageParameters parameters, Terms state) {
        boolean adapted = setup.scheme().adapter().isPresent();
        boolean chunked = adapted || setup.scheme().optimizerInBackward();
        double loss = Recipe.logits(setup, stage) * 12 * (chunked ? 1.5 / 8 : 1);
        double inFlight = Recipe.layersInFlight(setup, stage);
        double activations = inFlight
                * (setup.kernels().recompute() == Recompute.FULL ? Activations.input(setup) : Activations.eager(setup));
        double buffers = 0;
        if (setup.scheme().sharding() >= 3 && setup.sharers() > 1) {
            boolean nf4 = setup.scheme().quantized() != Quantized.NONE;
            // Quantized layers travel as they are; one matrix at a time is made 16 bits wide.
            buffers = nf4
                    ? 2 * setup.scheme().quantized().bytes() * parameters.layer()
                            + 2.0 * setup.model().hidden() * setup.model().ffn()
                    : 2 * (parameters.embedding() + 2 * parameters.layer());
        }
        Terms terms = state.plus(Part.ACTIVATIONS, activations)
                .plus(Part.LOGITS, loss)
                .plus(Part.BUFFERS, buffers);
        return Recipe.withContext(setup, Recipe.withSlack(setup, terms, 0.04), Recipe.DEVICE_CONTEXT);
    }

    /**
     * Plain PyTorch, one process a device. Under autocast a bf16 copy of every weight is kept for the backward pass.
     * Gradients are set to none between steps. The 128 MiB and the 0.095 bytes a parameter are what a 3.4B model on two
     * ranks shows; where the former comes from is not known.
     */
    static Terms plain(Setup setup, int stage, StageParameters parameters, Terms state) {
        double inFlight = Recipe.layersInFlight(setup, stage);
        boolean autocast = setup.scheme().precision() == Scheme.Precision.BF16_AUTOCAST;
        double layer = autocast ? Activations.autocast(setup) : Activations.eager(setup);
        boolean full = setup.kernels().recompute() == Recompute.FULL;
        double activations = full ? inFlight * Activations.input(setup) + layer : inFlight * layer;
        double casts = autocast ? 2 * parameters.all() : 0;
        Terms terms = state.freeingGradients()
                .plus(Part.ACTIVATIONS, activations + casts)
                .plus(Part.LOGITS, Recipe.logits(setup, stage) * 10)
                // What one multi-tensor launch of the optimizer makes: 0.3 GiB with 3.4e9 fp32 parameters.
                .plus(Part.STEP, 0.095 * parameters.all())
                .plus(Part.CONTEXT, 128 * Recipe.MEBIBYTE);
        terms = Recipe.withSlack(setup, terms, Recipe.USUAL_SLACK);
        return Recipe.withContext(setup, terms, Recipe.DEVICE_CONTEXT);
    }
}
