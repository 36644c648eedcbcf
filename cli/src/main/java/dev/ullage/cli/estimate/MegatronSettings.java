package dev.ullage.cli.estimate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Megatron-LM's arguments, in a table's columns and a test's other settings, as fields of an estimate. */
final class MegatronSettings {
    private static final int GPT2_TOKENS = 50_257;
    private static final int BERT_CASED_TOKENS = 28_996;
    private static final Pattern DENSE_FIRST = Pattern.compile("\\(\\[0\\]\\*(\\d+)\\+\\[1\\]\\*\\d+\\)");

    private final Map<String, String> row;
    private final Map<String, String> more;
    private final Map<String, String> fields = new TreeMap<>();

    MegatronSettings(Map<String, String> row, Map<String, String> more) {
        this.row = row;
        this.more = more;
    }

    /** Throws {@link NumberFormatException} when a number is none. */
    Map<String, String> fields() {
        model();
        layout();
        scheme();
        kernels();
        return fields;
    }

    private boolean isEncoder() {
        return "bert".equals(row.get("suite"));
    }

    private void model() {
        boolean gated = isTrue(row.get("swiglu"));
        int hidden = number("hidden").orElse(0);
        int ffn = number("ffn")
                .or(() -> setting("ffn-hidden-size"))
                .orElse(gated ? hidden * 8 / 3 / 64 * 64 : 4 * hidden);
        copy("layers", "layers");
        copy("hidden", "hidden");
        copy("heads", "heads");
        copy("query_groups", "kv-heads");
        copy("kv_channels", "head-dim");
        put("ffn", ffn);
        int usualTokens = isEncoder() ? BERT_CASED_TOKENS : GPT2_TOKENS;
        put("vocab", number("vocab").or(() -> setting("vocab-size")).orElse(usualTokens));
        put("vocab-multiple", setting("make-vocab-size-divisible-by").orElse(128));
        put("tied", !isTrue(row.get("untie")));
        put("gated", gated);
        put("norm", "RMSNorm".equals(row.get("normalization")) ? "rms" : "layer");
        put("bias", !isTrue(row.get("disable_bias")));
        String positions = row.getOrDefault("pos_emb", "learned_absolute");
        put("positions", positions.equals("rope") ? "rotary" : positions.equals("none") ? "none" : "learned");
        put("encoder", isEncoder());
        put("prediction-layers", setting("mtp-num-layers").orElse(0));
        experts(ffn);
        latent();
    }

    private void experts(int ffn) {
        int count = number("num_experts").orElse(0);
        put("experts", count);
        if (count == 0) {
            return;
        }
        put("top-k", setting("moe-router-topk").or(() -> number("topk")).orElse(2));
        put("expert-ffn", number("moe_ffn").orElse(ffn));
        put("shared-ffn", setting("moe-shared-expert-intermediate-size").orElse(0));
        Matcher pattern = DENSE_FIRST.matcher(more.getOrDefault("moe-layer-freq", ""));
        if (pattern.matches()) {
            put("dense-layers", Integer.parseInt(pattern.group(1)));
        }
    }

    private void latent() {
        if (isTrue(more.get("multi-latent-attention"))) {
            setting("q-lora-rank").ifPresent(rank -> put("mla-query-rank", rank));
            setting("kv-lora-rank").ifPresent(rank -> put("mla-kv-rank", rank));
            setting("qk-head-dim").ifPresent(width -> put("mla-head-dim", width));
            setting("qk-pos-emb-head-dim").ifPresent(width -> put("mla-rotary-dim", width));
            setting("v-head-dim").ifPresent(width -> put("mla-value-dim", width));
        }
    }

    private void layout() {
        copy("tp", "tp");
        copy("pp", "pp");
        copy("cp", "cp");
        copy("ep", "ep");
        copy("etp", "etp");
        copy("dp", "dp");
        put("sp", isTrue(row.get("sequence_parallel")));
        int stages = number("pp").orElse(1);
        int layers = number("layers").orElse(1);
        int virtual = setting("num-virtual-stages-per-pipeline-rank")
                .or(() -> setting("num-layers-per-virtual-pipeline-stage").map(each -> layers / stages / each))
                .orElse(1);
        if (stages > 1 && virtual > 1) {
            put("virtual-stages", virtual);
            setting("microbatch-group-size-per-virtual-pipeline-stage").ifPresent(group -> put("group", group));
        }
        chunks(layers, stages, stages > 1 ? virtual : 1).ifPresent(chunks -> put("stages", chunks));
    }

