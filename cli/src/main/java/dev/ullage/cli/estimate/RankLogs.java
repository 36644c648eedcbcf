package dev.ullage.cli.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What Megatron-LM logs of the memory of single ranks, under headings that name the run: {@code ## Qwen3-30B-A3B,
 * PP4-EP2-DP2-TP1, MBS4 GBS96 seq4096 ...}. A heading names neither kernels nor checkpointing, so that no such row is
 * complete. No constant of an estimate was set with these rows; one split over stages was.
 */
final class RankLogs {
    static final String GROUP = "Megatron-LM (logs of single ranks)";

    private static final String HEADING = "## ";
    private static final Pattern SIZE = Pattern.compile("\\b(TP|PP|EP|VPP|CP|DP|MBS|GBS)(\\d+)\\b|\\bseq ?(\\d+)\\b");
    private static final Pattern RANK = Pattern.compile("\\[Rank (\\d+)].*max allocated: ([0-9.]+)");
    private static final Map<String, String> FIELDS = Map.of(
            "TP",
            "tp",
            "PP",
            "pp",
            "EP",
            "ep",
            "VPP",
            "virtual-stages",
            "CP",
            "cp",
            "DP",
            "dp",
            "MBS",
            "micro-batch",
            "GBS",
            "global-batch");

    /**
     * DeepSeek-V3 cut to 14 layers, as Megatron-LM's own tests have it
     * ({@code deepseekv3_proxy_flex_tp1pp4emp16etp1cp1}): 64 experts. The split over four stages is not stated: of the
     * two that were tried, it is the one whose state comes closer to what is held between steps.
     */
    private static final Map<String, String> DEEPSEEK_PROXY = Map.ofEntries(
            Map.entry("layers", "14"),
            Map.entry("stages", "4,4,4,2"),
            Map.entry("hidden", "7168"),
            Map.entry("heads", "128"),
            Map.entry("ffn", "18432"),
            Map.entry("vocab", "129280"),
            Map.entry("experts", "64"),
            Map.entry("top-k", "8"),
            Map.entry("expert-ffn", "2048"),
            Map.entry("shared-ffn", "2048"),
            Map.entry("dense-layers", "3"),
            Map.entry("mla-query-rank", "1536"),
            Map.entry("mla-kv-rank", "512"),
            Map.entry("mla-head-dim", "128"),
            Map.entry("mla-rotary-dim", "64"),
            Map.entry("mla-value-dim", "128"),
            Map.entry("prediction-layers", "1"),
            Map.entry("sequence", "4096"),
            Map.entry("dp", "16"));

    private final Map<String, Map<String, String>> models;
    private final Samples samples;

    RankLogs(Map<String, Map<String, String>> models, Samples samples) {
        this.models = models;
        this.samples = samples;
    }

    static boolean isOne(List<String> lines) {
        return lines.stream().anyMatch(line -> RANK.matcher(line).find());
    }

    void read(List<String> lines) {
        String run = "";
        Optional<List<RankEstimate>> stages = Optional.empty();
        for (String line : lines) {
            if (line.startsWith(HEADING)) {
                run = line.substring(HEADING.length());
                stages = estimate(run);
                continue;
            }
            Matcher rank = RANK.matcher(line);
            if (rank.find()) {
                String id = name(run) + " rank " + rank.group(1);
                int number = Integer.parseInt(rank.group(1));
                double measured = Double.parseDouble(rank.group(2)) * MemoryBytes.MEBIBYTE;
                stages.ifPresentOrElse(
                        known -> use(id, number, measured, known),
                        () -> samples.skip(GROUP, id, "the heading does not name a known model and its split"));
            }
        }
    }

    private void use(String id, int rank, double measured, List<RankEstimate> stages) {
        int stage = rank / stages.get(0).ranks();
        if (stage >= stages.size()) {
            samples.skip(GROUP, id, "no such rank");
            return;
        }
        RankEstimate need = stages.get(stage);
        samples.use(new Sample(
                GROUP, id, false, measured, need.peak().value(), need.upper().value(), OptionalDouble.empty()));
    }

    /** Of each stage; empty where the heading leaves open what model it is, or how it is spread. */
    private Optional<List<RankEstimate>> estimate(String heading) {
        Map<String, String> fields = new TreeMap<>();
        String model = name(heading).toLowerCase(Locale.ROOT);
        Optional.ofNullable(models.get(model)).ifPresent(fields::putAll);
        if (model.equals("deepseek-v3-proxy")) {
            fields.putAll(DEEPSEEK_PROXY);
        }
        Matcher size = SIZE.matcher(heading);
        while (size.find()) {
            fields.put(
                    size.group(1) == null ? "sequence" : FIELDS.getOrDefault(size.group(1), ""),
                    size.group(1) == null ? size.group(3) : size.group(2));
        }
        if (!fields.containsKey("layers") || !fields.containsKey("dp")) {
            return Optional.empty();
        }
        fields.put("framework", "megatron");
        fields.put("measure", "allocated");
        fields.put("sharding", "1");
        fields.put("grouped-experts", "true");
        return SetupReader.read(fields).reading().map(Estimator::estimate);
    }

    private static String name(String heading) {
        return heading.split(",", 2)[0].strip();
    }
}
