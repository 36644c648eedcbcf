package dev.ullage.coordinator.planning.estimate;

import java.util.Optional;

/**
 * The shape of a decoder (or, with {@link Blocks#encoder}, BERT-like) transformer.
 *
 * @param layers blocks, without those of multi-token prediction
 * @param hidden width of the residual stream
 * @param heads query heads
 * @param kvHeads key and value heads: fewer than {@code heads} with grouped queries
 * @param headDim width of a head
 * @param ffn inner width of a dense feed-forward part
 * @param vocab tokens, before padding
 * @param vocabMultiple the vocabulary is padded to a multiple of this times the tensor-parallel size
 * @param blocks what the blocks are made of
 * @param experts empty for a dense model
 * @param latent low ranks of multi-head latent attention
 * @param predictionLayers extra layers of multi-token prediction, on the last stage
 */
public record ModelShape(
        int layers,
        int hidden,
        int heads,
        int kvHeads,
        int headDim,
        long ffn,
        long vocab,
        int vocabMultiple,
        Blocks blocks,
        Optional<Experts> experts,
        Optional<Latent> latent,
        int predictionLayers) {

    /**
     * @param tied one table is input embedding and output layer
     * @param gated the feed-forward part has three matrices (SwiGLU, GeGLU), else two
     * @param rmsNorm else LayerNorm, which has a bias
     * @param bias linear layers have one
     * @param learnedPositions a table of sequence x hidden
     * @param rotary positions are rotated into queries and keys
     * @param parallel attention and feed-forward part share one norm and run side by side
     * @param encoder BERT: token types, pooler, a dense layer before the output
     */
    public record Blocks(
            boolean tied,
            boolean gated,
            boolean rmsNorm,
            boolean bias,
            boolean learnedPositions,
            boolean rotary,
            boolean parallel,
            boolean encoder) {
        int feedForwardMatrices() {
            return gated ? 3 : 2;
        }
    }

    /**
     * @param count routed experts of a layer
     * @param topK how many a token goes to
     * @param ffn inner width of a routed expert
     * @param sharedFfn inner width of what every token goes through besides; 0 for none
     * @param denseLayers first layers without experts
     */
    public record Experts(int count, int topK, long ffn, long sharedFfn, int denseLayers) {}

    /** DeepSeek-V2 (arXiv 2405.04434): low ranks of query and key-value, head widths without, with, for the value. */
    public record Latent(int queryRank, int keyValueRank, int headDim, int rotaryDim, int valueDim) {}

    long queryWidth() {
        return (long) heads * headDim;
    }

    long keyValueWidth() {
        return (long) kvHeads * headDim;
    }

    boolean hasExperts(int layer) {
        return experts.isPresent() && layer >= experts.get().denseLayers();
    }
}
