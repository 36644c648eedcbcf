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

/** {@code ullage run} in front of real launchers: the client gets to the ranks, signals and exit codes get through. */
class RunIT {
    private static final Duration WITHIN = Duration.ofMinutes(2);
    private static final long GIB = 1L << 30;

    /** Trains by the client's own API until it is told to end; says each signal it gets. */
    private static final String SCRIPT =
            """
            import os, signal, sys, time, ullage
            rank = ullage.connect()
            caught = []
            for name in ("HUP", "INT", "USR1", "USR2", "TERM"):
                signal.signal(getattr(signal, "SIG" + name), lambda number, frame: caught.append(number))
            print("rank", rank.info.rank, "of", rank.info.world_size, "runs", sys.argv[1:], flush=True)
            while signal.SIGTERM not in caught and not os.path.exists(sys.argv[1]):
                with rank.phase("forward"):
                    time.sleep(0.05)
                rank.step_done()
            print("rank", rank.info.rank, "caught", sorted(set(caught)), flush=True)
            sys.exit(int(sys.argv[2]))
            """;

    /** Runs its arguments on a terminal of their own, types Ctrl-C once the output says so, and ends as they do. */
    private static final String TYPIST =
            """
            import os, pty, sys
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[1], sys.argv[1:])
            seen, typed = b"", False
            while True:
                try:
                    data = os.read(terminal, 4096)
                except OSError:
                    break
                seen += data
                sys.stdout.write(data.decode())
                sys.stdout.flush()
                if b"ready for it" in seen and not typed:
                    typed = os.write(terminal, b"\\x03") == 1
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """;

    /** Counts for a second what came after the first. */
    private static final String COUNTER =
            """
            import signal, sys, time
            caught = []
            signal.signal(signal.SIGINT, lambda number, frame: caught.append(time.monotonic()))
            print("ready for it", flush=True)
            while not caught or time.monotonic() < caught[0] + 1:
                time.sleep(0.05)
            print("caught", len(caught), flush=True)
            sys.exit(9)
            """;

    @TempDir
    private Path folder;

    private int started;

    private Path script() throws IOException {
        return Files.writeString(folder.resolve("train.py"), SCRIPT);
    }

    private Path end() {
        return folder.resolve("end");
    }

