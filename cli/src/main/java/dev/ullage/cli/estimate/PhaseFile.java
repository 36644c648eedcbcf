package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.Part;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/** Memory of each rank in each phase of the first iteration, from one JSON file. */
final class PhaseFile {
    static final String GROUP = "per-rank-phase";

    private PhaseFile() {}

    static boolean isOne(JsonNode root) {
        return root.path("config").has("d_model") && root.path("results").isArray();
    }

    static void read(String name, JsonNode root, Samples samples) {
        SetupReader.Result result = SetupReader.read(fields(root));
        if (result.reading().isEmpty()) {
            samples.skip(GROUP, name, "unusable fields: " + result.problems());
            return;
        }
        RankEstimate rank = Estimator.estimate(result.reading().get()).get(0);
        for (JsonNode one : root.path("results")) {
            for (JsonNode measured : one.path("memory").path("per_rank")) {
                String id = name + " rank " + measured.path("rank").asText();
                JsonNode phases = measured.path("phases");
                add(id, phases, "after_model_init", rank, PhasePoint.INIT, samples);
                add(id, phases, "before_optimizer_step", rank, PhasePoint.BACKWARD, samples);
                add(id, phases, "after_optimizer_step", rank, PhasePoint.OPTIMIZER, samples);
            }
        }
    }

    /** The peak of a phase, and what is allocated at its end. */
    private static void add(
            String id, JsonNode phases, String phase, RankEstimate rank, PhasePoint point, Samples samples) {
        JsonNode measured = phases.path(phase);
        double peak = rank.at(point).value();
        use(id + " " + phase + " peak", measured.path("phase_peak_gib"), peak, rank, samples);
        use(id + " " + phase + " end", measured.path("allocated_gib"), atTheEnd(rank, point), rank, samples);
    }

    private static void use(String id, JsonNode gibibytes, double point, RankEstimate rank, Samples samples) {
        if (!gibibytes.isNumber()) {
            samples.skip(GROUP, id, "no number");
            return;
        }
        double room = (double) rank.upper().value() / rank.peak().value();
        double measured = gibibytes.doubleValue() * MemoryBytes.GIBIBYTE;
        samples.use(new Sample(GROUP, id, true, measured, point, point * room, OptionalDouble.empty()));
    }

    private static double atTheEnd(RankEstimate rank, PhasePoint point) {
        MemoryBytes sum = rank.part(Part.WEIGHTS).plus(rank.part(Part.CONTEXT));
        if (point != PhasePoint.INIT) {
            sum = sum.plus(rank.part(Part.GRADIENTS));
        }
        return (point == PhasePoint.OPTIMIZER ? sum.plus(rank.part(Part.OPTIMIZER)) : sum).value();
    }

    private static Map<String, String> fields(JsonNode root) {
        JsonNode config = root.path("config");
        Map<String, String> fields = new TreeMap<>();
        copy(config, "num_layers", fields, "layers");
        copy(config, "d_model", fields, "hidden");
        copy(config, "num_heads", fields, "heads");
        copy(config, "d_ff", fields, "ffn");
        copy(config, "vocab_size", fields, "vocab");
        copy(config, "context_length", fields, "sequence");
        copy(config, "world_size", fields, "dp");
        int ranks = Math.max(1, config.path("world_size").asInt(1));
        fields.put(
                "micro-batch",
                String.valueOf(Math.max(1, config.path("batch_size").asInt(1) / ranks)));
        fields.put("sharding", config.path("mode").asText().equals("sharded") ? "1" : "0");
        fields.put("dtype", config.path("mixed_precision").asBoolean() ? "bf16-autocast" : "fp32");
        fields.put("framework", "torch");
        fields.put("measure", "allocated");
        fields.put("attention", "unfused");
        fields.put("recompute", "none");
        return fields;
    }

    private static void copy(JsonNode config, String name, Map<String, String> fields, String field) {
        if (config.has(name)) {
            fields.put(field, config.path(name).asText());
        }
    }
}
