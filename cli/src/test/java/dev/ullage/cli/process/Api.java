package dev.ullage.cli.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The cluster as its HTTP API shows it. Built on the JDK alone, so that a fault in the product's own client shows. */
final class Api {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    private final String base;

    Api(int port) {
        this.base = "http://127.0.0.1:" + port;
    }

    String base() {
        return base;
    }

    /** The status, or empty while nobody answers. */
    Optional<JsonNode> status() {
        return get("/api/v1/status");
    }

    /** What is there, or empty while nobody answers. */
    Optional<JsonNode> get(String path) {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(TIMEOUT).build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200 ? Optional.of(MAPPER.readTree(response.body())) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** Waits for a status that satisfies the predicate. */
    JsonNode await(String what, Duration within, Predicate<JsonNode> wanted) {
        return Eventually.find(what, within, () -> status().filter(wanted), () -> status().map(JsonNode::toPrettyString)
                .orElse("no answer from " + base));
    }

    /** A write, with the operator's token of that node's state folder; returns the HTTP status code. */
    int post(String path, String json, Path stateDir) {
        try {
            String token = Files.readString(stateDir.resolve("operator.token")).strip();
            HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
                    .timeout(TIMEOUT)
                    .header("Authorization", "Bearer " + token)
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(json))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        } catch (IOException e) {
            throw new AssertionError("POST " + path + " failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    static List<JsonNode> devices(JsonNode status) {
        List<JsonNode> devices = new ArrayList<>();
        status.path("nodes").forEach(node -> node.path("devices").forEach(devices::add));
        return devices;
    }

    static List<JsonNode> ranks(JsonNode status) {
        List<JsonNode> ranks = new ArrayList<>();
        devices(status).forEach(device -> device.path("ranks").forEach(ranks::add));
        return ranks;
    }

    static boolean isActive(JsonNode status) {
        return status.path("coordinator").path("state").asText().equals("ACTIVE");
    }

    /** Whether so many ranks are there and each has confirmed its newest limit. */
    static boolean areSettled(JsonNode status, int ranks) {
        List<JsonNode> found = ranks(status);
        return found.size() == ranks
                && found.stream()
                        .allMatch(rank -> rank.path("settled").asBoolean()
                                && rank.path("sequence").asLong() > 0);
    }

    /** The invariant, as anybody can check it from outside: no device's ceilings exceed its budget in force. */
    static void requireWithinBudget(JsonNode status) {
        for (JsonNode device : devices(status)) {
            long ceilings = 0;
            for (JsonNode rank : device.path("ranks")) {
                ceilings += rank.path("ceilingBytes").asLong();
            }
            long budget = device.path("budgetInForceBytes").asLong();
            if (ceilings > budget || device.path("counts").path("overCommits").asLong() != 0) {
                throw new AssertionError(
                        "over budget: ceilings " + ceilings + ", budget " + budget + "\n" + device.toPrettyString());
            }
        }
    }
}
