package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Setup.Framework;
import java.util.List;

/** The fields of a {@link Layout}. */
final class LayoutReader {
    private static final int MOST_RANKS = 1 << 20;
    private static final int MOST_CHUNKS = 10_000;

    private LayoutReader() {}

    /** Without chunks, which depend on the model. */
    static Layout sizes(Fields fields, Framework framework) {
        int tensor = fields.count("tp", 1, MOST_RANKS, 1);
        int pipeline = fields.count("pp", 1, MOST_CHUNKS, 1);
        int experts = fields.count("ep", 1, MOST_RANKS, 1);
        int context = fields.count("cp", 1, MOST_RANKS, 1);
        int data = fields.count("dp", 1, MOST_RANKS, 1);
        if ((double) tensor * pipeline * context * data > MOST_RANKS) {
            fields.problem("dp", "tp x pp x cp x dp is at most " + MOST_RANKS);
        }
        return new Layout(
                tensor,
                fields.flag("sp", false) && tensor > 1,
                pipeline,
                fields.count("virtual-stages", 1, MOST_CHUNKS, 1),
                fields.count("group", 1, MOST_RANKS, pipeline),
                List.of(),
                context,
                experts,
                fields.count("etp", 1, MOST_RANKS, framework == Framework.MEGATRON ? tensor : 1),
                data);
    }

    static Layout withChunks(Fields fields, Layout sizes, ModelShape model) {
        int parts = sizes.pipeline() * sizes.virtualStages();
        List<Integer> chunks = fields.numbers("stages").orElse(List.of());
        if (!chunks.isEmpty()) {
            int sum = chunks.stream().mapToInt(Integer::intValue).sum();
            if (chunks.size() != parts) {
                fields.problem("stages", "one number for each of pp x virtual-stages = " + parts + " chunks");
            } else if (sum != model.layers()) {
                fields.problem("stages", "numbers that add up to layers = " + model.layers() + ", not " + sum);
            }
        } else if (parts > model.layers()) {
            String field = sizes.virtualStages() > 1 ? "virtual-stages" : "pp";
            fields.problem(field, "pp x virtual-stages = " + parts + " is at most layers = " + model.layers());
        }
        boolean usable = chunks.size() == parts;
        return sizes.with(usable ? chunks : Layout.even(model.layers(), Math.min(parts, MOST_CHUNKS)));
    }
}
