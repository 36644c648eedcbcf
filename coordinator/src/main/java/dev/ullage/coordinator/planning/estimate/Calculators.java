package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Kernels.Recompute;
import dev.ullage.coordinator.planning.estimate.ModelShape.Experts;
import dev.ullage.coordinator.planning.estimate.Scheme.Offload;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** What well-known calculators say, flaws included; each line in bytes, in the order of the calculation. */
public final class Calculators {
    private static final double BUFFER_FACTOR = 1.5;

    private Calculators() {}

    /**
     * @param parameters of the model
     * @param largestLayer parameters of its largest layer
     * @param stage ZeRO stage 2 or 3
     * @param zeroInit weights are partitioned while they are made ({@code deepspeed.zero.Init})
     */
    public record ZeroInput(
            double parameters,
            double largestLayer,
            int gpusPerNode,
            int nodes,
            int stage,
            Offload offload,
            boolean zeroInit) {}

    /**
     * DeepSpeed's {@code estimate_zero2_model_states_mem_needs} and {@code estimate_zero3_model_states_mem_needs}, by
     * the code (deepspeed/runtime/zero/stage_1_and_2.py and stage3.py). The documentation's page prints 4P + 16P/N for
     * stage 2 and is out of date.
     */
    public static Map<String, Double> deepSpeed(ZeroInput input) {
        double parameters = input.parameters();
        double gpus = (double) input.gpusPerNode() * input.nodes();
        double largest = 4 * input.largestLayer();
        Map<String, Double> lines = new LinkedHashMap<>();
        if (input.stage() == 2) {
            boolean away = input.offload() != Offload.NONE;
            lines.put("device", away ? 2 * parameters : 2 * parameters + 18 * parameters / gpus);
            double host = away ? parameters * Math.max(4 * gpus, 16) : 4 * parameters * input.gpusPerNode();
            lines.put("host, each node", BUFFER_FACTOR * host);
            return Collections.unmodifiableMap(lines);
        }
        lines.put("largest layer, gathered", largest);
        double shared =
                switch (input.offload()) {
                    case NONE -> 18 * parameters / gpus;
                    case OPTIMIZER -> 2 * parameters / gpus;
                    case ALL -> 0.0;
                };
        lines.put("device", largest + shared);
        double away =
                switch (input.offload()) {
                    case NONE -> 0.0;
                    case OPTIMIZER -> 16 * parameters / input.nodes();
                    case ALL -> 18 * parameters / input.nodes();
                };
        double whileMade = 4.0 * input.gpusPerNode() * (input.zeroInit() ? input.largestLayer() : parameters);
        boolean nothingAway = input.offload() == Offload.NONE;
        double host = input.zeroInit() && !nothingAway ? away : Math.max(whileMade, away);
        lines.put("host, each node", BUFFER_FACTOR * host);
        return Collections.unmodifiableMap(lines);
    }

    /**
     * Activations of one layer in 16 bits, Korthikanti et al., arXiv 2205.05198, table 2. Flash attention keeps no
     * probabilities either, as selective recomputation.
     */
    public static Map<String, Double> korthikanti(Setup setup) {
        double s = setup.sequence();
        double tokensTimesHidden = s * setup.microBatch() * setup.model().hidden();
        double t = setup.layout().tensor();
        double pairs = 5.0 * setup.model().heads() * s / setup.model().hidden();
        Map<String, Double> lines = new LinkedHashMap<>();
        lines.put("no parallelism", tokensTimesHidden * (34 + pairs));
        lines.put("tensor parallel", tokensTimesHidden * (10 + 24 / t + pairs / t));
        lines.put("tensor + sequence parallel", tokensTimesHidden * (34 + pairs) / t);
        lines.put("tensor parallel + selective", tokensTimesHidden * (10 + 24 / t));
        lines.put("tensor + sequence parallel + selective", 34 * tokensTimesHidden / t);
        lines.put("full recomputation", 2 * tokensTimesHidden);
        return Collections.unmodifiableMap(lines);
    }

    /**
     * Megatron-LM's {@code --log-memory-to-tensorboard} theory (megatron/training/theoretical_memory_usage.py): the
     * most loaded shard with layers averaged over stages, and activations of the first stage.
     */
    public static Map<String, Double> megatron(Setup setup) {
        Map<String, Double> lines = new LinkedHashMap<>();
        double state = megatronState(setup);
        double activations =
                setup.layout().sequenceParallel() || setup.kernels().recompute() == Recompute.SELECTIVE
                        ? megatronSequenceParallel(setup)
                        : megatronActivations(setup);
        lines.put("weights and optimizer", state);
        lines.put("activations", activations);
        lines.put("total", state + activations);
        return Collections.unmodifiableMap(lines);
    }

