package dev.ullage.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** kill -9 of the worker: its ranks train on within their limits, and its ledger remembers what they were promised. */
class WorkerCrashIT {
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(1);
    private static final Duration REJOIN_WITHIN = Duration.ofSeconds(40);
    private static final String SIMULATE = "2xH100-80G";

    @TempDir
    private Path folder;

    @Test
    void ranksKeepTrainingAndTheirLimitsAndSumsStillHoldAfterTheRestart() {
        try (UpNode node = UpNode.start(folder, SIMULATE);
                PlainRanks ranks = new PlainRanks()) {
            ranks.add(folder, node.socket(), 0, 3, 0).add(folder, node.socket(), 1, 3, 1);
            node.api().await("two ranks settle", JOIN_WITHIN, now -> Api.areSettled(now, 2));
            ranks.add(folder, node.socket(), 2, 3, 1);
            JsonNode before = node.api()
                    .await("three ranks settle, two of them on one device", JOIN_WITHIN, now -> Api.areSettled(now, 3));

            node.process().kill();
            assertThat(ranks.processes()).allMatch(TestProcess::isAlive);
            ranks.processes().get(2).kill();
            node.restart(SIMULATE);

            JsonNode after = node.api()
                    .await(
                            "the living ranks reconnect, the dead one's grant is free",
                            REJOIN_WITHIN,
                            now -> Api.areSettled(now, 2)
                                    && Api.ranks(now).stream().allMatch(rank -> rank.path("connected")
                                            .asBoolean())
                                    && Api.ranks(now).stream()
                                            .allMatch(rank -> rank.path("step").asLong() > 0));
            Api.requireWithinBudget(after);
            long sequenceBefore = sequence(before, 0);
            assertThat(sequence(after, 0))
                    .as("the untouched rank's promise was replayed, not made anew")
                    .isEqualTo(sequenceBefore);
            assertThat(node.process().log()).contains("ledger replayed");
            ranks.processes().remove(2);
            ranks.stopAll();
        }
    }

    private static long sequence(JsonNode status, int rank) {
        return Api.ranks(status).stream()
                .filter(candidate -> candidate.path("rank").asInt() == rank)
                .findFirst()
                .orElseThrow()
                .path("sequence")
                .asLong();
    }
}
