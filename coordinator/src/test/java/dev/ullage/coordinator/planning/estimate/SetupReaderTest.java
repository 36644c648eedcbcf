package dev.ullage.coordinator.planning.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad fields: all named at once, each with value and rule, and never a number instead. */
class SetupReaderTest {
    private static Map<String, String> complete(String... changes) {
        Map<String, String> fields = new TreeMap<>(Map.of(
                "layers", "32",
                "hidden", "4096",
                "heads", "32",
                "ffn", "11008",
                "vocab", "32000",
                "sequence", "4096",
                "micro-batch", "1",
                "attention", "flash",
                "recompute", "none"));
        for (String change : changes) {
            String[] parts = change.split("=", 2);
            fields.put(parts[0], parts[1]);
        }
        return fields;
    }

    private static List<String> problemFields(Map<String, String> fields) {
        return SetupReader.read(fields).problems().stream().map(Problem::field).toList();
    }

    @Test
    void everyProblemIsNamedAtOnce() {
        SetupReader.Result result = SetupReader.read(complete(
                "ffn=-3", "dtype=bf17", "tp=5", "pp=33", "colour=red", "micro-batch=0", "kv-heads=5", "offload=all"));

        assertThat(result.reading()).isEmpty();
        assertThat(result.problems())
                .extracting(Problem::field)
                .containsExactlyInAnyOrder("ffn", "dtype", "tp", "pp", "colour", "micro-batch", "kv-heads", "offload");
        assertThat(result.problems())
                .extracting(Problem::toString)
                .contains(
                        "dtype: \"bf17\"; one of bf16, fp16, fp32, fp8, bf16-true, bf16-autocast",
                        "tp: \"5\"; a divisor of heads = 32",
                        "pp: \"33\"; pp x virtual-stages = 33 is at most layers = 32");
    }

    @Test
    void whatNothingCanStandInForIsMissing() {
        assertThat(problemFields(Map.of("tp", "1"))).contains("layers", "hidden", "heads", "ffn", "vocab");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "layers=0",
                "layers=-1",
                "layers=1e3",
                "layers=99999999999999999999",
                "hidden=4097",
                "heads=0",
                "tp=3",
                "tp=64",
                "cp=3",
                "pp=0",
                "ep=2",
                "sharding=4",
                "dp=99999999",
                "global-batch=7 ",
                "stages=1,2,3",
                "virtual-stages=2",
                "optimizer=adamx",
                "lora-rank=0",
                "lora-targets=q",
                "quantized=nf4",
                "frozen-layers=33",
                "sequence=-5",
                "parameters=1000000",
                "world-size=3",
                "optimizer-instances=2",
                "tied=perhaps",
                "experts=4",
                "mla-kv-rank=512"
            })
    void aSingleBadValueIsRefused(String change) {
        Map<String, String> fields = complete(change);
        if (change.startsWith("experts")) {
            fields.put("ep", "3");
        } else if (change.startsWith("global-batch")) {
            fields.put("micro-batch", "2");
        }
        SetupReader.Result result = SetupReader.read(fields);
        assertThat(result.reading()).isEmpty();
        assertThat(result.problems()).isNotEmpty();
    }

    @Test
    void aRuleBetweenFieldsIsSilentWhenOneOfThemIsWrongByItself() {
        assertThat(problemFields(complete("heads=x", "tp=2"))).containsExactly("heads");
    }

    // A missing field widens the interval, is named, and leaves the point where the usual value puts it.
    @Test
    void aMissingFieldMakesAnInterval() {
        Map<String, String> fields = complete();
        Reading full = SetupReader.read(fields).reading().orElseThrow();
        fields.remove("attention");
        Reading open = SetupReader.read(fields).reading().orElseThrow();

        assertThat(full.isComplete()).isTrue();
        assertThat(open.isComplete()).isFalse();
        assertThat(open.assumptions()).contains("attention is not given: flash is taken");
        RankEstimate narrow = Estimator.estimate(full).get(0);
        RankEstimate wide = Estimator.estimate(open).get(0);
        assertThat(wide.peak()).isEqualTo(narrow.peak());
        assertThat(wide.upper()).isGreaterThan(narrow.upper());
    }
}