    /** Uneven splits: stated for the first and the last stage, or embedding and loss counted as a layer each. */
    private Optional<String> chunks(int layers, int stages, int virtual) {
        Optional<Integer> first = setting("decoder-first-pipeline-num-layers");
        Optional<Integer> last = setting("decoder-last-pipeline-num-layers");
        List<Integer> chunks = new ArrayList<>();
        if (first.isPresent() && last.isPresent() && virtual == 1 && stages > 2) {
            int between = (layers - first.get() - last.get()) / (stages - 2);
            chunks.add(first.get());
            for (int stage = 1; stage < stages - 1; stage++) {
                chunks.add(between);
            }
            chunks.add(last.get());
        } else if (row.getOrDefault("test_case", "").contains("account_for_embedding_loss")) {
            int parts = stages * virtual;
            for (int part = 0; part < parts; part++) {
                chunks.add((layers + 2) / parts - (part == 0 || part == parts - 1 ? 1 : 0));
            }
        }
        return chunks.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        String.join(",", chunks.stream().map(String::valueOf).toList()));
    }

    private void scheme() {
        put("framework", "megatron");
        put("measure", "allocated");
        copy("seq", "sequence");
        copy("micro_batch", "micro-batch");
        copy("global_batch", "global-batch");
        put("optimizer", row.getOrDefault("optimizer", "adam"));
        boolean small = isTrue(more.get("fp8-param-gather"));
        String dtype = row.getOrDefault("dtype", "bf16");
        put("dtype", dtype.equals("fp8") && !small ? "bf16" : dtype);
        boolean fsdp = isTrue(row.get("fsdp"));
        put("sharding", fsdp ? 3 : isTrue(row.get("dist_optimizer")) ? 1 : 0);
        put(
                "optimizer-instances",
                setting("num-distributed-optimizer-instances").orElse(1));
    }

    private void kernels() {
        boolean local = !"transformer_engine".equals(row.get("transformer_impl"));
        boolean fusedLoss = isTrue(more.get("cross-entropy-loss-fusion"));
        put("local-layers", local);
        put("hidden-dropout", !"0.0".equals(more.getOrDefault("hidden-dropout", "0.1")));
        put("attention-dropout", !"0.0".equals(more.getOrDefault("attention-dropout", "0.1")));
        put("attention", attention(local, fusedLoss));
        boolean nativeFuser = fusedLoss && "native".equals(more.getOrDefault("cross-entropy-fusion-impl", "native"));
        put("loss", !nativeFuser ? "usual" : MegatronImages.lossFallsBack(row) ? "fused-fallback" : "fused-native");
        put("grouped-experts", isTrue(more.get("moe-grouped-gemm")));
        put("fused-permutation", isTrue(more.get("moe-permute-fusion")));
        put("deferred-head-gradient", isTrue(more.get("defer-embedding-wgrad-compute")));
        put("activation-offload", isTrue(more.get("fine-grained-activation-offloading")));
        put("deterministic", isTrue(more.get("deterministic-mode")));
        put("recompute", recompute());
        put("architecture", MegatronImages.architecture(row));
    }

    /** Selective recomputation is of the core of attention unless other modules are named. */
    private String recompute() {
        String granularity = row.getOrDefault("recompute", more.getOrDefault("recompute-granularity", "none"));
        String modules = more.getOrDefault("recompute-modules", "core_attn");
        return granularity.equals("selective") && !modules.contains("core_attn") ? "none" : granularity;
    }

    private String attention(boolean local, boolean fusedLoss) {
        String backend = more.getOrDefault("attention-backend", local || isEncoder() ? "unfused" : "auto");
        if (!backend.equals("auto")) {
            return backend;
        }
        boolean deterministic = isTrue(more.get("deterministic-mode"));
        return MegatronImages.lacksFusedAttention(row, deterministic || fusedLoss) ? "unfused" : "flash";
    }

    private void put(String field, Object value) {
        fields.put(field, value.toString());
    }

    private void copy(String column, String field) {
        Optional.ofNullable(row.get(column)).ifPresent(value -> put(field, value));
    }

    private Optional<Integer> number(String column) {
        return Optional.ofNullable(row.get(column)).map(Integer::valueOf);
    }

    private Optional<Integer> setting(String name) {
        return Optional.ofNullable(more.get(name)).map(Integer::valueOf);
    }

    private static boolean isTrue(@Nullable String text) {
        return "true".equalsIgnoreCase(text);
    }
}
