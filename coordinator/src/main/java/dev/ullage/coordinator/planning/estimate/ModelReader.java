package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.ModelShape.Blocks;
import dev.ullage.coordinator.planning.estimate.ModelShape.Experts;
import dev.ullage.coordinator.planning.estimate.ModelShape.Latent;
import dev.ullage.coordinator.planning.estimate.Setup.Framework;
import java.util.Optional;

/** The fields of a {@link ModelShape}. */
final class ModelReader {
    /** Larger than any model by far, and small enough that no sum of products overflows. */
    private static final int MOST_WIDTH = 1 << 21;

    private static final int MOST_LAYERS = 10_000;
    private static final int MOST_TOKENS = 1 << 26;
    private static final int MOST_EXPERTS = 1 << 16;

    private enum Norm {
        RMS,
        LAYER
    }

    private enum Positions {
        ROTARY,
        LEARNED,
        NONE
    }

    private ModelReader() {}

    static ModelShape read(Fields fields, Framework framework) {
        int layers = fields.required("layers", MOST_LAYERS);
        int hidden = fields.required("hidden", MOST_WIDTH);
        int heads = fields.required("heads", MOST_WIDTH);
        int ffn = fields.required("ffn", MOST_WIDTH);
        int vocab = fields.required("vocab", MOST_TOKENS);
        boolean derived = !fields.has("head-dim");
        if (derived && hidden % heads != 0) {
            fields.problem("hidden", "a multiple of heads = " + heads + " unless head-dim is given");
        }
        int kvHeads = fields.count("kv-heads", 1, MOST_WIDTH, heads);
        if (heads % kvHeads != 0) {
            fields.problem("kv-heads", "a divisor of heads = " + heads);
        }
        int multiple = framework == Framework.MEGATRON ? 128 : 1;
        return new ModelShape(
                layers,
                hidden,
                heads,
                kvHeads,
                fields.count("head-dim", 1, MOST_WIDTH, Math.max(1, hidden / heads)),
                ffn,
                vocab,
                fields.count("vocab-multiple", 1, MOST_TOKENS, multiple),
                blocks(fields),
                experts(fields, ffn, layers),
                latent(fields),
                fields.count("prediction-layers", 0, MOST_LAYERS, 0));
    }

    private static Blocks blocks(Fields fields) {
        Positions positions = fields.choice("positions", Positions.class).orElse(Positions.ROTARY);
        return new Blocks(
                fields.flag("tied", false),
                fields.flag("gated", true),
                fields.choice("norm", Norm.class).orElse(Norm.RMS) == Norm.RMS,
                fields.flag("bias", false),
                positions == Positions.LEARNED,
                positions == Positions.ROTARY,
                fields.flag("parallel-block", false),
                fields.flag("encoder", false));
    }

    private static Optional<Experts> experts(Fields fields, int ffn, int layers) {
        int count = fields.count("experts", 0, MOST_EXPERTS, 0);
        if (count == 0) {
            return Optional.empty();
        }
        int topK = fields.count("top-k", 1, MOST_EXPERTS, Math.min(2, count));
        if (topK > count) {
            fields.problem("top-k", "at most experts = " + count);
        }
        return Optional.of(new Experts(
                count,
                topK,
                fields.count("expert-ffn", 1, MOST_WIDTH, ffn),
                fields.count("shared-ffn", 0, MOST_WIDTH, 0),
                fields.count("dense-layers", 0, layers, 0)));
    }

    private static Optional<Latent> latent(Fields fields) {
        if (!fields.has("mla-kv-rank")) {
            return Optional.empty();
        }
        return Optional.of(new Latent(
                fields.count("mla-query-rank", 0, MOST_WIDTH, 0),
                fields.required("mla-kv-rank", MOST_WIDTH),
                fields.required("mla-head-dim", MOST_WIDTH),
                fields.required("mla-rotary-dim", MOST_WIDTH),
                fields.required("mla-value-dim", MOST_WIDTH)));
    }
}
