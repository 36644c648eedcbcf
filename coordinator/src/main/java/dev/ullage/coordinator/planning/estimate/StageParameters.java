package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.ModelShape.Experts;
import dev.ullage.coordinator.planning.estimate.ModelShape.Latent;
import java.util.List;

/**
 * Parameters that one rank of a stage stores before any sharding over data-parallel ranks. Summed layer by layer: an
 * average of layers over stages is up to 32 % too low where stages are uneven.
 *
 * @param dense attention, norms, dense feed-forward parts, embeddings, routers, shared experts
 * @param experts routed experts
 * @param layer the largest single layer, dense part
 * @param frozen the part of all of these that is not trained
 * @param embedding one table of vocabulary x hidden, divided by tensor parallelism
 */
record StageParameters(double dense, double experts, double layer, double frozen, double embedding) {

    double all() {
        return dense + experts;
    }

    static StageParameters of(Setup setup, int stage) {
        ModelShape model = setup.model();
        Layout layout = setup.layout();
        double embedding = (double) setup.paddedVocab() * model.hidden() / layout.tensor();
        double dense = 0;
        double experts = 0;
        double largest = 0;
        double frozen = 0;
        for (int layer : layout.layersOf(stage)) {
            boolean routed = model.hasExperts(layer);
            double one = denseLayer(setup, routed);
            dense += one;
            largest = Math.max(largest, one);
            double routedOnes = routed ? routedExperts(setup) : 0;
            experts += routedOnes;
            frozen += layer < setup.scheme().frozenLayers() ? one + routedOnes : 0;
        }
        if (stage == 0) {
            dense += embedding + positions(setup);
            frozen += setup.scheme().frozenLayers() > 0 ? embedding + positions(setup) : 0;
        }
        if (layout.isLast(stage)) {
            dense += head(setup, embedding);
            for (int extra = 0; extra < model.predictionLayers(); extra++) {
                boolean routed = model.experts().isPresent();
                dense += denseLayer(setup, routed) + 2.0 * model.hidden() * model.hidden() / layout.tensor();
                experts += routed ? routedExperts(setup) : 0;
            }
        }
        return new StageParameters(dense, experts, largest, frozen, embedding);
    }

    /** Of the whole model, undivided: what people call its size. */
    static double total(Setup setup) {
        ModelShape model = setup.model();
        double embedding = (double) model.vocab() * model.hidden();
        double sum = embedding * (model.blocks().tied() ? 1 : 2) + positions(setup) + model.hidden();
        Layout whole = new Layout(1, false, 1, 1, 1, List.of(model.layers()), 1, 1, 1, 1);
        Setup alone = setup.with(whole);
        for (int layer = 0; layer < model.layers(); layer++) {
            boolean routed = model.hasExperts(layer);
            sum += denseLayer(alone, routed) + (routed ? routedExperts(alone) : 0);
        }
        return sum;
    }

    private static double positions(Setup setup) {
        ModelShape model = setup.model();
        double table = model.blocks().learnedPositions() ? (double) setup.sequence() * model.hidden() : 0;
        return table + (model.blocks().encoder() ? 2.0 * model.hidden() : 0);
    }

    /** A second table when the stages differ (its copy is kept in step) or when it is not shared at all. */
    private static double head(Setup setup, double embedding) {
        ModelShape model = setup.model();
        double hidden = model.hidden();
        boolean alone = setup.layout().pipeline() == 1;
        double tables = alone ? (model.blocks().tied() ? 0 : 1) : 1 + Math.min(1, model.predictionLayers());
        double sum = tables * embedding + 2 * hidden;
        if (model.blocks().encoder()) {
            double denseBeforeHead = hidden * hidden + 3 * hidden;
            double pooler = hidden * hidden + 3 * hidden;
            sum += denseBeforeHead
                    + pooler
                    + (double) setup.paddedVocab() / setup.layout().tensor();
        }
        return sum;
    }

    private static double denseLayer(Setup setup, boolean routed) {
        ModelShape model = setup.model();
        double hidden = model.hidden();
        boolean bias = model.blocks().bias();
        int matrices = model.blocks().feedForwardMatrices();
        double split = attentionSplit(model);
        double replicated = (model.blocks().rmsNorm() ? 2 : 4) * hidden + attentionReplicated(model);
        if (bias && model.latent().isEmpty()) {
            split += model.queryWidth() + 2.0 * model.keyValueWidth();
            replicated += hidden;
        }
        if (routed) {
            Experts experts = model.experts().orElseThrow();
            split += matrices * hidden * experts.sharedFfn();
            replicated += hidden * experts.count();
        } else {
            split += matrices * hidden * model.ffn();
            split += bias ? (double) model.ffn() * (matrices - 1) : 0;
            replicated += bias ? hidden : 0;
        }
        return split / setup.layout().tensor() + replicated;
    }

    private static double attentionSplit(ModelShape model) {
        double hidden = model.hidden();
        if (model.latent().isEmpty()) {
            return hidden * (model.queryWidth() + 2.0 * model.keyValueWidth()) + model.queryWidth() * hidden;
        }
        Latent latent = model.latent().get();
        double heads = model.heads();
        double query = latent.queryRank() > 0 ? latent.queryRank() : hidden;
        return query * heads * (latent.headDim() + latent.rotaryDim())
                + latent.keyValueRank() * heads * (latent.headDim() + latent.valueDim())
                + heads * latent.valueDim() * hidden;
    }

    /** The projections into the low ranks, and their norms, are on every tensor-parallel rank. */
    private static double attentionReplicated(ModelShape model) {
        return model.latent()
                .map(latent ->
                        (double) model.hidden() * (latent.queryRank() + latent.keyValueRank() + latent.rotaryDim())
                                + latent.queryRank()
                                + latent.keyValueRank())
                .orElse(0.0);
    }

    private static double routedExperts(Setup setup) {
        Experts experts = setup.model().experts().orElseThrow();
        return (double) experts.count()
                * setup.model().blocks().feedForwardMatrices()
                * setup.model().hidden()
                * experts.ffn()
                / ((double) setup.layout().expert() * setup.layout().expertTensor());
    }
}
