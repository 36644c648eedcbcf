package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Scheme.Adapter;
import dev.ullage.coordinator.planning.estimate.Scheme.Offload;
import dev.ullage.coordinator.planning.estimate.Scheme.Precision;
import dev.ullage.coordinator.planning.estimate.Scheme.Target;
import dev.ullage.coordinator.planning.estimate.Setup.Framework;

/**
 * Weights, gradients, master weights and optimizer state: bytes per parameter times parameters, shared out.
 *
 * <p>Sources: Megatron-LM's table of its distributed optimizer (docs/source/api-guide/dist_optimizer: fp16 20 or 4 +
 * 16/d, bf16 18 or 6 + 12/d, fp32 16 or 8 + 8/d); ZeRO (arXiv 1910.02054) for stages 1 to 3; LoRA (arXiv 2106.09685).
 */
final class ModelState {
    private ModelState() {}

    /** Bytes of a parameter; {@code step} only while the optimizer works. */
    private record Bytes(double weight, double gradient, double master, double state, double step) {}

    static Terms of(Setup setup, StageParameters parameters) {
        return setup.scheme().adapter().isPresent()
                ? ofAdapter(setup, parameters, setup.scheme().adapter().get())
                : ofAll(setup, parameters);
    }

    private static Bytes bytes(Setup setup) {
        Scheme scheme = setup.scheme();
        double fp32State = scheme.optimizer().stateBytes(4, setup.model().hidden());
        return switch (scheme.precision()) {
            case FP16 -> new Bytes(2, 2, 4, fp32State, 4);
            case FP32, BF16_AUTOCAST -> new Bytes(4, 4, 0, fp32State, 0);
            case BF16_TRUE ->
                new Bytes(
                        2, 2, 0, scheme.optimizer().stateBytes(2, setup.model().hidden()), 0);
            case BF16, FP8 -> mixed(setup, fp32State);
        };
    }

    private static Bytes mixed(Setup setup, double fp32State) {
        boolean sharded = setup.scheme().shardsOptimizer();
        return switch (setup.framework()) {
            // Without sharding, DeepSpeed accumulates in fp32 and flattens a copy in the step.
            case DEEPSPEED -> sharded ? new Bytes(2, 2, 4, fp32State, 0) : new Bytes(2, 4, 4, fp32State, 4);
            case INTERNEVO -> new Bytes(2, 2, 4, fp32State, 0);
            default -> new Bytes(2, 4, 4, fp32State, 0);
        };
    }

    private static Terms ofAll(Setup setup, StageParameters parameters) {
        Scheme scheme = setup.scheme();
        Bytes each = bytes(setup);
        // Tensors kept in fp8 have no 16-bit weights beside them.
        double weight = scheme.precision() == Precision.FP8 && setup.framework() == Framework.MEGATRON
                ? each.weight() / 2
                : each.weight();
        double stateSharers = stateSharers(setup);
        double expertSharers = expertSharers(setup);
        int stage = scheme.sharding();
        double trained = parameters.all() == 0 ? 0 : 1 - parameters.frozen() / parameters.all();
        double weights = weight * shared(parameters, stage >= 3, setup);
        double gradients = each.gradient() * trained * shared(parameters, stage >= 2, setup);
        double optimized = trained
                * (stage >= 1
                        ? parameters.dense() / stateSharers + parameters.experts() / expertSharers
                        : parameters.all());
        if (scheme.optimizerInBackward()) {
            gradients = each.gradient() * Math.max(parameters.embedding(), parameters.layer());
        }
        boolean away = scheme.offload() != Offload.NONE;
        boolean weightsAway = scheme.offload() == Offload.ALL;
        return Terms.none()
                .plus(Part.WEIGHTS, weightsAway ? 0 : weights)
                .plus(Part.GRADIENTS, gradients)
                .plus(Part.MASTER, away ? 0 : each.master() * optimized)
                .plus(Part.OPTIMIZER, away ? 0 : each.state() * optimized)
                .plus(Part.STEP, away ? 0 : each.step() * optimized);
    }

    private static double shared(StageParameters parameters, boolean isShared, Setup setup) {
        return isShared
                ? parameters.dense() / setup.sharers() + parameters.experts() / expertReplicas(setup)
                : parameters.all();
    }

