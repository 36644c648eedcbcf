package dev.ullage.cli.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.estimate.Sample.Skipped;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that no constant of an estimate was set with. */
class HeldOutTest {
    private static final Path DATA = Path.of("src/test/resources/estimate");

    private static Samples read(String file) throws CommandFailure {
        return MeasurementFiles.read(List.of(DATA.resolve(file)));
    }

    @Test
    void runsOfPeftsComparisonAreReadWhereAFormulaIsKnown() throws Exception {
        Samples samples = read("peft_method_comparison_memory.csv");

        assertThat(samples.used())
                .extracting(Sample::id)
                .containsExactly(
                        "full-finetuning/llama-3.2-3B-lr_0.00001",
                        "lora/llama-3.2-3B-rank10-target-mlp",
                        "lora/llama-3.2-3B-rank32-lorafa",
                        "lora/llama-3.2-3B-rank32-mica",
                        "lora/llama-3.2-3B-rank32",
                        "lora/llama-3.2-3B-rank64-rslora",
                        "lora/llama-3.2-3B-rank64");
        assertThat(samples.used()).noneMatch(Sample::isComplete);
        assertThat(samples.used().size() + samples.skipped().size()).isEqualTo(94);
        Map<String, Long> reasons =
                samples.skipped().stream().collect(Collectors.groupingBy(Skipped::reason, Collectors.counting()));
        assertThat(reasons).containsEntry("unknown: no formula for this variant of LoRA", 2L);
        assertNoWorse(samples, 5.5, 12.5);
    }

    @Test
    void eachRankOfALogIsHeldAgainstItsOwnStage() throws Exception {
        Samples samples = read("ranks.txt");

        assertThat(samples.used())
                .extracting(Sample::id)
                .containsExactly(
                        "DeepSeek-V3-Proxy rank 0",
                        "DeepSeek-V3-Proxy rank 16",
                        "DeepSeek-V3-Proxy rank 32",
                        "DeepSeek-V3-Proxy rank 48",
                        "Qwen3-30B-A3B rank 6",
                        "Qwen3-30B-A3B rank 2",
                        "Qwen3-30B-A3B rank 4");
        assertThat(samples.used().stream().map(Sample::point).distinct()).hasSize(7);
        assertThat(samples.skipped()).hasSize(6);
        assertNoWorse(samples, 24, 116);
    }

    /** As docs/estimate.md says it. */
    private static void assertNoWorse(Samples samples, double median, double p90) {
        Accuracy accuracy = Accuracy.of(samples.used());
        assertThat(accuracy.medianErrorPercent()).isLessThan(median);
        assertThat(accuracy.p90ErrorPercent()).isLessThan(p90);
        assertThat(accuracy.upperBelowMeasuredPercent()).isZero();
    }

    @Test
    void aLogOfSomethingElseIsRefused(@TempDir Path folder) throws Exception {
        Path other = Files.writeString(folder.resolve("other.txt"), "nothing of interest");

        assertThatThrownBy(() -> MeasurementFiles.read(List.of(other)))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("no line of it says what a rank of Megatron-LM held at most");
    }
}
