package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A job's request at the coordinator, said again as often as it is asked to be. It remembers how long the job has
 * waited, where it was told to run, and for how long it has, so that a coordinator that takes over learns it. One
 * thread.
 */
final class Submission {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String ROOM = "room";
    private static final String RAN = "ranMillis";
    /** What the first coordinators with a queue do not know. */
    private static final List<String> LATER_FIELDS = List.of(ROOM, RAN);

    private final ApiClient client;
    private final String token;
    private final String job;
    private final ObjectNode body;
    private final Clock clock;
    private long waitedMillis;
    private Instant waitedAt;
    /** Where it runs, or would now: the coordinator's name for it. */
    private Optional<String> room = Optional.empty();
    /** How long it had run at the last answer, as its coordinator counts; 0 until it runs. */
    private long ranMillis;
    /** Whether the last answer had it: an older coordinator refuses what it does not know. */
    private boolean isRunCounted;
    /** Whether the coordinator has something of ours by this name: what is another's is not ours to withdraw. */
    private boolean isKnown;

    /** @param fields what it asks for, with who asks */
    Submission(ApiClient client, String token, String job, Map<String, Object> fields, Clock clock) {
        this.client = client;
        this.token = token;
        this.job = job;
        this.body = JSON.valueToTree(fields);
        this.clock = clock;
        this.waitedAt = clock.instant();
    }

    String job() {
        return job;
    }

    /** @param isRunning whether its launcher runs */
    JsonNode say(boolean isRunning) throws ApiException {
        ObjectNode now = body.deepCopy();
        now.put("waitedMillis", waitedMillis + sinceAnswer().toMillis());
        now.put("running", isRunning);
        room.filter(known -> isRunning).ifPresent(known -> now.put(ROOM, known));
        if (isRunning && isRunCounted) {
            now.put(RAN, ranMillis + sinceAnswer().toMillis());
        }
        JsonNode state = submit(now);
        if (!isRunning) {
            room = Optional.ofNullable(state.path(ROOM).textValue());
        }
        // What does not run yet begins when it is told that it may, and not before.
        long ran = isRunning ? ranMillis + sinceAnswer().toMillis() : 0;
        ranMillis = state.path(RAN).asLong(ran);
        isRunCounted = state.has(RAN);
        waitedMillis = state.path("waitedMillis").asLong(waitedMillis);
        waitedAt = clock.instant();
        isKnown = !state.path("state").asText().equals("cancelled");
        // An operator may have chosen another: the next coordinator is to know it.
        Optional.ofNullable(state.path("priority").textValue()).ifPresent(priority -> body.put("priority", priority));
        return state;
    }

    /** A node of before one of these fields refuses it: said without, the lease is renewed there too. */
    private JsonNode submit(ObjectNode now) throws ApiException {
        try {
            return client.submit(job, now, token);
        } catch (ApiException e) {
            String refusal = String.valueOf(e.getMessage());
            List<String> newer = LATER_FIELDS.stream()
                    .filter(field -> now.has(field) && refusal.contains("unknown field \"" + field + "\""))
                    .toList();
            if (newer.isEmpty()) {
                throw e;
            }
            isRunCounted &= !newer.contains(RAN);
            now.remove(newer);
            return client.submit(job, now, token);
        }
    }

    private Duration sinceAnswer() {
        Duration since = Duration.between(waitedAt, clock.instant());
        return since.isNegative() ? Duration.ZERO : since;
    }

    /** Gives its room back, or its place in the queue. That nobody answers is no trouble: its lease runs out. */
    void end(boolean hasEnded) {
        if (!isKnown) {
            return;
        }
        try {
            client.cancel(job, hasEnded, token);
        } catch (ApiException e) {
            // As above.
        }
    }
}
