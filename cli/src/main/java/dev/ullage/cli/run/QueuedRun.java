package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.CliEnvironment;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.cli.client.ApiException.Reason;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A job from the queue to its end: says its request again while it waits and while it runs, starts the launcher once
 * all of its room is reserved, and gives the room back at the end, however it comes.
 */
final class QueuedRun {
    /** Often enough that a lease of {@code 30s} survives a failover and some lost messages. */
    private static final Duration EVERY = Duration.ofSeconds(2);

    private static final int SIGNAL_BASE = 128;

    private final CliEnvironment environment;
    private final Submission submission;
    private final Optional<Duration> longestWait;
    private final Clock clock;
    private final WaitingLine line = new WaitingLine();
    private boolean isSilent;
    private String told = "";

    QueuedRun(CliEnvironment environment, Submission submission, Optional<Duration> longestWait, Clock clock) {
        this.environment = environment;
        this.submission = submission;
        this.longestWait = longestWait;
        this.clock = clock;
    }

    /** Makes of a placement what is to be run. */
    interface Planner {
        RunPlan plan(JsonNode placed) throws CommandFailure, ApiException;
    }

    /** Waits, runs, and waits again when it is put back; the exit code is the last launcher's. */
    int run(Planner planner, Runnable look) throws CommandFailure, ApiException, InterruptedException, IOException {
        JobProcess job = new JobProcess();
        boolean isOver = false;
        try {
            while (true) {
                Optional<JsonNode> placed = await(job);
                if (placed.isEmpty()) {
                    return SIGNAL_BASE + job.stopSignal().orElseThrow();
                }
                RunPlan plan = planner.plan(placed.get());
                plan.notes().forEach(this::say);
                int code = JobProcess.await(job.start(plan), Math.toIntExact(EVERY.toSeconds()), () -> {
                    look.run();
                    renew(job);
                });
                if (!told.equals("requeued")) {
                    isOver = true;
                    return code;
                }
                job.ended();
                told = "";
            }
        } finally {
            submission.end(isOver);
        }
    }

    /** The devices of a placement, in the order of their ranks. */
    static List<String> devices(JsonNode placed) {
        Set<String> devices = new LinkedHashSet<>();
        placed.path("ranks").forEach(rank -> devices.add(rank.path("device").asText()));
        return List.copyOf(devices);
    }

    /** Until it is placed; empty when a signal came first. */
    private Optional<JsonNode> await(JobProcess job) throws CommandFailure, ApiException, InterruptedException {
        Instant since = clock.instant();
        boolean isFirst = true;
        while (job.stopSignal().isEmpty()) {
            Optional<JsonNode> state = ask(isFirst);
            isFirst = false;
            String stage = state.map(known -> known.path("state").asText()).orElse("");
            if (stage.equals("placed")) {
                notes(state.orElseThrow());
                return state;
            }
            if (stage.equals("cancelled") || stage.equals("ended")) {
                throw new CommandFailure(ExitCode.REFUSED, "job " + submission.job() + " was " + stage);
            }
            state.flatMap(known -> line.of(known, clock.instant())).ifPresent(this::say);
            Duration waited = Duration.between(since, clock.instant());
            if (longestWait.filter(bound -> waited.compareTo(bound) >= 0).isPresent()) {
                throw new CommandFailure(
                        ExitCode.NOT_PLACED,
                        "job %s found no room within %d s: %s"
                                .formatted(
                                        submission.job(),
                                        longestWait.get().toSeconds(),
                                        state.map(known ->
                                                        known.path("waitsFor").asText())
                                                .orElse("no coordinator answers")));
            }
            job.awaitSignal(longestWait
                    .map(bound -> bound.minus(waited))
                    .filter(left -> left.compareTo(EVERY) < 0)
                    .orElse(EVERY));
        }
        return Optional.empty();
    }

    private void notes(JsonNode state) {
        state.path("notes").forEach(note -> say(note.asText()));
    }

    /** A coordinator that does not answer is waited for, but not when nothing was submitted yet. */
    private Optional<JsonNode> ask(boolean isFirst) throws ApiException {
        try {
            Optional<JsonNode> state = Optional.of(submission.say(false));
            if (isSilent) {
                say("the coordinator answers again");
            }
            isSilent = false;
            return state;
        } catch (ApiException e) {
            if (e.reason() != Reason.UNREACHABLE || isFirst) {
                throw e;
            }
            if (!isSilent) {
                say("waiting for a coordinator: " + e.getMessage());
            }
            isSilent = true;
            return Optional.empty();
        }
    }

    /** What runs goes on whatever the coordinator says, unless somebody wants it to end. */
    private void renew(JobProcess job) {
        try {
            String stage = submission.say(true).path("state").asText();
            boolean mustEnd = stage.equals("cancelled") || stage.equals("requeued");
            if (mustEnd && told.isEmpty()) {
                say("job " + submission.job() + " was "
                        + (stage.equals("cancelled") ? "cancelled" : "put to the end of the queue")
                        + ": what runs is told to end");
                job.end();
            }
            if (stage.equals("lost") && told.isEmpty()) {
                say("nothing is reserved for job " + submission.job() + " any more; its ranks keep their limits");
            }
            told = mustEnd || stage.equals("lost") ? stage : told;
        } catch (ApiException e) {
            // The next time finds the next coordinator; until then the ledgers keep its room.
        }
    }

    private void say(String text) {
        environment.err().println("ullage: " + text);
        environment.err().flush();
    }
}
