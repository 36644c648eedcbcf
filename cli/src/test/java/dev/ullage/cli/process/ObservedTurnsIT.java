package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Goal: jobs that declare nothing take turns by what was seen of them. Method: real processes; the recorded model of 24
 * layers trains alone on a device of 40 GiB, then a smaller one joins it, and half of the device holds no peak of the
 * first any more.
 */
class ObservedTurnsIT {
    /** Some steps while nobody minds, then a wait, then more steps that must not be refused. */
    private static final String JOB =
            """
            import os, sys, time
            import ullage
            from ullage.allocator import LimitedAllocator

            job, folder = sys.argv[1], sys.argv[2]
            persistent, peak = int(sys.argv[3]) << 20, int(sys.argv[4]) << 20
            os.environ.update(ULLAGE_JOB=job, RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
            allocator = LimitedAllocator()
            rank = ullage.connect(applier=allocator, require=True, timeout=30)
            while (rank.wait_for_limit(1) or 0) < persistent:
                time.sleep(0.02)
            allocator.reserve(persistent)

            def step():
                rank.enter_phase("forward")
                allocator.reserve(peak - persistent)
                rank.enter_phase("backward")
                time.sleep(0.02)
                allocator.release(peak - persistent)
                rank.enter_phase("optimizer")
                rank.step_done()
                rank.enter_phase("idle")
                time.sleep(0.08)

            for _ in range(30):  # a summary of its phases is said once a second
                step()
            print("SEEN", flush=True)
            while not os.path.exists(os.path.join(folder, "go")):
                time.sleep(0.02)
                rank.safe_point()
            before = rank.turns.given
            for _ in range(20):
                step()
            print("DONE given", rank.turns.given - before, "missed", rank.turns.missed, "refused", allocator.refusals,
                  flush=True)
            """;

    @TempDir
    private Path folder;

    @Test
    void jobsThatDeclareNothingTakeTurnsByWhatWasSeenOfThem() throws IOException {
        try (TurnNode node =
                TurnNode.start(folder, "1x40GiB", "turns = auto, turn-needs = observed, turn-slack = 5%")) {
            TestProcess large = node.job(JOB, "large", "6521", "23090");
            TurnNode.awaitText(large, "SEEN");
            TestProcess small = node.job(JOB, "small", "3072", "9216");
            TurnNode.awaitText(small, "SEEN");
            JsonNode status = node.api()
                    .await(
                            "turns",
                            TurnNode.WITHIN,
                            now -> Api.areSettled(now, 2)
                                    && TurnNode.turns(now)
                                                    .path("poolInForceBytes")
                                                    .asLong()
                                            > 0);
            // 6,521 and 23,090 MiB with 5 % on top, in whole MiB.
            assertThat(TurnNode.turns(status).path("poolInForceBytes").asLong())
                    .isEqualTo((24_245 - 6_848) * TurnNode.MIB);
            node.let("go");

            TurnNode.awaitText(large, "DONE given 20 missed 0 refused 0");
            TurnNode.awaitText(small, "DONE given 20 missed 0 refused 0");
        }
    }
}
