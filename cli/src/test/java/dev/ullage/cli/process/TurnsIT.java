package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: jobs whose peaks do not fit beside each other run on one device, by turns, and never wait for each other for
 * good. Method: real processes with the figures of a recorded model of 24 layers, 6,521 MiB and 23,090 MiB at the peak,
 * on simulated devices of 40 GiB of which 32 GiB may be promised; an allocator that counts and no memory behind it.
 */
class TurnsIT {
    private static final Duration WITHIN = TurnNode.WITHIN;
    private static final long MIB = TurnNode.MIB;

    /** A process for each rank, forked before it knows the client; the ranks of a job meet in every backward pass. */
    private static final String JOB =
            """
            import json, multiprocessing, os, random, sys, time
            import ullage
            from ullage.allocator import LimitedAllocator
            from ullage.errors import MemoryLimitError

            job, ranks, steps = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
            go, holds = os.path.join(sys.argv[2], "go-" + job), len(sys.argv) > 5
            persistent, peak = 6521 << 20, 23090 << 20

            def train(number, barrier):
                dice = random.Random(f"{job}/{number}")
                os.environ.update(ULLAGE_JOB=job, RANK=str(number), WORLD_SIZE=str(ranks), LOCAL_RANK=str(number))
                allocator = LimitedAllocator()
                rank = ullage.connect(applier=allocator, require=True, timeout=30)
                while (rank.wait_for_limit(1) or 0) < persistent:
                    time.sleep(0.02)
                allocator.reserve(persistent)
                print("READY", flush=True)
                while not os.path.exists(go):
                    time.sleep(0.02)
                    rank.safe_point()
                for step in range(steps):
                    time.sleep(dice.random() / 500)
                    rank.enter_phase("forward")
                    try:
                        allocator.reserve(peak - persistent)
                    except MemoryLimitError:
                        pass
                    rank.enter_phase("backward")
                    if holds:
                        print("HOLDS", flush=True)
                        time.sleep(600)
                    barrier.wait(90)
                    if allocator.allocated_bytes > persistent:
                        allocator.release(peak - persistent)
                    rank.enter_phase("optimizer")
                    rank.step_done()
                    rank.enter_phase("idle")
                print("DONE " + json.dumps({"steps": steps, "refused": allocator.refusals, "peak": allocator.usage()
                      .peak_reserved_bytes, "given": rank.turns.given, "missed": rank.turns.missed}), flush=True)

            context = multiprocessing.get_context("fork")
            barrier = context.Barrier(ranks)
            processes = [context.Process(target=train, args=(n, barrier)) for n in range(ranks)]
            [process.start() for process in processes]
            [process.join() for process in processes]
            """;

    private static final String DECLARED =
            """
            jobs {
              a { persistent = 6521MiB, peak = 23090MiB }
              b { persistent = 6521MiB, peak = 23090MiB }
            }
            """;

    @TempDir
    private Path folder;

    private Optional<TurnNode> node = Optional.empty();

    @AfterEach
    void stopAll() {
        node.ifPresent(TurnNode::close);
    }

    private TurnNode node(String simulate, String turns) throws IOException {
        TurnNode started = TurnNode.start(folder, simulate, "turns = " + turns + "\n" + DECLARED);
        node = Optional.of(started);
        return started;
    }

