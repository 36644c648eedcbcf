package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.RequestsTable;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** What somebody who waits is told: when something changes, and now and then. Mutable; one thread. */
final class WaitingLine {
    private static final Duration AT_LEAST_EVERY = Duration.ofSeconds(30);

    private String last = "";
    private Optional<Instant> lastAt = Optional.empty();

    /** The line to print now, if any. */
    Optional<String> of(JsonNode state, Instant now) {
        String what = "%s %s %s"
                .formatted(
                        state.path("state").asText(),
                        state.path("position").asText(),
                        state.path("waitsFor").asText());
        boolean isDue =
                lastAt.filter(at -> at.plus(AT_LEAST_EVERY).isAfter(now)).isEmpty();
        if (what.equals(last) && !isDue) {
            return Optional.empty();
        }
        last = what;
        lastAt = Optional.of(now);
        return Optional.of(text(state));
    }

    private static String text(JsonNode state) {
        String job = "job " + state.path("job").asText();
        if (!state.path("state").asText().equals("waiting")) {
            return "%s is %s".formatted(job, state.path("state").asText());
        }
        String waited =
                RequestsTable.text(Duration.ofMillis(state.path("waitedMillis").asLong()));
        JsonNode millis = state.path("startsInMillis");
        String start = millis.isIntegralNumber()
                ? "starts in about " + RequestsTable.text(Duration.ofMillis(millis.asLong())) + ", by "
                : "no estimate: ";
        return "%s waits as number %s, for %s so far; it waits for %s; %s%s"
                .formatted(
                        job,
                        state.path("position").asText(),
                        waited,
                        state.path("waitsFor").asText(),
                        start,
                        state.path("basis").asText());
    }
}
