package dev.ullage.cli.estimate;

import dev.ullage.common.model.MemoryBytes;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Runs of PEFT's comparison of methods (its {@code results/*.json} as a table), as rows of published peaks. Only plain
 * LoRA and full fine-tuning of a language model have a formula; whether activations are checkpointed is not stated.
 */
final class PeftTable {
    static final String GROUP = "huggingface/peft (comparison of methods)";

    private PeftTable() {}

    static boolean isTable(Map<String, String> row) {
        return row.containsKey("mem_max") && row.containsKey("peft");
    }

    /** The row as {@link PlannerRows} reads it; empty, with the reason noted, when no formula is known. */
    static Optional<Map<String, String>> published(Map<String, String> row, Samples samples) {
        String id = row.getOrDefault("exp", "?");
        Optional<String> reason = unknown(row, id);
        if (reason.isPresent()) {
            samples.skip(GROUP, id, reason.get());
            return Optional.empty();
        }
        Map<String, String> published = new HashMap<>();
        published.put("id", id);
        published.put("kind", "measured");
        published.put("source_repo", GROUP);
        published.put("source_path", row.getOrDefault("path", ""));
        published.put("model", modelName(row));
        published.put("seq", row.getOrDefault("max_seq", ""));
        published.put("micro_batch", row.getOrDefault("batch", ""));
        published.put("dtype", "bf16");
        published.put("optimizer", isFull(row) ? "adamw" : "adamw(LoRA r=%s)".formatted(row.getOrDefault("r", "8")));
        published.put("lora_targets", id.contains("target-mlp") ? "mlp" : "q,v");
        for (String size : new String[] {"dp", "tp", "pp", "cp"}) {
            published.put(size, "1");
        }
        published.put("zero_stage", "0");
        published.put("gpu", "L40S");
        OptionalDouble most = MegatronRows.number(row, "mem_max");
        most.ifPresent(bytes -> published.put("documented_gib", String.valueOf(bytes / MemoryBytes.GIBIBYTE)));
        return Optional.of(published);
    }

    private static Optional<String> unknown(Map<String, String> row, String id) {
        if (!row.containsKey("max_seq")) {
            return Optional.of("unknown: a model that makes images");
        }
        if (!isFull(row) && !"LORA".equals(row.get("peft"))) {
            return Optional.of("unknown: no formula for the method " + row.get("peft"));
        }
        return id.contains("dora") || id.contains("bdlora")
                ? Optional.of("unknown: no formula for this variant of LoRA")
                : Optional.empty();
    }

    private static boolean isFull(Map<String, String> row) {
        return "full".equals(row.get("peft"));
    }

    /** {@code meta-llama/Llama-3.2-3B} is {@code llama3.2-3b}. */
    private static String modelName(Map<String, String> row) {
        String name = row.getOrDefault("model", "").toLowerCase(Locale.ROOT);
        return name.substring(name.indexOf('/') + 1).replace("llama-", "llama");
    }
}