    private List<String> run(UpNode node, List<String> options, List<String> launcher, int exitCode)
            throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Distribution.ullage(), "run", "--server", node.api().base()));
        command.addAll(options);
        command.add("--");
        command.addAll(launcher);
        command.addAll(List.of(script().toString(), end().toString(), Integer.toString(exitCode)));
        return command;
    }

    private TestProcess start(UpNode node, List<String> command) {
        return node.launch("run-" + started++, command, Map.of());
    }

    private static JsonNode awaitRanks(UpNode node, TestProcess job, int count) {
        return node.api().await("the ranks train", WITHIN, status -> {
            if (!job.isAlive()) {
                throw new AssertionError("the job ended:\n" + job.log());
            }
            return Api.areSettled(status, count)
                    && Api.ranks(status).stream()
                            .allMatch(rank -> rank.path("step").asLong() > 0);
        });
    }

    @Test
    void torchrunRanksAreWrappedLimitedByTheirPolicyAndSummedUp() throws IOException {
        Requires.python("torch", Distribution.PYTHON, "python3-torch");
        Path summary = folder.resolve("summary.json");
        List<String> options =
                List.of("--job", "nightly", "--policy", "world-share", "--json", summary.toString(), "--require");
        try (UpNode node = UpNode.start(folder, "4xH100-80G");
                TestProcess job = start(
                        node,
                        run(node, options, UpNode.concat(TorchRun.STANDALONE, List.of("--nproc_per_node", "2")), 0))) {
            awaitRanks(node, job, 2);
            // 80 GiB less the reserve of 20 %, for a world of two, once the first samples have said how large it is.
            JsonNode status = node.api()
                    .await(
                            "the limits of world-share",
                            WITHIN,
                            now -> Api.areSettled(now, 2)
                                    && Api.ranks(now).stream()
                                            .allMatch(rank ->
                                                    rank.path("targetBytes").asLong() == 32 * GIB));
            for (JsonNode rank : Api.ranks(status)) {
                assertThat(rank.path("job").asText()).isEqualTo("nightly");
                assertThat(rank.path("launcher").asText()).isEqualTo("torchrun");
                assertThat(rank.path("policy").asText()).isEqualTo("world-share");
            }
            Api.requireWithinBudget(status);

            // Long enough for one look of the command at the status.
            node.api().await("some steps", WITHIN, now -> Api.ranks(now).stream()
                    .allMatch(rank -> rank.path("step").asLong() > 60));
            Files.createFile(end());

            assertThat(job.awaitExit(WITHIN)).as(job.log()).isZero();
            assertThat(job.log()).contains("ullage: job nightly ended with 0", "RANK  NODE");
            JsonNode json = new ObjectMapper().readTree(summary.toFile());
            assertThat(json.path("ranks")).hasSize(2);
            json.path("ranks")
                    .forEach(
                            rank -> assertThat(rank.path("limitBytes").asLong()).isEqualTo(32 * GIB));
        }
    }

    @Test
    void theExitCodeIsTheJobsOwn() throws IOException {
        Requires.command("mpirun", "openmpi-bin");
        Files.createFile(end());
        List<String> mpirun =
                List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", Distribution.PYTHON);
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                TestProcess failing = start(node, run(node, List.of("--require"), mpirun, 7))) {
            assertThat(failing.awaitExit(WITHIN)).as(failing.log()).isEqualTo(7);
            assertThat(failing.log()).contains("rank 0 of 2 runs", "rank 1 of 2 runs");
        }
    }

    // No shell's job control is between: what `kill PID` and batch systems send to the command alone reaches the job.
    @Test
    void signalsGetThroughToThePlainRankAndItsExitCodeBack() throws IOException {
        try (UpNode node = UpNode.start(folder, "1xH100-80G");
                TestProcess job = start(node, run(node, List.of(), List.of(Distribution.PYTHON), 23))) {
            awaitRanks(node, job, 1);
            for (String signal : List.of("HUP", "INT", "USR1", "USR2", "TERM")) {
                job.signal(signal);
            }

            assertThat(job.awaitExit(WITHIN)).as(job.log()).isEqualTo(23);
            assertThat(job.log()).contains("rank 0 caught [1, 2, 10, 12, 15]");
        }
    }

    // The terminal sends it to the whole group, so the job has it already.
    @Test
    void aCtrlCAtTheTerminalArrivesOnce() throws IOException {
        Path typist = Files.writeString(folder.resolve("typist.py"), TYPIST);
        Path counter = Files.writeString(folder.resolve("counter.py"), COUNTER);
        try (UpNode node = UpNode.start(folder, "1xH100-80G");
                TestProcess job = start(
                        node,
                        List.of(
                                Distribution.PYTHON,
                                typist.toString(),
                                Distribution.ullage(),
                                "run",
                                "--server",
                                node.api().base(),
                                "--",
                                Distribution.PYTHON,
                                counter.toString()))) {
            assertThat(job.awaitExit(WITHIN)).as(job.log()).isEqualTo(9);
            assertThat(job.log()).contains("caught 1");
        }
    }

    @Test
    void aJobThatASignalEndedSaysWhich() throws IOException {
        try (UpNode node = UpNode.start(folder, "1xH100-80G");
                TestProcess job = start(node, run(node, List.of(), List.of(Distribution.PYTHON), 0))) {
            long pid = Api.ranks(awaitRanks(node, job, 1)).get(0).path("pid").asLong();

            ProcessHandle.of(pid).orElseThrow().destroyForcibly();

            assertThat(job.awaitExit(WITHIN)).as(job.log()).isEqualTo(128 + 9);
        }
    }

    @Test
    void severalRanksShareADeviceWhenThatIsAskedFor() throws IOException {
        Requires.command("mpirun", "openmpi-bin");
        List<String> mpirun =
                List.of("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", Distribution.PYTHON);
        try (UpNode node = UpNode.start(folder, "2xH100-80G");
                TestProcess refused = start(node, run(node, List.of(), mpirun, 0));
                TestProcess tooBig =
                        start(node, run(node, List.of("--ranks-per-device=2", "--memory=33G"), mpirun, 0))) {
            assertThat(refused.awaitExit(WITHIN)).isEqualTo(6);
            assertThat(refused.log())
                    .contains("refused: 4 ranks, 2 visible devices (0, 1), at most 1 on each (--ranks-per-device)")
                    .doesNotContain("rank 0");
            assertThat(tooBig.awaitExit(WITHIN)).isEqualTo(6);
            assertThat(tooBig.log()).contains("can never give more than 32.0 GiB");
            try (TestProcess job = start(node, run(node, List.of("--ranks-per-device", "2"), mpirun, 0))) {
                JsonNode status = awaitRanks(node, job, 4);
                Api.devices(status)
                        .forEach(device -> assertThat(device.path("ranks")).hasSize(2));
                Api.requireWithinBudget(status);
                Files.createFile(end());
                assertThat(job.awaitExit(WITHIN)).as(job.log()).isZero();
            }
        }
    }
}
