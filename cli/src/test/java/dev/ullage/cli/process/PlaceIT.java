package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage place} against a node that runs. */
class PlaceIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration END_WITHIN = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    private int commands;

    private record Answer(int exitCode, String text) {}

    private Answer place(String server, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Distribution.ullage(), "place", "--server", server));
        command.addAll(List.of(arguments));
        try (TestProcess process = TestProcess.start(folder, "place-" + commands++, command, Map.of())) {
            int exitCode = process.awaitExit(END_WITHIN);
            return new Answer(exitCode, process.log());
        }
    }

    @Test
    void whatIsFreeIsFoundWhatIsTakenIsNamedAndWhatCannotBeIsRefused() throws IOException {
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                PlainRanks ranks = new PlainRanks()) {
            String server = node.api().base();
            node.api().await("both devices are read", JOIN_WITHIN, now -> freshDevices(now) == 2);

            Answer both = place(server, "--ranks", "2", "--memory", "40GiB", "--json");
            assertThat(both.exitCode()).as(both.text()).isZero();
            assertThat(new ObjectMapper().readTree(both.text()).path("ranks")).hasSize(2);
            Answer never = place(server, "--ranks", "3", "--memory", "40GiB");
            assertThat(never.exitCode()).isEqualTo(6);
            assertThat(never.text()).contains("3 ranks need 3 devices with 40.0 GiB each; 2 could ever give that");

            ranks.add(folder, node.socket(), 0, 1, 1);
            node.api().await("the rank settles", JOIN_WITHIN, now -> Api.areSettled(now, 1));
            Answer now = place(server, "--ranks", "2", "--memory", "40GiB");
            assertThat(now.exitCode()).as(now.text()).isEqualTo(1);
            assertThat(now.text()).contains("1 has that now, so 1 of these would have to be free");
            Answer one = place(server, "--ranks", "1", "--memory", "40GiB", "--format", "mpirun");
            assertThat(one.exitCode()).as(one.text()).isZero();
            assertThat(one.text()).contains("mpirun -np 1 -H ").contains("-x CUDA_VISIBLE_DEVICES=");
        }
    }

    // The text is a rankfile as it stands, and its first line the command that goes with it.
    @Test
    void mpirunTakesTheRankfileAndGivesEachRankItsCoreAndItsDevice() throws IOException {
        Requires.command("mpirun", "openmpi-bin");
        Requires.that(Runtime.getRuntime().availableProcessors() >= 2, Requires.MACHINE + "two ranks need two cores");
        try (UpNode node = UpNode.start(folder, "2xH100-80G")) {
            node.api().await("both devices are read", JOIN_WITHIN, now -> freshDevices(now) == 2);
            Answer answer = place(
                    node.api().base(), "--ranks", "2", "--memory", "40GiB", "--format", "rankfile", "--cores", "1");
            assertThat(answer.exitCode()).as(answer.text()).isZero();
            Path rankfile = Files.writeString(folder.resolve("rankfile"), answer.text());
            String line = answer.text().lines().findFirst().orElseThrow();
            String said = "rank $OMPI_COMM_WORLD_RANK sees $CUDA_VISIBLE_DEVICES on"
                    + " $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)";
            Path program = Files.writeString(folder.resolve("program.sh"), "echo " + said + "\n");
            List<String> command = new ArrayList<>(List.of(line.substring("# ".length())
                    .replace("mpirun ", "mpirun --allow-run-as-root ")
                    .replace("RANKFILE", rankfile.toString())
                    .replace("COMMAND", "sh " + program)
                    .split(" ")));

            try (TestProcess mpirun = TestProcess.start(
                    folder, "mpirun", command, Map.of("OMPI_MCA_btl_vader_single_copy_mechanism", "none"))) {
                assertThat(mpirun.awaitExit(END_WITHIN)).as(mpirun.log()).isZero();
                JsonNode devices = node.api().status().orElseThrow().at("/nodes/0/devices");
                assertThat(mpirun.log())
                        .contains("rank 0 sees " + devices.at("/0/uuid").asText() + " on 0\n")
                        .contains("rank 1 sees " + devices.at("/1/uuid").asText() + " on 1\n");
            }
        }
    }

    private static long freshDevices(JsonNode status) {
        long fresh = 0;
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                boolean isKnown = device.path("ceilingBytes").isNumber()
                        && device.path("sampleState").asText().equals("fresh");
                fresh += isKnown ? 1 : 0;
            }
        }
        return fresh;
    }
}
