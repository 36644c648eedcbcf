package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: kill -9 of a worker while a turn is out never leads to two turns at once. Method: real processes; the one that
 * has the turn is stopped over the restart, so that it cannot say what it holds, while the other one asks.
 */
class TurnCrashIT {
    /** One rank and one step, which waits in its burst, and again after it. */
    private static final String JOB =
            """
            import os, sys, time
            import ullage
            from ullage.allocator import LimitedAllocator

            job, folder = sys.argv[1], sys.argv[2]
            persistent, peak = 6521 << 20, 23090 << 20
            os.environ.update(ULLAGE_JOB=job, RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
            allocator = LimitedAllocator()
            rank = ullage.connect(applier=allocator, require=True, timeout=30)

            def wait_for(name):
                while not os.path.exists(os.path.join(folder, name + "-" + job)):
                    time.sleep(0.02)
                    rank.safe_point()

            while (rank.wait_for_limit(1) or 0) < persistent:
                time.sleep(0.02)
            allocator.reserve(persistent)
            print("READY", flush=True)
            wait_for("go")
            rank.enter_phase("forward")
            allocator.reserve(peak - persistent)
            print("IN", flush=True)
            wait_for("leave")
            allocator.release(peak - persistent)
            print("LEAVES", flush=True)
            rank.enter_phase("optimizer")
            print("OUT given", rank.turns.given, "missed", rank.turns.missed, "refused", allocator.refusals, flush=True)
            wait_for("end")
            """;

    private static final String LIMITS =
            """
            turns = auto
            jobs {
              a { persistent = 6521MiB, peak = 23090MiB }
              b { persistent = 6521MiB, peak = 23090MiB }
            }
            """;

    /** Long beside the half second in which a worker answers a rank that may have its turn. */
    private static final long LONG_MILLIS = 4_000;

    @TempDir
    private Path folder;

    @Test
    void afterARestartNobodyIsGivenATurnBeforeTheOneThatHasItHasSaidSo() throws IOException {
        try (TurnNode node = TurnNode.start(folder, "1x40GiB", LIMITS)) {
            TestProcess a = node.job(JOB, "a");
            TestProcess b = node.job(JOB, "b");
            node.api().await("turns", TurnNode.WITHIN, now -> TurnNode.areTurnsInForce(now, 2));
            node.let("go-a");
            TurnNode.awaitText(a, "IN");
            node.let("go-b");
            node.api().await("the other waits", TurnNode.WITHIN, now -> waitedMillis(now) >= 0);

            a.signal("STOP");
            node.crash();
            JsonNode silent = node.api().await("it waits again, for long", TurnNode.WITHIN, now -> {
                assertNoExcess(now, b);
                return waitedMillis(now) > LONG_MILLIS
                        && TurnNode.turns(now).path("ranks").asInt() == 2;
            });
            assertThat(TurnNode.turns(silent).path("holding"))
                    .as("nobody has said so")
                    .isEmpty();
            assertThat(TurnNode.turns(silent).path("poolInForceBytes").asLong())
                    .as("by the ledger, and the plan is there: only the silence is in the way")
                    .isEqualTo(TurnNode.BURST);

            a.signal("CONT");
            JsonNode said = node.api().await("it says what it holds", TurnNode.WITHIN, now -> {
                assertNoExcess(now, b);
                return !TurnNode.turns(now).path("holding").isEmpty();
            });
            assertThat(TurnNode.turns(said).at("/holding/0/job").asText()).isEqualTo("a");
            assertThat(TurnNode.turns(said).path("outBytes").asLong()).isEqualTo(TurnNode.BURST);
            assertThat(waitedMillis(said)).as("the other one still waits").isPositive();

            node.let("leave-a");
            TurnNode.awaitText(b, "IN");
            assertThat(a.log()).contains("LEAVES");
            TurnNode.awaitText(a, "OUT given 1 missed 0 refused 0");
            node.let("leave-b");
            TurnNode.awaitText(b, "OUT given 1 missed 0 refused 0");
            Api.requireWithinBudget(node.api().status().orElseThrow());
        }
    }

    /** While the first one has its turn, by what it was given before the crash, the second one must not be inside. */
    private static void assertNoExcess(JsonNode status, TestProcess second) {
        Api.requireWithinBudget(status);
        assertThat(second.log()).doesNotContain("IN\n");
        assertThat(TurnNode.turns(status).path("outBytes").asLong()).isLessThanOrEqualTo(TurnNode.BURST);
    }

    /** How long job b waits for its turn; -1 while it does not. */
    private static long waitedMillis(JsonNode status) {
        JsonNode waiting = TurnNode.turns(status).path("waiting");
        return waiting.size() == 1 && waiting.at("/0/job").asText().equals("b")
                ? waiting.at("/0/waitedMillis").asLong()
                : -1;
    }
}
