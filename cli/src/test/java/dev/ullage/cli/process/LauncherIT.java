package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.testing.Requires;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real ranks under real launchers: they appear as what they are, get a limit each, have it changed while they train,
 * and leave nothing behind.
 */
class LauncherIT {
    private static final Duration JOIN_WITHIN = Duration.ofSeconds(90);
    private static final Duration CHANGE_WITHIN = Duration.ofSeconds(20);
    private static final Duration END_WITHIN = Duration.ofMinutes(2);
    private static final long GIB = 1L << 30;
    private static final List<String> TRAINER =
            List.of(Distribution.PYTHON, "-m", "ullage.demo.trainer", "--ddp", "--model", "torch");

    private static final List<String> MPIRUN = List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4");
    private static final Map<String, String> RENDEZVOUS =
            Map.of("MASTER_ADDR", "127.0.0.1", "OMPI_MCA_btl_vader_single_copy_mechanism", "none");

    @TempDir
    private Path folder;

    @BeforeEach
    void requireTorch() {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
    }

    @Test
    void torchrunRanksAreLimitedLiveAndADeadOneFreesItsGrant() {
        List<String> torchrun = UpNode.concat(TorchRun.of(4), List.of("--no_python"));
        try (UpNode node = UpNode.start(folder, "4xH100-80G");
                TestProcess job = node.launch("torchrun", command(torchrun, "--seconds", "60"), Map.of())) {
            JsonNode status = awaitRanks(node, job);
            assertAreTheRanks(status, "torchrun");

            halveTheShare(node, status);

            long victim = Api.ranks(status).get(2).path("pid").asLong();
            ProcessHandle.of(victim).orElseThrow().destroyForcibly();
            node.api().await("the killed rank's grant is free", Duration.ofSeconds(2), now -> Api.ranks(now).stream()
                    .noneMatch(rank -> rank.path("pid").asLong() == victim));
            assertThat(job.awaitExit(END_WITHIN)).as(job.log()).isEqualTo(1);
            awaitNothingLeft(node);
        }
    }

    @Test
    void mpirunRanksAreLimitedLiveAndEndNormally() {
        Requires.command("mpirun", "openmpi-bin");
        Map<String, String> environment = new HashMap<>(RENDEZVOUS);
        environment.put("MASTER_PORT", Integer.toString(Ports.free()));
        try (UpNode node = UpNode.start(folder, "4xH100-80G");
                TestProcess job = node.launch("mpirun", command(MPIRUN, "--seconds", "20"), environment)) {
            JsonNode status = awaitRanks(node, job);
            assertAreTheRanks(status, "openmpi");

            halveTheShare(node, status);

            assertThat(job.awaitExit(END_WITHIN)).as(job.log()).isZero();
            awaitNothingLeft(node);
        }
    }

    @Test
    void theLaunchersExitCodeIsTheJobsOwn() {
        Requires.command("mpirun", "openmpi-bin");
        List<String> failing = List.of(Distribution.PYTHON, "-c", "raise SystemExit(7)");
        try (UpNode node = UpNode.start(folder, "4xH100-80G");
                TestProcess mpirun = node.launch("mpirun", UpNode.concat(MPIRUN, UpNode.exec(failing)), Map.of());
                TestProcess plain = node.launch("plain", UpNode.exec(failing), Map.of())) {
            assertThat(mpirun.awaitExit(END_WITHIN)).as(mpirun.log()).isEqualTo(7);
            assertThat(plain.awaitExit(END_WITHIN)).as(plain.log()).isEqualTo(7);
            awaitNothingLeft(node);
        }
    }

    private static List<String> command(List<String> launcher, String... trainerOptions) {
        return UpNode.concat(launcher, UpNode.exec(UpNode.concat(TRAINER, List.of(trainerOptions))));
    }

    private static JsonNode awaitRanks(UpNode node, TestProcess job) {
        return node.api().await("four ranks train within confirmed limits", JOIN_WITHIN, status -> {
            if (!job.isAlive()) {
                throw new AssertionError("the job ended:\n" + job.log());
            }
            return Api.areSettled(status, 4)
                    && Api.ranks(status).stream()
                            .allMatch(rank -> rank.path("connected").asBoolean()
                                    && rank.path("step").asLong() > 0);
        });
    }

    private static void assertAreTheRanks(JsonNode status, String launcher) {
        Api.requireWithinBudget(status);
        List<JsonNode> devices = Api.devices(status);
        assertThat(devices).hasSize(4);
        for (int i = 0; i < 4; i++) {
            JsonNode device = devices.get(i);
            assertThat(device.path("index").asInt()).isEqualTo(i);
            assertThat(device.path("ranks")).as("one rank on device %d", i).hasSize(1);
            JsonNode rank = device.path("ranks").get(0);
            assertThat(rank.path("rank").asInt()).isEqualTo(i);
            assertThat(rank.path("localRank").asInt()).isEqualTo(i);
            assertThat(rank.path("worldSize").asInt()).isEqualTo(4);
            assertThat(rank.path("launcher").asText()).isEqualTo(launcher);
            assertThat(rank.path("framework").asText()).startsWith("torch ");
            assertThat(rank.path("targetBytes").asLong()).isEqualTo(64 * GIB);
        }
    }

    private static void halveTheShare(UpNode node, JsonNode status) {
        String job = Api.ranks(status).get(0).path("job").asText();
        int answer = node.api().post("/api/v1/share", "{\"job\":\"" + job + "\",\"share\":\"50%\"}", node.stateDir());
        assertThat(answer).isEqualTo(200);
        JsonNode changed = node.api()
                .await(
                        "all four ranks confirm half their limit",
                        CHANGE_WITHIN,
                        now -> Api.areSettled(now, 4)
                                && Api.ranks(now).stream()
                                        .allMatch(rank -> rank.path("targetBytes")
                                                                .asLong()
                                                        == 32 * GIB
                                                && rank.path("ceilingBytes").asLong() == 32 * GIB));
        Api.requireWithinBudget(changed);
        assertThat(Api.ranks(changed).stream()
                        .map(rank -> rank.path("sequence").asLong())
                        .max(Comparator.naturalOrder()))
                .hasValueSatisfying(sequence -> assertThat(sequence).isGreaterThanOrEqualTo(2));
    }

    private static void awaitNothingLeft(UpNode node) {
        JsonNode status = node.api().await("nothing is left of the job", Duration.ofSeconds(5), now -> Api.ranks(now)
                .isEmpty());
        for (JsonNode device : Api.devices(status)) {
            assertThat(device.path("ceilingBytes").asLong()).isZero();
        }
    }
}
