package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class RunRequestTest {
    private static RunTerms terms(OptionalInt ranks, int ranksPerDevice, Optional<MemoryBytes> memory) {
        return new RunTerms(ranks, ranksPerDevice, OptionalInt.empty(), memory, Optional.empty(), Optional.empty());
    }

    private static RunRequest of(Map<String, Object> said, String command, RunTerms terms) {
        return RunRequest.of(said, LauncherArguments.read(List.of(command.split(" ")), Map.of()), terms, "host-a");
    }

    private static RunRequest of(Map<String, Object> said, String command) {
        return of(said, command, terms(OptionalInt.empty(), 1, Optional.empty()));
    }

    @Test
    void whatTheLauncherDoesIsAskedForWhereNobodySaysOtherwise() {
        RunRequest plain = of(Map.of(), "torchrun --nproc-per-node 4 train.py");
        assertThat(plain.problems()).isEmpty();
        assertThat(plain.fields())
                .containsOnly(Map.entry("ranks", 4), Map.entry("memoryPerRank", "100%"), Map.entry("node", "host-a"));

        RunRequest shared = of(
                Map.of("priority", "high"),
                "mpirun -np 4 python3 train.py",
                terms(OptionalInt.empty(), 2, Optional.of(MemoryBytes.ofGibibytes(12))));
        assertThat(shared.fields())
                .containsEntry("memoryPerRank", Long.toString(12L << 30))
                .containsEntry("ranksPerDevice", 2)
                .containsEntry("priority", "high");
    }

    @Test
    void coresAreANumberForWhoReadsTheRequestAndWhatIsNoneStaysAsItIs() {
        QueueOptions options = new QueueOptions();
        new CommandLine(options).parseArgs("--cpus", "3.50", "--host-memory", "16GiB");

        assertThat(options.isAsked()).isTrue();
        assertThat(options.fields(JobFile.NONE))
                .containsOnly(Map.entry("cpus", new BigDecimal("3.5")), Map.entry("hostMemory", "16GiB"));

        QueueOptions wrong = new QueueOptions();
        new CommandLine(wrong).parseArgs("--cpus", "many");
        assertThat(wrong.fields(JobFile.NONE)).containsOnly(Map.entry("cpus", "many"));
    }

    @Test
    void whatDoesNotGoTogetherIsSaidAllAtOnce() {
        assertThat(of(Map.of("ranks", 3, "node", "host-b"), "torchrun --nproc-per-node 4 train.py")
                        .problems())
                .containsExactly(
                        "room is asked for 3 ranks, and torchrun starts 4",
                        "node = host-b: torchrun starts its ranks on this host, which is node host-a");
        assertThat(of(Map.of(), "torchrun --nnodes 2 --nproc-per-node 4 train.py")
                        .problems())
                .singleElement()
                .asString()
                .contains("on other hosts too");
        assertThat(of(Map.of(), "sh start.sh").problems())
                .containsExactly("how many ranks there will be cannot be told: say --ranks");
        assertThat(of(Map.of("mig", "2g.*"), "deepspeed --num_gpus 2 t.py").problems())
                .singleElement()
                .asString()
                .startsWith("mig: deepspeed");
        assertThat(of(Map.of("mig", "2g.*"), "deepspeed --num_gpus 1 t.py").problems())
                .isEmpty();
        assertThat(of(Map.of("mig", "2g.*"), "torchrun --nproc-per-node 2 t.py").problems())
                .isEmpty();
        assertThat(of(Map.of("mig", "2g.*", "ranks", 2, "ranksPerDevice", 2), "sh start.sh")
                        .problems())
                .as("both ranks are on one")
                .isEmpty();
        List<Map<String, Object>> groups = List.of(Map.of("ranks", 1), Map.of("ranks", 2));
        assertThat(of(Map.of("groups", groups, "ranksPerDevice", 2), "torchrun --nproc-per-node 4 t.py")
                        .problems())
                .hasSize(2);
        assertThat(of(Map.of("groups", groups), "deepspeed --num_gpus 3 t.py").problems())
                .singleElement()
                .asString()
                .startsWith("groups: deepspeed");
    }
}
