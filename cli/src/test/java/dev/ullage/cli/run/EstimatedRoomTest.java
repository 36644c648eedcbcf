package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankGroup;
import dev.ullage.coordinator.admission.RequestReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What an estimate asks the queue for. */
class EstimatedRoomTest {
    private static final String FOUR = "torchrun --nproc-per-node 4 t.py";

    private static MemoryBytes gib(long amount) {
        return MemoryBytes.ofGibibytes(amount);
    }

    private static RunTerms terms(int perDevice, Optional<MemoryBytes> memory) {
        return Clusters.terms(Map.of(), perDevice, OptionalInt.empty(), memory);
    }

    private static EstimatedRoom of(JobEstimate estimate, Map<String, Object> said, RunTerms terms, String command) {
        return EstimatedRoom.of(estimate, said, LauncherArguments.read(List.of(command.split(" ")), Map.of()), terms);
    }

    private static EstimatedRoom of(JobEstimate estimate, Map<String, Object> said, String command) {
        return of(estimate, said, terms(1, Optional.empty()), command);
    }

    @Test
    void eachStageAsksForItsUpperEndInWholeMebibytes() {
        JobEstimate estimate =
                Estimates.of(4, true, List.of(MemoryBytes.of(30 * MemoryBytes.MEBIBYTE + 1), MemoryBytes.of(20)));

        EstimatedRoom room = of(estimate, Map.of("priority", "high"), FOUR);

        assertThat(room.problems()).isEmpty();
        assertThat(room.fields())
                .containsOnly(
                        Map.entry("priority", "high"),
                        Map.entry(
                                "groups",
                                List.of(
                                        Map.of("ranks", 2, "memoryPerRank", "31MiB"),
                                        Map.of("ranks", 2, "memoryPerRank", "1MiB"))));
    }

    @Test
    void stagesThatNeedTheSameAreOneGroup() {
        JobEstimate estimate = Estimates.of(4, true, List.of(gib(30), gib(30)));

        assertThat(of(estimate, Map.of(), FOUR).fields())
                .containsOnly(Map.entry("ranks", 4), Map.entry("memoryPerRank", "30720MiB"));
    }

    // Launchers deal them out in turn, so any two may share one.
    @Test
    void ranksThatShareDevicesAllAskForTheMostOfAnyStage() {
        JobEstimate estimate = Estimates.of(4, true, List.of(gib(10), gib(30)));

        assertThat(of(estimate, Map.of(), terms(2, Optional.empty()), FOUR).fields())
                .containsEntry("ranks", 4)
                .containsEntry("memoryPerRank", "30720MiB");
        assertThat(of(estimate, Map.of("ranksPerDevice", 2), FOUR).fields()).containsEntry("memoryPerRank", "30720MiB");
        assertThat(of(estimate, Map.of(), "deepspeed --num_gpus 4 t.py").fields())
                .as("it takes devices in ascending order")
                .containsEntry("memoryPerRank", "30720MiB");
    }

    @Test
    void whatSomebodySaysIsAskedForAndTooLittleIsSaid() {
        JobEstimate estimate = Estimates.of(4, false, List.of(gib(10), gib(30)));

        EstimatedRoom all = of(estimate, Map.of("memoryPerRank", "20GiB"), FOUR);
        assertThat(all.problems()).isEmpty();
        assertThat(all.fields()).containsOnly(Map.entry("ranks", 4), Map.entry("memoryPerRank", "20GiB"));
        assertThat(all.warnings())
                .containsExactly("room for 20.0 GiB is asked for rank 2, which is estimated at 15.0 GiB, at most"
                        + " 30.0 GiB (stage 1)");

        EstimatedRoom option = of(estimate, Map.of(), terms(1, Optional.of(gib(40))), FOUR);
        assertThat(option.problems()).isEmpty();
        assertThat(option.warnings()).isEmpty();
        assertThat(option.fields()).doesNotContainKeys("memoryPerRank", "groups");

        List<Map<String, Object>> groups =
                List.of(Map.of("ranks", 3, "memoryPerRank", "30GiB"), Map.of("ranks", 1, "memoryPerRank", "29GiB"));
        assertThat(of(estimate, Map.of("groups", groups), FOUR).warnings())
                .singleElement()
                .asString()
                .contains("rank 3");
        assertThat(of(estimate, Map.of("memoryPerRank", "50%"), FOUR).warnings())
                .isEmpty();
    }

    @Test
    void whatCannotBeIsRefusedWithTheReason() {
        assertThat(of(Estimates.of(8, true, List.of(gib(1))), Map.of(), FOUR).problems())
                .containsExactly("the estimate is of 8 ranks (tp x pp x cp x dp), torchrun starts 4");
        assertThat(of(Estimates.of(4, false, List.of(gib(1))), Map.of(), FOUR).problems())
                .singleElement()
                .asString()
                .contains("\"measure\": \"device\"", "--memory-per-rank");
        List<MemoryBytes> many = LongStream.rangeClosed(1, JobRequest.MAX_GROUPS + 1)
                .mapToObj(EstimatedRoomTest::gib)
                .toList();
        assertThat(of(Estimates.of(65, true, many), Map.of(), "torchrun --nproc-per-node 65 t.py")
                        .problems())
                .singleElement()
                .asString()
                .contains("65 runs of ranks", "at most 64");
    }

    @Test
    void theEstimateSaysHowManyRanksWhereTheLauncherDoesNot() {
        EstimatedRoom room = of(Estimates.of(4, true, List.of(gib(3))), Map.of(), "sh start.sh");

        assertThat(room.problems()).isEmpty();
        assertThat(room.fields()).containsEntry("ranks", 4);
        assertThat(of(Estimates.of(4, true, List.of(gib(3))), Map.of("ranks", 2), "sh start.sh")
                        .problems())
                .hasSize(1);
    }

    @Property
    void eachRankIsGivenItsUpperEndAndLessThanAMebibyteMore(
            @ForAll @Size(min = 1, max = 9) List<@LongRange(min = 1, max = 1L << 40) Long> uppers,
            @ForAll @IntRange(min = 1, max = 5) int each) {
        int ranks = uppers.size() * each;
        JobEstimate estimate =
                Estimates.of(ranks, true, uppers.stream().map(MemoryBytes::of).toList());
        String command = "torchrun --nproc-per-node " + ranks + " t.py";

        EstimatedRoom room = of(estimate, Map.of(), command);
        RequestReader.Reading reading = RequestReader.read(new JobId("j"), "me", room.fields());

        assertThat(reading.problems()).isEmpty();
        List<MemoryBytes> asked = new ArrayList<>();
        for (RankGroup group : reading.request().orElseThrow().groups()) {
            IntStream.range(0, group.ranks())
                    .forEach(i -> asked.add(group.memory().orElseThrow()));
        }
        assertThat(asked).hasSize(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            long upper = uppers.get(rank / each);
            assertThat(asked.get(rank).value()).isBetween(upper, upper + MemoryBytes.MEBIBYTE - 1);
        }
    }
}
