package dev.ullage.coordinator.planning.estimate;

import java.util.List;

/** The fields that a setup can be read from, in the order of the help text. */
public final class EstimateFields {
    /**
     * @param name as in a file; on the command line with two hyphens before it
     * @param help what it is, with its default
     */
    public record Field(String name, String help) {}

    private static final List<Field> ALL = List.of(
            new Field("layers", "Transformer blocks."),
            new Field("hidden", "Width of the residual stream."),
            new Field("heads", "Query heads."),
            new Field("kv-heads", "Key and value heads; as many as heads unless given."),
            new Field("head-dim", "Width of a head; hidden / heads unless given."),
            new Field("ffn", "Inner width of the feed-forward part."),
            new Field("vocab", "Tokens in the vocabulary."),
            new Field("vocab-multiple", "The vocabulary is padded to a multiple of this x tp; 1, in Megatron 128."),
            new Field("parameters", "What the shape must come to, within 5 %; a check."),
            new Field("tied", "Input embedding and output layer are one table: true or false (default)."),
            new Field("gated", "Three matrices in the feed-forward part (SwiGLU): true (default) or false."),
            new Field("norm", "rms (default) or layer."),
            new Field("bias", "Linear layers have a bias: true or false (default)."),
            new Field("positions", "rotary (default), learned or none."),
            new Field("parallel-block", "Attention and feed-forward part share a norm: true or false (default)."),
            new Field("encoder", "A BERT: true or false (default)."),
            new Field("experts", "Routed experts of a layer; 0 (default) for a dense model."),
            new Field("top-k", "Experts that a token goes to; 2 unless given."),
            new Field("expert-ffn", "Inner width of a routed expert; ffn unless given."),
            new Field("shared-ffn", "Inner width of the shared experts; 0 unless given."),
            new Field("dense-layers", "First layers without experts; 0 unless given."),
            new Field("mla-query-rank", "Low rank of queries in multi-head latent attention; 0 for full rank."),
            new Field("mla-kv-rank", "Low rank of keys and values; switches latent attention on."),
            new Field("mla-head-dim", "Width of a head without rotary part."),
            new Field("mla-rotary-dim", "Width of its rotary part."),
            new Field("mla-value-dim", "Width of its value."),
            new Field("prediction-layers", "Extra layers of multi-token prediction; 0 unless given."),
            new Field("sequence", "Tokens of a sample."),
            new Field("micro-batch", "Samples that a rank works on at once."),
            new Field("global-batch", "Samples of an optimizer step, all ranks."),
            new Field("framework", "megatron, fsdp, deepspeed, litgpt, internevo, torchtune or torch."),
            new Field("measure", "allocated, reserved or device (default): which number is wanted."),
            new Field("dtype", "bf16 (default), fp16, fp32, fp8, bf16-true or bf16-autocast."),
            new Field("optimizer", "adam (default), sgd, momentum, adam-8bit, paged-adam-8bit, adafactor or muon."),
            new Field("sharding", "ZeRO stage 0 (default) to 3; 3 is FSDP."),
            new Field("optimizer-instances", "Copies of the sharded optimizer; 1 unless given."),
            new Field("optimizer-in-backward", "Gradients are used and freed at once: true or false (default)."),
            new Field("lora-rank", "Rank of adapters; only they are trained."),
            new Field("lora-targets", "What they sit beside: some of q,k,v,o,qkv,mlp; q,v unless given."),
            new Field("quantized", "none (default), nf4, int4 or int8: the frozen base of adapters."),
            new Field("frozen-layers", "First layers that are not trained; 0 unless given."),
            new Field("offload", "none (default), optimizer or all: what lives in host memory."),
            new Field("tp", "Tensor-parallel size."),
            new Field("sp", "Sequence parallelism: true or false (default)."),
            new Field("pp", "Pipeline stages."),
            new Field("virtual-stages", "Chunks of layers on each pipeline stage (interleaved 1F1B)."),
            new Field("group", "Micro-batches that pass a chunk before the next; pp unless given."),
            new Field("stages", "Layers of each chunk in model order, as in 2,4,4,2; even unless given."),
            new Field("cp", "Context-parallel size."),
            new Field("ep", "Expert-parallel size."),
            new Field("etp", "Tensor-parallel size inside an expert; tp unless given."),
            new Field("dp", "Data-parallel size."),
            new Field("world-size", "Ranks; a check of tp x pp x cp x dp."),
            new Field("attention", "flash, fused or unfused."),
            new Field("recompute", "none, selective or full."),
            new Field("hidden-dropout", "true or false (default)."),
            new Field("attention-dropout", "true or false (default)."),
            new Field("loss", "usual (default), fused-native, fused-fallback, compiled or chunked."),
            new Field("local-layers", "Megatron-LM's own layers, not Transformer Engine: true or false (default)."),
            new Field("grouped-experts", "Experts as one grouped product: true or false (default)."),
            new Field("fused-permutation", "true or false (default)."),
            new Field("deferred-head-gradient", "true or false (default)."),
            new Field("activation-offload", "Fine-grained offloading of activations: true or false (default)."),
            new Field("deterministic", "true or false (default)."),
            new Field("compile", "torch.compile: true or false (default)."),
            new Field("async-tensor", "Pipelined tensor parallelism: true or false (default)."),
            new Field("architecture", "sm80, sm90 (default) or sm100."));

    private EstimateFields() {}

    public static List<Field> all() {
        return ALL;
    }

    static boolean isKnown(String name) {
        return ALL.stream().anyMatch(field -> field.name().equals(name));
    }
}
