package dev.ullage.coordinator.planning.estimate;

import dev.ullage.coordinator.planning.estimate.Scheme.Adapter;
import dev.ullage.coordinator.planning.estimate.Scheme.Offload;
import dev.ullage.coordinator.planning.estimate.Scheme.Optimizer;
import dev.ullage.coordinator.planning.estimate.Scheme.Precision;
import dev.ullage.coordinator.planning.estimate.Scheme.Quantized;
import dev.ullage.coordinator.planning.estimate.Scheme.Target;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The fields of a {@link Scheme}. */
final class SchemeReader {
    private static final int MOST_RANK = 1 << 16;

    private SchemeReader() {}

    static Scheme read(Fields fields, ModelShape model) {
        Optional<Adapter> adapter = adapter(fields);
        Quantized quantized = fields.choice("quantized", Quantized.class).orElse(Quantized.NONE);
        if (quantized != Quantized.NONE && adapter.isEmpty()) {
            fields.problem("quantized", "only the frozen base of adapters can be: lora-rank is missing");
        }
        Offload offload = fields.choice("offload", Offload.class).orElse(Offload.NONE);
        int sharding = fields.count("sharding", 0, 3, 0);
        if (offload == Offload.ALL && sharding < 3) {
            fields.problem("offload", "all needs sharding 3, not " + sharding);
        }
        return new Scheme(
                fields.choice("dtype", Precision.class).orElse(Precision.BF16),
                fields.choice("optimizer", Optimizer.class).orElse(Optimizer.ADAM),
                sharding,
                fields.count("optimizer-instances", 1, 1 << 20, 1),
                adapter,
                quantized,
                offload,
                fields.count("frozen-layers", 0, model.layers(), 0),
                fields.flag("optimizer-in-backward", false));
    }

    private static Optional<Adapter> adapter(Fields fields) {
        if (!fields.has("lora-rank")) {
            if (fields.has("lora-targets")) {
                fields.problem("lora-targets", "needs lora-rank");
            }
            return Optional.empty();
        }
        int rank = fields.count("lora-rank", 1, MOST_RANK, 1);
        Set<Target> targets = EnumSet.noneOf(Target.class);
        for (String name : fields.text("lora-targets").orElse("q,v").split(",", -1)) {
            try {
                targets.add(Target.valueOf(name.strip().toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                fields.problem("lora-targets", "some of q, k, v, o, qkv, mlp with commas between them");
                break;
            }
        }
        return Optional.of(new Adapter(rank, targets));
    }
}
