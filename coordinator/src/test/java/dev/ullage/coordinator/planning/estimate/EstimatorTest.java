package dev.ullage.coordinator.planning.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.coordinator.planning.estimate.Advice.Change;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** Sums, orders and known totals. How close the estimates are to measurements is tested where the files are read. */
class EstimatorTest {
    private static Map<String, String> llama(String... changes) {
        Map<String, String> fields = new TreeMap<>(Map.of(
                "layers", "32",
                "hidden", "4096",
                "heads", "32",
                "kv-heads", "8",
                "ffn", "14336",
                "vocab", "128256",
                "sequence", "8192",
                "micro-batch", "2",
                "attention", "flash",
                "recompute", "none"));
        for (String change : changes) {
            String[] parts = change.split("=", 2);
            fields.put(parts[0], parts[1]);
        }
        return fields;
    }

    private static Reading reading(String... changes) {
        SetupReader.Result result = SetupReader.read(llama(changes));
        assertThat(result.problems()).isEmpty();
        return result.reading().orElseThrow();
    }

    private static List<RankEstimate> estimate(String... changes) {
        return Estimator.estimate(reading(changes));
    }

    @Test
    void theShapeOfLlamaHasItsEightBillionParameters() {
        assertThat(StageParameters.total(reading().likely())).isCloseTo(8.03e9, Percentage.withPercentage(0.1));
    }

    // Stages of one model may differ by half: no single number is right for all of them.
    @Test
    void everyPipelineStageIsItsOwn() {
        List<RankEstimate> stages = estimate("framework=megatron", "pp=4", "global-batch=32", "dp=2");
        assertThat(stages).hasSize(4);
        assertThat(stages.get(0).part(Part.ACTIVATIONS))
                .isGreaterThan(stages.get(2).part(Part.ACTIVATIONS));
        assertThat(stages.get(3).part(Part.LOGITS).isZero()).isFalse();
        assertThat(stages.get(0).part(Part.LOGITS).isZero()).isTrue();
    }

    // Adam makes its state in the first step: what was enough before may not be afterwards.
    @Test
    void theFirstOptimizerStepAddsState() {
        RankEstimate rank = estimate("framework=torch", "dtype=bf16-autocast", "micro-batch=1", "sequence=256")
                .get(0);
        assertThat(rank.at(PhasePoint.OPTIMIZER)).isGreaterThan(rank.at(PhasePoint.BACKWARD));
        assertThat(rank.at(PhasePoint.INIT)).isLessThan(rank.at(PhasePoint.FORWARD));
        assertThat(rank.at(PhasePoint.STEADY)).isGreaterThanOrEqualTo(rank.at(PhasePoint.OPTIMIZER));
    }

    @Test
    void offloadingMovesStateToTheHost() {
        RankEstimate here = estimate("sharding=2", "dp=4").get(0);
        RankEstimate there = estimate("sharding=2", "dp=4", "offload=optimizer").get(0);
        assertThat(here.host().isZero()).isTrue();
        assertThat(there.host()).isGreaterThan(here.part(Part.OPTIMIZER));
        assertThat(there.part(Part.OPTIMIZER).isZero()).isTrue();
        assertThat(there.peak()).isLessThan(here.peak());
    }

    @Test
    void frozenLayersNeedNeitherGradientsNorActivations() {
        RankEstimate all = estimate().get(0);
        RankEstimate half = estimate("frozen-layers=16").get(0);
        assertThat(half.part(Part.GRADIENTS)).isLessThan(all.part(Part.GRADIENTS));
        assertThat(half.part(Part.WEIGHTS)).isEqualTo(all.part(Part.WEIGHTS));
        assertThat(half.part(Part.ACTIVATIONS)).isLessThan(all.part(Part.ACTIVATIONS));
    }

    @Property(tries = 200)
    void partsAddUpAndTheIntervalHoldsThePoint(
            @ForAll Setup.Framework framework,
            @ForAll @IntRange(max = 3) int sharding,
            @ForAll @IntRange(max = 3) int tensor,
            @ForAll @IntRange(max = 2) int stages,
            @ForAll @IntRange(min = 1, max = 8) int data) {
        String name = Fields.nameOf(framework);
        List<RankEstimate> ranks = estimate(
                "framework=" + name,
                "sharding=" + sharding,
                "tp=" + (1 << tensor),
                "pp=" + (1 << stages),
                "dp=" + data);
        assertThat(ranks).hasSize(1 << stages);
        for (RankEstimate rank : ranks) {
            MemoryBytes highest = rank.at(PhasePoint.STEADY).max(rank.firstPeak());
            assertThat(rank.peak().value() - highest.value()).isBetween(0L, (long) Part.values().length);
            assertThat(rank.lower()).isLessThan(rank.peak());
            assertThat(rank.upper()).isGreaterThan(rank.peak());
            assertThat(rank.upper().value())
                    .isLessThanOrEqualTo((long) (rank.peak().value() * 1.1501));
        }
    }

