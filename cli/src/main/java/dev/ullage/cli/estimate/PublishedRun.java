package dev.ullage.cli.estimate;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One row of published peaks as fields of an estimate. What a row leaves open and its source does not fix (adapter
 * ranks in a repository's script, kernels of a framework) is set by the source, never by the row.
 */
final class PublishedRun {
    private static final Pattern ADAPTER_RANK = Pattern.compile("r=(\\d+)");
    private static final Pattern DATED = Pattern.compile("_(20\\d{4})_");
    private static final int COMPILED_LOSS_SINCE = 202_501;
    private static final int INTERNEVO_MICRO_BATCHES = 4;
    private static final int QWEN_ADAPTER_RANK = 64;
    private static final int USUAL_ADAPTER_RANK = 8;

    private final Map<String, String> row;
    private final String repository;
    private final String notes;
    private final Map<String, String> fields = new TreeMap<>();

    PublishedRun(Map<String, String> row) {
        this.row = row;
        this.repository = row.getOrDefault("source_repo", "").toLowerCase(Locale.ROOT);
        this.notes = row.getOrDefault("notes", "");
    }

    boolean isMegatron() {
        return repository.equals("nvidia/megatron-lm");
    }

    /** Measured before any later iteration. */
    boolean isFirstIteration() {
        return repository.endsWith("assignment2-systems");
    }

    /** Why no formula is known for the row; empty when one is. */
    Optional<String> unknown() {
        String dtype = row.getOrDefault("dtype", "");
        if (dtype.contains("fp4")) {
            return Optional.of("unknown: no formula for " + dtype);
        }
        if (!isMegatron() && !(row.containsKey("dp") && row.containsKey("tp") && row.containsKey("pp"))) {
            return Optional.of("the split over ranks is not stated");
        }
        return Optional.empty();
    }

    Map<String, String> fields(Map<String, String> shape) {
        fields.putAll(shape);
        common();
        if (repository.endsWith("/torchtitan")) {
            torchtitan();
        } else if (repository.endsWith("/internevo")) {
            internEvo();
        } else if (repository.endsWith("/litgpt")) {
            put("framework", "litgpt");
            put("measure", "allocated");
            put("dtype", "bf16-true");
            put("attention", "flash");
            adapter(USUAL_ADAPTER_RANK, "q,v");
        } else if (repository.endsWith("/torchtune")) {
            torchtune();
        } else if (isFirstIteration()) {
            plain();
        } else {
            deepSpeed();
        }
        return fields;
    }

    private void common() {
        copy("seq", "sequence");
        copy("micro_batch", "micro-batch");
        copy("tp", "tp");
        copy("pp", "pp");
        copy("cp", "cp");
        copy("dp", "dp");
        copy("zero_stage", "sharding");
        copy("checkpointing", "recompute");
        put("sp", !"1".equals(row.getOrDefault("tp", "1")));
        put("architecture", row.getOrDefault("gpu", "").contains("H") ? "sm90" : "sm80");
        put("dtype", "bf16");
        String lower = notes.toLowerCase(Locale.ROOT);
        if (lower.contains("cpu offload") && !lower.contains("without cpu offload")) {
            put("offload", "3".equals(row.get("zero_stage")) ? "all" : "optimizer");
        }
    }

    private void torchtitan() {
        put("framework", "fsdp");
        put("measure", "reserved");
        put("dtype", "bf16-autocast");
        put("attention", "flash");
        boolean eager = notes.contains("eager");
        put("compile", !eager);
        Matcher dated = DATED.matcher(row.getOrDefault("source_path", ""));
        boolean newer = dated.find() && Integer.parseInt(dated.group(1)) >= COMPILED_LOSS_SINCE;
        put("loss", newer && !eager ? "compiled" : "usual");
        put("async-tensor", notes.contains("AsyncTP"));
        int stages = number("pp");
        if (stages > 1) {
            // The local batch is cut into as many micro-batches as there are stages.
            int local = number("micro_batch");
            int pieces = Math.max(1, Math.min(local, stages));
            put("micro-batch", Math.max(1, local / pieces));
            put("global-batch", Math.max(1, local / pieces) * pieces * number("dp"));
            put("virtual-stages", notes.contains("Interleaved") ? 2 : 1);
        }
    }

    private void internEvo() {
        put("framework", "internevo");
        put("measure", "device");
        put("attention", "flash");
        put("global-batch", INTERNEVO_MICRO_BATCHES * number("micro_batch") * number("dp"));
    }

    private void torchtune() {
        put("framework", "torchtune");
        put("measure", "reserved");
        put("dtype", "bf16-true");
        put("attention", "flash");
        put("compile", true);
        // Its recipes checkpoint unless told otherwise.
        fields.putIfAbsent("recompute", "full");
        put("optimizer", "paged-adam-8bit");
        put("optimizer-in-backward", notes.contains("optimizer-in-backward"));
        adapter(USUAL_ADAPTER_RANK, notes.contains("full") ? "q,v" : "q,v,o,mlp");
        if (fields.containsKey("lora-rank")) {
            put("optimizer", "adam");
        }
    }

    /** The batch is that of both ranks together, and attention is written out. */
    private void plain() {
        put("framework", "torch");
        put("measure", "allocated");
        put("dtype", "bf16-autocast");
        put("attention", "unfused");
        put("micro-batch", Math.max(1, number("micro_batch") / number("dp")));
    }

    /** Hugging Face's trainer, with DeepSpeed where there is more than one device. */
    private void deepSpeed() {
        put("framework", "deepspeed");
        boolean compared = row.getOrDefault("source_path", "").startsWith("method_comparison");
        put("measure", compared ? "reserved" : "device");
        if (compared && !row.getOrDefault("optimizer", "").contains("LoRA")) {
            // PEFT's comparison loads the model in bf16 and trains it as it is.
            put("dtype", "bf16-true");
        }
        put("attention", "flash");
        boolean qwen = repository.endsWith("/qwen");
        if (repository.endsWith("/ms-swift")) {
            // Its gradient_checkpointing is on unless switched off.
            fields.putIfAbsent("recompute", "full");
        }
        String targets = row.getOrDefault("lora_targets", qwen ? "qkv,o,mlp" : "q,v");
        adapter(qwen ? QWEN_ADAPTER_RANK : USUAL_ADAPTER_RANK, targets);
    }

    private void adapter(int usualRank, String targets) {
        String optimizer = row.getOrDefault("optimizer", "").toLowerCase(Locale.ROOT);
        if (!optimizer.contains("lora")) {
            return;
        }
        Matcher rank = ADAPTER_RANK.matcher(optimizer);
        put("lora-rank", rank.find() ? Integer.parseInt(rank.group(1)) : usualRank);
        put("lora-targets", targets);
        String dtype = row.getOrDefault("dtype", "");
        put("quantized", dtype.startsWith("nf4") ? "nf4" : dtype.startsWith("int4") ? "int4" : "none");
    }

    private int number(String column) {
        return Integer.parseInt(row.getOrDefault(column, "1"));
    }

    private void put(String field, Object value) {
        fields.put(field, value.toString());
    }

    private void copy(String column, String field) {
        Optional.ofNullable(row.get(column)).ifPresent(value -> put(field, value));
    }
}