    /** Megatron-LM's Muon does not share its state out, whatever the distributed optimizer is set to. */
    private static double stateSharers(Setup setup) {
        if (setup.scheme().optimizer() == Scheme.Optimizer.MUON) {
            return 1;
        }
        return Math.max(1, setup.sharers() / setup.scheme().optimizerInstances());
    }

    private static double expertReplicas(Setup setup) {
        Layout layout = setup.layout();
        double ranks = layout.worldSize();
        return Math.max(1, ranks / ((double) layout.pipeline() * layout.expertTensor() * layout.expert()));
    }

    private static double expertSharers(Setup setup) {
        return setup.scheme().optimizer() == Scheme.Optimizer.MUON
                ? 1
                : Math.max(1, expertReplicas(setup) / setup.scheme().optimizerInstances());
    }

    /** The base has weights only; the adapter is trained in fp32, or in bf16 where all is. */
    private static Terms ofAdapter(Setup setup, StageParameters parameters, Adapter adapter) {
        Scheme scheme = setup.scheme();
        double sharers = setup.sharers();
        double adapted =
                adapterParameters(setup.model(), adapter) / setup.layout().tensor();
        adapted = adapted / setup.layout().pipeline();
        double width = scheme.precision() == Precision.BF16_TRUE ? 2 : 4;
        double base = scheme.quantized() == Scheme.Quantized.NONE && scheme.precision() == Precision.FP32
                ? 4 * parameters.all()
                : baseBytes(setup, parameters);
        double shardedBase = scheme.sharding() >= 3 ? base / sharers : base;
        double optimized = scheme.shardsOptimizer() ? adapted / sharers : adapted;
        double held = scheme.sharding() >= 3 ? adapted / sharers : adapted;
        boolean away = scheme.offload() != Offload.NONE;
        return Terms.none()
                .plus(Part.WEIGHTS, (scheme.offload() == Offload.ALL ? 0 : shardedBase) + width * held)
                .plus(Part.GRADIENTS, width * held)
                .plus(
                        Part.OPTIMIZER,
                        away
                                ? 0
                                : scheme.optimizer()
                                                .stateBytes(width, setup.model().hidden())
                                        * optimized);
    }

    /** Embeddings and output layer are never quantized. */
    private static double baseBytes(Setup setup, StageParameters parameters) {
        int tables = setup.model().blocks().tied() ? 1 : 2;
        double tableParameters = Math.min(parameters.all(), tables * parameters.embedding());
        return setup.scheme().quantized().bytes() * (parameters.all() - tableParameters) + 2 * tableParameters;
    }

    static double adapterParameters(ModelShape model, Adapter adapter) {
        double widths = 0;
        for (Target target : Target.values()) {
            if (adapter.targets().contains(target)) {
                widths += widths(model, target);
            }
        }
        return adapter.rank() * widths * model.layers();
    }

    /** Input width and output width, of each matrix. */
    private static double widths(ModelShape model, Target target) {
        double hidden = model.hidden();
        return switch (target) {
            case Q, O -> hidden + model.queryWidth();
            case K, V -> hidden + model.keyValueWidth();
            case QKV -> hidden + model.queryWidth() + 2.0 * model.keyValueWidth();
            case MLP -> model.blocks().feedForwardMatrices() * (hidden + model.ffn());
        };
    }

    /**
     * What offloading moves to the host for this rank: fp32 master weights, optimizer state, gradients on their way.
     */
    static double hostBytes(Setup setup, StageParameters parameters) {
        if (setup.scheme().offload() == Offload.NONE) {
            return 0;
        }
        Scheme home = setup.scheme().with(Offload.NONE);
        Terms there = of(setup.with(home), parameters);
        Terms here = of(setup, parameters);
        double moved = there.get(Part.WEIGHTS)
                + there.get(Part.MASTER)
                + there.get(Part.OPTIMIZER)
                - here.get(Part.WEIGHTS)
                - here.get(Part.MASTER)
                - here.get(Part.OPTIMIZER);
        return moved + there.get(Part.GRADIENTS);
    }
}