    private static TestProcess job(TurnNode node, String name, int ranks, int steps, String... more)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(Integer.toString(ranks), Integer.toString(steps)));
        arguments.addAll(List.of(more));
        return node.job(JOB, name, arguments.toArray(new String[0]));
    }

    /** What each rank of the job said at its end. */
    private static List<JsonNode> results(TestProcess job, int ranks) throws IOException {
        Eventually.find(
                "the job is done",
                WITHIN,
                () -> Optional.of(job.log()).filter(log -> log.split("DONE ", -1).length == ranks + 1),
                job::log);
        List<JsonNode> results = new ArrayList<>();
        for (String line : job.log().lines().toList()) {
            if (line.startsWith("DONE ")) {
                results.add(new ObjectMapper().readTree(line.substring(5)));
            }
        }
        return results;
    }

    private static void assertFullTurns(List<JsonNode> results, int steps) {
        assertThat(results).isNotEmpty().allSatisfy(rank -> {
            assertThat(rank.path("refused").asInt()).isZero();
            assertThat(rank.path("missed").asInt()).isZero();
            assertThat(rank.path("given").asInt()).isEqualTo(steps);
            assertThat(rank.path("peak").asLong()).isEqualTo(23_090 * MIB);
        });
    }

    @Test
    void byTurnsTwoJobsReachTheirPeaksOnOneDeviceAndNoRequestIsRefused() throws IOException {
        TurnNode node = node("1x40GiB", "auto");
        TestProcess a = job(node, "a", 1, 40);
        TestProcess b = job(node, "b", 1, 40);
        JsonNode status = node.api().await("turns", WITHIN, now -> TurnNode.areTurnsInForce(now, 2));
        assertThat(Api.ranks(status))
                .allSatisfy(
                        rank -> assertThat(rank.path("ceilingBytes").asLong()).isEqualTo(6_521 * MIB));
        node.let("go-a");
        node.let("go-b");

        assertFullTurns(results(a, 1), 40);
        assertFullTurns(results(b, 1), 40);
        node.api().await("the ranks are gone", WITHIN, now -> {
            Api.requireWithinBudget(now);
            return Api.ranks(now).isEmpty();
        });
    }

    // The same jobs with half of the device each: what turns are for.
    @Test
    void staticHalvesRefuseEveryPeak() throws IOException {
        TurnNode node = node("1x40GiB", "off");
        TestProcess a = job(node, "a", 1, 5);
        TestProcess b = job(node, "b", 1, 5);
        node.api().await("halves", WITHIN, now -> Api.areSettled(now, 2));
        node.let("go-a");
        node.let("go-b");

        assertThat(results(a, 1).get(0).path("refused").asInt()).isEqualTo(5);
        assertThat(results(b, 1).get(0).path("refused").asInt()).isEqualTo(5);
    }

    // Each job has a rank on both devices and its ranks wait for each other: a turn per device would deadlock.
    @Test
    void jobsWhoseRanksWaitForEachOtherOverTwoDevicesNeverBlockEachOther() throws IOException {
        TurnNode node = node("2x40GiB", "auto");
        TestProcess a = job(node, "a", 2, 250);
        TestProcess b = job(node, "b", 2, 250);
        node.api().await("turns", WITHIN, now -> TurnNode.areTurnsInForce(now, 4));
        node.let("go-a");
        node.let("go-b");

        assertFullTurns(results(a, 2), 250);
        assertFullTurns(results(b, 2), 250);
    }

    @Test
    void theTurnOfAProcessThatIsGonePassesAtOnce() throws IOException {
        TurnNode node = node("1x40GiB", "auto");
        TestProcess a = job(node, "a", 1, 1, "holds");
        TestProcess b = job(node, "b", 1, 1);
        node.api().await("turns", WITHIN, now -> TurnNode.areTurnsInForce(now, 2));
        node.let("go-a");
        TurnNode.awaitText(a, "HOLDS");
        JsonNode status = node.api().await("the holder is shown", WITHIN, now -> !Api.devices(now)
                .get(0)
                .path("turns")
                .path("holding")
                .isEmpty());
        assertThat(Api.devices(status).get(0).path("turns").path("outBytes").asLong())
                .isEqualTo(16_569 * MIB);
        long pid = Api.ranks(status).stream()
                .filter(rank -> rank.path("job").asText().equals("a"))
                .findFirst()
                .orElseThrow()
                .path("pid")
                .asLong();
        node.let("go-b");
        node.api().await("the other waits", WITHIN, now -> !Api.devices(now)
                .get(0)
                .path("turns")
                .path("waiting")
                .isEmpty());
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();

        assertFullTurns(results(b, 1), 1);
    }
}