    @Property(tries = 100)
    void moreShardingNeverNeedsMoreState(
            @ForAll @IntRange(max = 2) int sharding, @ForAll @IntRange(min = 2, max = 64) int data) {
        RankEstimate less = estimate("framework=deepspeed", "sharding=" + sharding, "dp=" + data)
                .get(0);
        RankEstimate more = estimate("framework=deepspeed", "sharding=" + (sharding + 1), "dp=" + data)
                .get(0);
        for (Part part : List.of(Part.WEIGHTS, Part.GRADIENTS, Part.MASTER, Part.OPTIMIZER)) {
            assertThat(more.part(part)).isLessThanOrEqualTo(less.part(part));
        }
    }

    @Test
    void adviceIsRankedAndItsChangesDoWhatTheySay() {
        Reading reading = reading("framework=fsdp", "dtype=bf16-autocast", "sharding=3", "dp=8", "measure=reserved");
        MemoryBytes limit = MemoryBytes.ofGibibytes(80);

        List<Change> alone = Advice.alone(reading, limit);
        List<Change> together = Advice.together(reading, limit).orElseThrow();

        assertThat(alone).isNotEmpty().allMatch(change -> !change.saves().isZero());
        assertThat(alone).extracting(Change::fits).isSortedAccordingTo((left, right) -> Boolean.compare(right, left));
        assertThat(together).isNotEmpty();
        assertThat(together.get(together.size() - 1).fits()).isTrue();
        assertThat(Advice.together(reading, MemoryBytes.ofMebibytes(1))).isEmpty();
    }

    @Test
    void aThousandRanksAreOneStageEach() {
        List<RankEstimate> stages = estimate("tp=8", "pp=4", "dp=32", "framework=megatron");
        assertThat(stages).extracting(RankEstimate::ranks).containsOnly(256);
    }

    @Test
    void everyPhaseHasARangeAroundItsPeakAndItsStateWithinIt() {
        for (RankEstimate stage : estimate("framework=megatron", "pp=4", "global-batch=32", "dp=2")) {
            for (PhasePoint point : PhasePoint.values()) {
                assertThat(stage.rangeAt(point).lower()).isLessThan(stage.at(point));
                assertThat(stage.rangeAt(point).upper()).isGreaterThan(stage.at(point));
                assertThat(stage.stateAt(point)).isLessThanOrEqualTo(stage.at(point));
            }
            assertThat(stage.rangeAt(PhasePoint.STEADY).upper()).isLessThanOrEqualTo(stage.upper());
        }
    }

    @Test
    void aFieldThatIsMissingWidensTheRangeOfEachPhaseThatItMatters() {
        RankEstimate known = estimate("framework=megatron").get(0);
        Map<String, String> fields = llama("framework=megatron");
        fields.remove("micro-batch");
        RankEstimate open = Estimator.estimate(
                        SetupReader.read(fields).reading().orElseThrow())
                .get(0);

        assertThat(open.rangeAt(PhasePoint.BACKWARD).upper())
                .isGreaterThan(known.rangeAt(PhasePoint.BACKWARD).upper());
        assertThat(open.rangeAt(PhasePoint.INIT)).isEqualTo(known.rangeAt(PhasePoint.INIT));
    }

    @Test
    void aRankBringsAlongWhatItsStageNeeds() {
        List<PlannedNeeds> stages = PlannedStages.of(reading("framework=megatron", "pp=4", "global-batch=32", "dp=2"));
        List<RankEstimate> estimates = estimate("framework=megatron", "pp=4", "global-batch=32", "dp=2");

        assertThat(stages).hasSize(4);
        for (int stage = 0; stage < stages.size(); stage++) {
            PlannedNeeds needs = stages.get(stage);
            assertThat(needs.stage()).isEqualTo(stage);
            assertThat(needs.stages()).isEqualTo(4);
            assertThat(needs.wholeProcess()).isTrue();
            assertThat(needs.microBatch()).hasValue(2);
            assertThat(needs.phases().steady().point())
                    .isEqualTo(estimates.get(stage).at(PhasePoint.STEADY));
            assertThat(needs.optimizerState().state())
                    .isEqualTo(estimates.get(stage).part(Part.OPTIMIZER));
            // The backward pass of later steps is the highest of all, up to the bytes that each part is rounded by.
            assertThat(needs.later(Phase.BACKWARD).orElseThrow().point().value())
                    .isCloseTo(needs.phases().steady().point().value(), Offset.offset(16L));
        }
        assertThat(stages.get(0).highest().upper())
                .isNotEqualTo(stages.get(3).highest().upper());
    }

    @Test
    void whatIsAllocatedIsNoMeasureForALimit() {
        assertThatThrownBy(() -> PlannedStages.of(reading("measure=allocated")))
                .hasMessageContaining("measure is allocated");
        assertThat(PlannedStages.of(reading("measure=reserved")).get(0).wholeProcess())
                .isFalse();
    }
}
