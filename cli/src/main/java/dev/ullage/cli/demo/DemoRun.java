package dev.ullage.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.demo.DemoRanks.Ended;
import dev.ullage.common.model.Counts;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One run of the demo on a cluster that is up: ranks in, changes, ranks out, and what was seen of it. */
final class DemoRun {
    static final int RANKS = 8;
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration JOIN_WITHIN = Duration.ofMinutes(3);
    private static final Duration CHANGE_WITHIN = Duration.ofSeconds(30);
    private static final Duration FREE_WITHIN = Duration.ofSeconds(5);
    /** Ranks 2 and 3 share a GPU of the first node; its last one stays free. */
    private static final int[] DEVICE_OF_RANK = {0, 1, 2, 2, 0, 1, 2, 3};

    private final DemoCluster cluster;
    private final DemoRanks ranks;
    private final DemoScreen screen;
    private final DemoClock clock;
    private final ApiClient api;
    private final DemoWatch watch = new DemoWatch();
    private final CountDownLatch never = new CountDownLatch(1);

    /**
     * How a change went.
     *
     * @param millis from the request to the last confirmation; empty when that did not come in time
     */
    record ChangeSeen(DemoChange change, int ranks, Optional<Long> millis) {}

    /** All that was seen. */
    record Outcome(DemoWatch watch, List<ChangeSeen> changes, List<Ended> ranks, boolean allFreed) {}

    DemoRun(DemoCluster cluster, DemoRanks ranks, DemoScreen screen, DemoClock clock) {
        this.clock = clock;
        this.cluster = cluster;
        this.ranks = ranks;
        this.screen = screen;
        this.api = cluster.api();
    }

    Outcome run(Duration duration) throws CommandFailure, InterruptedException {
        startRanks();
        awaitAllLimited();
        List<ChangeSeen> changes = changeWhileTheyTrain(duration);
        screen.say("stopping the ranks");
        List<Ended> ended = ranks.stop();
        return new Outcome(watch, changes, ended, isAllFreed());
    }

    private void startRanks() throws CommandFailure {
        try {
            for (int rank = 0; rank < RANKS; rank++) {
                int node = rank * 2 / RANKS;
                int localSize = RANKS / 2;
                ranks.start(
                        rank,
                        RANKS,
                        new DemoRanks.Place(cluster.socket(node), rank % localSize, localSize, DEVICE_OF_RANK[rank]));
            }
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "a rank could not be started: " + e.getMessage(), e);
        }
    }

    private void awaitAllLimited() throws CommandFailure, InterruptedException {
        screen.say("waiting for " + RANKS + " ranks to register and start training");
        Duration deadline = clock.elapsed().plus(JOIN_WITHIN);
        while (clock.isBefore(deadline)) {
            JsonNode status = look();
            if (DemoWatch.areSettled(status, RANKS)
                    && DemoWatch.ranks(status).stream()
                            .allMatch(rank -> rank.path("step").asLong() > 0)) {
                screen.say("all ranks train within a confirmed limit each");
                return;
            }
            requireAllAlive();
        }
        throw new CommandFailure(ExitCode.FAILED, "not all ranks trained within " + JOIN_WITHIN.toSeconds() + " s");
    }

    private void requireAllAlive() throws CommandFailure {
        Optional<Ended> lost = ranks.firstLost();
        if (lost.isPresent()) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "rank " + lost.get().rank() + " ended with " + lost.get().exitCode() + " before the demo did: "
                            + lost.get().complaint());
        }
    }

    private List<ChangeSeen> changeWhileTheyTrain(Duration duration) throws CommandFailure, InterruptedException {
        List<ChangeSeen> seen = new ArrayList<>();
        Duration start = clock.elapsed();
        for (DemoChange change : DemoChange.script()) {
            watchUntil(start.plusNanos((long) (duration.toNanos() * change.at())));
            seen.add(perform(change));
        }
        watchUntil(start.plus(duration));
        return seen;
    }

    private void watchUntil(Duration deadline) throws CommandFailure, InterruptedException {
        while (clock.isBefore(deadline)) {
            look();
            requireAllAlive();
        }
    }

    private ChangeSeen perform(DemoChange change) throws CommandFailure, InterruptedException {
        Map<Integer, Long> before = DemoWatch.sequences(look());
        int affected =
                (int) before.keySet().stream().filter(change.affects()::test).count();
        Duration start = clock.elapsed();
        try {
            change.action().perform(api, cluster.operatorSecret());
        } catch (ApiException e) {
            throw new CommandFailure(ExitCode.FAILED, change.what() + " was refused: " + e.getMessage(), e);
        }
        while (clock.isBefore(start.plus(CHANGE_WITHIN))) {
            JsonNode status = look();
            if (DemoWatch.areSettled(status, RANKS) && isNewToAll(change, before, DemoWatch.sequences(status))) {
                long millis = clock.elapsed().minus(start).toMillis();
                screen.say(change.what() + ": " + Counts.of(affected, "limit") + " confirmed in " + millis + " ms");
                return new ChangeSeen(change, affected, Optional.of(millis));
            }
        }
        screen.say(change.what() + ": NOT confirmed within " + CHANGE_WITHIN.toSeconds() + " s");
        return new ChangeSeen(change, affected, Optional.empty());
    }

    private static boolean isNewToAll(DemoChange change, Map<Integer, Long> before, Map<Integer, Long> now) {
        return before.entrySet().stream()
                .filter(rank -> change.affects().test(rank.getKey()))
                .allMatch(rank -> now.getOrDefault(rank.getKey(), 0L) > rank.getValue());
    }

    private boolean isAllFreed() throws CommandFailure, InterruptedException {
        Duration deadline = clock.elapsed().plus(FREE_WITHIN);
        while (clock.isBefore(deadline)) {
            if (DemoWatch.ranks(look()).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private JsonNode look() throws CommandFailure, InterruptedException {
        never.await(POLL.toMillis(), TimeUnit.MILLISECONDS);
        try {
            JsonNode status = api.status();
            watch.see(status);
            screen.show(status);
            return status;
        } catch (ApiException e) {
            throw new CommandFailure(
                    ExitCode.FAILED, "the demo's own coordinator does not answer: " + e.getMessage(), e);
        }
    }
}
