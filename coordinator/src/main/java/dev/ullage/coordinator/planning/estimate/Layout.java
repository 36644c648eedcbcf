package dev.ullage.coordinator.planning.estimate;

import java.util.ArrayList;
import java.util.List;

/**
 * How the model and its batch are spread over the ranks.
 *
 * @param tensor tensor-parallel size
 * @param sequenceParallel norms and dropout are split along the sequence too
 * @param virtualStages chunks of layers on each pipeline stage; 1 without interleaving
 * @param group micro-batches that pass one chunk before the next, with interleaving
 * @param chunks layers of each chunk in model order: chunk {@code c} lies on stage {@code c mod pipeline}
 * @param context context-parallel size
 * @param expert expert-parallel size
 * @param expertTensor tensor-parallel size inside an expert
 * @param data data-parallel size, context not counted
 */
public record Layout(
        int tensor,
        boolean sequenceParallel,
        int pipeline,
        int virtualStages,
        int group,
        List<Integer> chunks,
        int context,
        int expert,
        int expertTensor,
        int data) {
    Layout with(List<Integer> otherChunks) {
        return with(tensor, sequenceParallel, expertTensor, data, otherChunks);
    }

    Layout withSequenceParallel() {
        return with(tensor, true, expertTensor, data, chunks);
    }

    /** Twice the tensor parallelism at the cost of data parallelism. */
    Layout withTwiceTheTensor() {
        return with(2 * tensor, sequenceParallel, expertTensor, data / 2, chunks);
    }

    private Layout with(
            int otherTensor, boolean sequence, int otherExpertTensor, int otherData, List<Integer> otherChunks) {
        return new Layout(
                otherTensor,
                sequence,
                pipeline,
                virtualStages,
                group,
                otherChunks,
                context,
                expert,
                otherExpertTensor,
                otherData);
    }

    public int worldSize() {
        return tensor * pipeline * context * data;
    }

    boolean isLast(int stage) {
        return stage == pipeline - 1;
    }

    /** By how much norms and residuals are divided. */
    int residualSplit() {
        return sequenceParallel ? tensor : 1;
    }

    /** The stage's layers, as indices into the model. */
    List<Integer> layersOf(int stage) {
        List<Integer> layers = new ArrayList<>();
        for (int chunk = stage; chunk < chunks.size(); chunk += pipeline) {
            layers.addAll(layersOfChunk(chunk));
        }
        return layers;
    }

    List<Integer> layersOfChunk(int chunk) {
        int first = 0;
        for (int before = 0; before < chunk; before++) {
            first += chunks.get(before);
        }
        List<Integer> layers = new ArrayList<>();
        for (int layer = first; layer < first + chunks.get(chunk); layer++) {
            layers.add(layer);
        }
        return layers;
    }

    /**
     * Micro-batches in flight in each chunk of the stage at its fullest. 1F1B: stage {@code i} of {@code p} holds
     * {@code min(m, p - i)} (arXiv 2104.04473, section 2.2). Interleaved: it runs {@code 2(p - i - 1) + (v - 1)G + 1}
     * forward passes before its first backward pass, chunk by chunk in groups of G.
     */
    List<Integer> inFlight(int stage, int microBatches) {
        if (virtualStages == 1) {
            return List.of(Math.min(microBatches, pipeline - stage));
        }
        int passes =
                Math.min(2 * (pipeline - stage - 1) + (virtualStages - 1) * group + 1, microBatches * virtualStages);
        List<Integer> held = new ArrayList<>();
        for (int chunk = 0; chunk < virtualStages - 1; chunk++) {
            int taken = Math.min(group, passes);
            held.add(taken);
            passes -= taken;
        }
        held.add(passes);
        return held;
    }

    /** Chunks of equal size; a remainder makes the first ones a layer longer. */
    static List<Integer> even(int layers, int parts) {
        List<Integer> chunks = new ArrayList<>();
        for (int part = 0; part < parts; part++) {
            chunks.add(layers / parts + (part < layers % parts ? 1 : 0));
        }
        return List.copyOf(chunks);
    }
}