    private static double megatronState(Setup setup) {
        ModelShape model = setup.model();
        Layout layout = setup.layout();
        double hidden = model.hidden();
        int matrices = model.blocks().feedForwardMatrices();
        double attention =
                2 * hidden * hidden * (1 + (double) model.kvHeads() / model.heads()) * (model.queryWidth() / hidden);
        double norms = 2 * hidden * (model.blocks().rmsNorm() ? 1 : 2);
        double split = 0;
        double replicated = 0;
        double routed = 0;
        for (int layer = 0; layer < model.layers(); layer++) {
            split += attention;
            replicated += norms;
            if (model.hasExperts(layer)) {
                Experts experts = model.experts().orElseThrow();
                replicated += hidden * experts.count();
                split += matrices * hidden * experts.sharedFfn();
                routed += matrices * hidden * experts.ffn() * experts.count();
            } else {
                split += matrices * hidden * model.ffn();
            }
        }
        double table = hidden * setup.paddedVocab();
        double stages = layout.pipeline();
        double dense = (split / stages + table) / layout.tensor() + replicated / stages;
        if (!model.blocks().tied() && layout.pipeline() == 1) {
            dense += table / layout.tensor();
        }
        double experts = routed / (stages * layout.expertTensor() * layout.expert());
        double ranks = (double) layout.tensor() * layout.context() * layout.data();
        double expertSharers = Math.max(1, ranks / ((double) layout.expertTensor() * layout.expert()));
        boolean shared = setup.scheme().shardsOptimizer();
        return dense * (shared ? 6 + 12 / setup.sharers() : 18) + experts * (shared ? 6 + 12 / expertSharers : 18);
    }

    private static double scheduled(Setup setup, double activations) {
        double stages = setup.layout().pipeline();
        if (setup.layout().virtualStages() > 1) {
            return activations * (1 + (stages - 1) / (stages * setup.layout().virtualStages()));
        }
        return stages > 1 ? activations * Math.min(1, setup.microBatches() / stages) : activations;
    }

    private static double megatronSequenceParallel(Setup setup) {
        ModelShape model = setup.model();
        double samples = (double) setup.sequence() * setup.microBatch();
        double elements = samples * model.hidden();
        double stages = setup.layout().pipeline();
        double sum = elements * (18 + 4.0 * model.ffn() / model.hidden()) * model.layers();
        sum = scheduled(setup, sum + 8 * samples * stages + elements * stages);
        if (setup.layout().pipeline() == 1) {
            sum += 4 * elements * (1 + (double) setup.paddedVocab() / model.hidden());
        }
        return sum / setup.layout().tensor();
    }

    private static double megatronActivations(Setup setup) {
        ModelShape model = setup.model();
        double samples = (double) setup.sequence() * setup.microBatch();
        double elements = samples * model.hidden();
        double t = setup.layout().tensor();
        double stages = setup.layout().pipeline();
        double sum = elements * (10 + 24 / t) * model.layers();
        sum = scheduled(setup, sum + 8 * samples * stages + elements * stages);
        if (setup.layout().pipeline() == 1) {
            sum += 2 * (samples * setup.paddedVocab() / t + elements);
        }
        return 1.05 * sum;
    }

    /**
     * EleutherAI's cookbook, calc/calc_transformer_mem.py. As there: gradients are not divided by tensor parallelism,
     * the optimizer is divided by all GPUs, and "checkpointing" is the paper's selective recomputation.
     */
    public static Map<String, Double> eleuther(Setup setup) {
        ModelShape model = setup.model();
        double h = model.hidden();
        double layers = model.layers();
        double keyValueRatio = (double) model.kvHeads() / model.heads();
        double parameters = 2.0 * model.vocab() * h
                + h * setup.sequence()
                + 8 * h * layers
                + 2 * h
                + 2 * (1 + keyValueRatio) * layers * h * h
                + model.blocks().feedForwardMatrices() * layers * h * model.ffn();
        double gpus = setup.layout().worldSize();
        int stage = setup.scheme().sharding();
        double weights = 2
                * parameters
                / ((double) setup.layout().tensor() * setup.layout().pipeline());
        boolean momentum = setup.scheme().optimizer() != Scheme.Optimizer.ADAM;
        double optimizer = (momentum ? 8 : 12) * parameters;
        double samples = (double) setup.sequence() * setup.microBatch() * h * layers;
        double pairs = 5.0 * model.heads() * setup.sequence() / h;
        boolean checkpointed = setup.kernels().recompute() != Recompute.NONE;
        double activations =
                samples * (checkpointed ? 34 : 34 + pairs) / setup.layout().tensor();
        Map<String, Double> lines = new LinkedHashMap<>();
        lines.put("parameters (a number)", parameters);
        lines.put("weights", stage >= 3 ? weights / gpus : weights);
        lines.put("gradients", stage >= 2 ? 4 * parameters / gpus : 4 * parameters);
        lines.put("optimizer", stage >= 1 ? optimizer / gpus : optimizer);
        lines.put("communication", (stage >= 1 ? 1e9 : 0) + (stage >= 3 ? 2e9 : 0));
        lines.put("activations", activations);
        double total = 0;
        for (Map.Entry<String, Double> line : lines.entrySet()) {
            total += line.getKey().startsWith("parameters") ? 0 : line.getValue();
        }
        lines.put("total", total);
        return Collections.unmodifiableMap(lines);
    }
}
