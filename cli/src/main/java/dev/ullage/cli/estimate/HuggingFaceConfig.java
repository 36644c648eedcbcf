package dev.ullage.cli.estimate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.FileReason;
import dev.ullage.coordinator.http.JsonFault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A model's {@code config.json} as Hugging Face's transformers write it. Names of the fields are those of the classes
 * {@code LlamaConfig}, {@code MixtralConfig}, {@code GPTNeoXConfig}, {@code GPT2Config}, {@code DeepseekV3Config}.
 */
final class HuggingFaceConfig {
    private static final JsonMapper MAPPER = new JsonMapper();

    /** Decoders of the Llama family: gated, RMSNorm, rotary. */
    private static final Set<String> LLAMA_LIKE = Set.of(
            "llama",
            "mistral",
            "qwen2",
            "qwen3",
            "phi3",
            "gemma",
            "gemma2",
            "olmo2",
            "granite",
            "internlm2",
            "smollm3");

    private static final Set<String> WITH_EXPERTS = Set.of("mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "deepseek_v3");
    private static final Set<String> CLASSIC = Set.of("gpt_neox", "gpt2");

    private final JsonNode config;
    private final List<String> missing = new ArrayList<>();
    private final Map<String, String> fields = new TreeMap<>();

    private HuggingFaceConfig(JsonNode config) {
        this.config = config;
    }

    /** Fields of an estimate; a failure names every field that is missing or cannot be used. */
    static Map<String, String> read(Path file) throws CommandFailure {
        JsonNode root;
        try {
            root = MAPPER.readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, file + " is not JSON: " + JsonFault.text(e), e);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, "cannot read " + file + ": " + FileReason.of(e), e);
        }
        HuggingFaceConfig config = new HuggingFaceConfig(root);
        String type = root.path("model_type").asText("");
        if (!LLAMA_LIKE.contains(type) && !WITH_EXPERTS.contains(type) && !CLASSIC.contains(type)) {
            String named = type.isEmpty() ? "model_type is missing" : "model_type \"" + type + "\" is not known";
            throw new CommandFailure(
                    ExitCode.FAILED,
                    file + ": unknown: " + named + ", and a number for another class of model would be a guess; its "
                            + "sizes can be given as --layers, --hidden, ...");
        }
        config.shape(type);
        if (!config.missing.isEmpty()) {
            throw new CommandFailure(
                    ExitCode.BAD_SETTINGS, file + ": " + String.join("\nullage: " + file + ": ", config.missing));
        }
        return config.fields;
    }

    private void shape(String type) {
        if (type.equals("gpt2")) {
            gpt2();
            return;
        }
        need("num_hidden_layers", "layers");
        need("hidden_size", "hidden");
        need("num_attention_heads", "heads");
        need("intermediate_size", "ffn");
        need("vocab_size", "vocab");
        copy("num_key_value_heads", "kv-heads");
        copy("head_dim", "head-dim");
        boolean tiedUnlessSaid = type.startsWith("gemma");
        fields.put("tied", String.valueOf(config.path("tie_word_embeddings").asBoolean(tiedUnlessSaid)));
        boolean classic = CLASSIC.contains(type);
        fields.put("gated", String.valueOf(!classic));
        fields.put("norm", classic ? "layer" : "rms");
        fields.put("bias", String.valueOf(classic));
        fields.put("positions", "rotary");
        fields.put(
                "parallel-block",
                String.valueOf(classic && config.path("use_parallel_residual").asBoolean(true)));
        if (WITH_EXPERTS.contains(type)) {
            experts(type);
        }
    }

    private void gpt2() {
        need("n_layer", "layers");
        need("n_embd", "hidden");
        need("n_head", "heads");
        need("vocab_size", "vocab");
        Optional<Integer> inner = whole("n_inner").or(() -> whole("n_embd").map(width -> 4 * width));
        inner.ifPresent(width -> fields.put("ffn", width.toString()));
        fields.put("tied", "true");
        fields.put("gated", "false");
        fields.put("norm", "layer");
        fields.put("bias", "true");
        fields.put("positions", "learned");
    }

    private void experts(String type) {
        String count = config.has("num_local_experts")
                ? "num_local_experts"
                : config.has("n_routed_experts") ? "n_routed_experts" : "num_experts";
        need(count, "experts");
        need("num_experts_per_tok", "top-k");
        copy("moe_intermediate_size", "expert-ffn");
        copy("first_k_dense_replace", "dense-layers");
        whole("shared_expert_intermediate_size")
                .or(() -> whole("n_shared_experts")
                        .flatMap(shared -> whole("moe_intermediate_size").map(width -> shared * width)))
                .ifPresent(width -> fields.put("shared-ffn", width.toString()));
        if (type.equals("deepseek_v3")) {
            fields.remove("head-dim");
            copy("q_lora_rank", "mla-query-rank");
            need("kv_lora_rank", "mla-kv-rank");
            need("qk_nope_head_dim", "mla-head-dim");
            need("qk_rope_head_dim", "mla-rotary-dim");
            need("v_head_dim", "mla-value-dim");
            copy("num_nextn_predict_layers", "prediction-layers");
        }
    }

    private Optional<Integer> whole(String name) {
        JsonNode value = config.path(name);
        return value.isInt() ? Optional.of(value.intValue()) : Optional.empty();
    }

    private void need(String name, String field) {
        if (!config.hasNonNull(name)) {
            missing.add(name + ": missing; a whole number of 1 or more");
        }
        copy(name, field);
    }

    /** A value that is no whole number is handed on as it is, and refused where the rule is. */
    private void copy(String name, String field) {
        if (config.hasNonNull(name)) {
            fields.put(field, config.path(name).asText());
        }
    }
}
