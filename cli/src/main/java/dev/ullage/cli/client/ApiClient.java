package dev.ullage.cli.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.client.ApiException.Reason;
import dev.ullage.config.HttpSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;

/** Asks a coordinator's node over HTTP. Blocks; a question takes at most {@code timeout}. */
public final class ApiClient {
    public static final URI DEFAULT_SERVER = URI.create("http://127.0.0.1:7788");
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

    private static final String AUTHORIZATION = "Authorization";
    private static final String BEARER = "Bearer ";
    private static final int SCHEMA = 1;
    private static final int MAX_EVENTS = 1000;
    private static final int MAX_ITEMS = 1000;
    private static final int MAX_ANSWER_BYTES = 64 << 20;
    private static final JsonMapper JSON = new JsonMapper();

    private final URI server;
    private final Duration timeout;
    private final ApiAccess access;
    private final HttpClient http;

    /** @param server {@code http://HOST:PORT} */
    public ApiClient(URI server, Duration timeout) {
        this(server, timeout, ApiAccess.OPEN);
    }

    /** @param server {@code http://HOST:PORT} or {@code https://HOST:PORT} */
    public ApiClient(URI server, Duration timeout, ApiAccess access) {
        this.server = server;
        this.timeout = timeout;
        this.access = access;
        HttpClient.Builder builder = HttpClient.newBuilder();
        access.trust().ifPresent(builder::sslContext);
        this.http = builder.version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(timeout)
                .build();
    }

    /** The status document, as it came. */
    public JsonNode status() throws ApiException {
        return checked(send(request("/api/v1/status").GET().build()));
    }

    /** What a job has come to; also one that has ended. */
    public JsonNode report(String job) throws ApiException {
        return checked(send(request("/api/v1/report?job=" + URLEncoder.encode(job, StandardCharsets.UTF_8))
                .GET()
                .build()));
    }

    /** Every job with what its ranks hold and may hold: the items of all pages of {@code /api/v1/jobs}. */
    public ObjectNode jobs() throws ApiException {
        ArrayNode items = JsonNodeFactory.instance.arrayNode();
        JsonNode page;
        do {
            page = checked(send(request("/api/v1/jobs?limit=" + MAX_ITEMS + "&offset=" + items.size())
                    .GET()
                    .build()));
            page.path("items").forEach(items::add);
        } while (!page.path("items").isEmpty()
                && items.size() < page.path("total").asInt());
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        all.set("schema", page.path("schema"));
        all.set("time", page.path("time"));
        all.set("jobs", items);
        return all;
    }

    /**
     * What happened, oldest first: an object with {@code items}, and {@code complete} when none is missing.
     *
     * @param since only events after the one of this id
     */
    public JsonNode events(Optional<String> since) throws ApiException {
        String query = since.map(id -> "&since=" + URLEncoder.encode(id, StandardCharsets.UTF_8))
                .orElse("");
        return checked(
                send(request("/api/v1/events?limit=" + MAX_EVENTS + query).GET().build()));
    }

    /**
     * What happens, for as long as the connection holds; returns when the server ends it.
     *
     * @param since the newest event that is known already
     * @param onEvents gets an object with {@code events}, and {@code complete} when none is missing before them; false
     *     ends it
     */
    public void follow(Optional<String> since, Predicate<JsonNode> onEvents) throws ApiException {
        HttpRequest.Builder request = request("/api/v1/stream?snapshots=off");
        since.ifPresent(id -> request.header("Last-Event-ID", id));
        stream(request, "events", onEvents);
    }

    /**
     * The status as it changes, for as long as the connection holds; returns when the server ends it.
     *
     * @param onSnapshot gets each snapshot, the first in full; false ends it
     */
    public void watch(Predicate<JsonNode> onSnapshot) throws ApiException {
        stream(request("/api/v1/stream"), "snapshot", onSnapshot);
    }

    private void stream(HttpRequest.Builder request, String event, Predicate<JsonNode> onMessage) throws ApiException {
        exchange(request.header("Accept", "text/event-stream").GET().build(), body -> {
            EventStream stream = new EventStream(body);
            Optional<EventStream.Message> message = stream.next();
            while (message.isPresent()) {
                boolean isWanted = message.get().event().equals(event);
                if (isWanted && !onMessage.test(JSON.readTree(message.get().data()))) {
                    break;
                }
                message = stream.next();
            }
            return JsonNodeFactory.instance.nullNode();
        });
    }

    private JsonNode checked(JsonNode json) throws ApiException {
        int schema = json.path("schema").intValue();
        if (schema != SCHEMA) {
            throw new ApiException(
                    Reason.UNUSABLE,
                    json.has("schema")
                            ? "the coordinator at " + server + " speaks schema " + schema + ", this command knows "
                                    + SCHEMA + ": they are of different versions"
                            : notACoordinator());
        }
        return json;
    }

    /**
     * Changes the reserve of one device, or of all.
     *
     * @return what the coordinator says it does
     */
    public String setReserve(String reserve, Optional<String> device, String token) throws ApiException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("reserve", reserve);
        body.put("device", device.orElse(null));
        return write("reserve", body, token).path("message").asText();
    }

    /**
     * Changes what share of its limit a rank of a job gets, or each of its ranks.
     *
     * @return what the coordinator says it does
     */
    public String setShare(String job, OptionalInt rank, String share, String token) throws ApiException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("job", job);
        body.put("rank", rank.isPresent() ? (Integer) rank.getAsInt() : null);
        body.put("share", share);
        return write("share", body, token).path("message").asText();
    }

    /**
     * Asks for a change.
     *
     * @param name the last part of the write's path under {@code /api/v1/}
     * @return with {@code message}: what the coordinator says it does
     */
    public JsonNode write(String name, ObjectNode body, String token) throws ApiException {
        return post("/api/v1/" + name, body, token);
    }

    /** Every request for room: an object with {@code items}, those that wait first. */
    public JsonNode requests() throws ApiException {
        return checked(send(request("/api/v1/requests").GET().build()));
    }

    /**
     * Asks for room for a job, or says so again.
     *
     * @return where it stands
     */
    public JsonNode submit(String job, ObjectNode body, String token) throws ApiException {
        return checked(send(request(requestPath(job))
                .setHeader(AUTHORIZATION, BEARER + token)
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build()));
    }

    /**
     * A job asks no longer: its room is released.
     *
     * @param ended whether it has come to its end by itself
     * @return what the coordinator says it does
     */
    public String cancel(String job, boolean ended, String token) throws ApiException {
        return send(request(requestPath(job) + (ended ? "?ended=true" : ""))
                        .setHeader(AUTHORIZATION, BEARER + token)
                        .DELETE()
                        .build())
                .path("message")
                .asText();
    }

    /**
     * Puts a job to the end of the queue.
     *
     * @return what the coordinator says it does
     */
    public String requeue(String job, String token) throws ApiException {
        return post(requestPath(job) + "/requeue", JsonNodeFactory.instance.objectNode(), token)
                .path("message")
                .asText();
    }

    private static String requestPath(String job) {
        return "/api/v1/requests/"
                + URLEncoder.encode(job, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private JsonNode post(String path, ObjectNode body, String token) throws ApiException {
        return send(request(path)
                .setHeader(AUTHORIZATION, BEARER + token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build());
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(server.resolve(path)).timeout(timeout);
        access.token().ifPresent(token -> request.header(AUTHORIZATION, BEARER + token));
        return request;
    }

    private JsonNode send(HttpRequest request) throws ApiException {
        return exchange(request, this::document);
    }

    private interface Reading {
        JsonNode of(InputStream body) throws IOException, ApiException;
    }

    private JsonNode document(InputStream body) throws IOException, ApiException {
        byte[] bytes = body.readNBytes(MAX_ANSWER_BYTES + 1);
        if (bytes.length > MAX_ANSWER_BYTES) {
            throw new ApiException(Reason.UNUSABLE, "the answer of " + server + " is longer than 64 MiB");
        }
        return JSON.readTree(new String(bytes, StandardCharsets.UTF_8));
    }

    /** A coordinator takes no token unencrypted from elsewhere, so whoever listens there is none. */
    private void requireEncryption(HttpRequest request) throws ApiException {
        String host = server.getHost().replaceAll("[\\[\\]]", "");
        boolean isReadable = !"https".equals(server.getScheme()) && !HttpSettings.isLoopback(host);
        if (isReadable && request.headers().firstValue(AUTHORIZATION).isPresent()) {
            throw new ApiException(
                    Reason.REFUSED,
                    "the token is not sent to " + server + ", where everybody on the way could read it: use https://");
        }
    }

    private JsonNode exchange(HttpRequest request, Reading reading) throws ApiException {
        requireEncryption(request);
        try {
            HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = response.body()) {
                if (response.statusCode() != 200) {
                    throw refusal(response, document(body));
                }
                return reading.of(body);
            }
        } catch (JsonProcessingException e) {
            throw new ApiException(Reason.UNUSABLE, notACoordinator(), e);
        } catch (HttpTimeoutException e) {
            throw new ApiException(
                    Reason.UNREACHABLE,
                    "no answer from " + server + " within " + timeout.toMillis() / 1000.0 + " s",
                    e);
        } catch (SSLException e) {
            throw new ApiException(
                    Reason.UNREACHABLE,
                    "no trusted connection to " + server + ": " + e.getMessage()
                            + "; --ca FILE names the authority that issued its certificate",
                    e);
        } catch (ConnectException e) {
            throw new ApiException(
                    Reason.UNREACHABLE,
                    "no coordinator at " + server + ": connection refused; start one with \"ullage up\", or say where"
                            + " it is with --server",
                    e);
        } catch (IOException e) {
            throw new ApiException(Reason.UNREACHABLE, "the connection to " + server + " broke: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiException(Reason.UNREACHABLE, "interrupted while waiting for " + server, e);
        }
    }

    private ApiException refusal(HttpResponse<?> response, JsonNode problem) {
        int statusCode = response.statusCode();
        if (!problem.path("detail").isTextual()) {
            return new ApiException(Reason.UNUSABLE, notACoordinator() + " (HTTP " + statusCode + ")");
        }
        List<String> sentences = new ArrayList<>();
        sentences.add(problem.path("detail").asText());
        problem.path("errors").forEach(error -> sentences.add(error.asText()));
        String message = String.join("; ", sentences);
        return switch (statusCode) {
            case 503 -> new ApiException(Reason.UNREACHABLE, message);
            case 400, 401, 403, 409, 413, 415, 421 -> new ApiException(Reason.REFUSED, message);
            case 404 -> new ApiException(isAboutNothing(response, problem) ? Reason.REFUSED : Reason.UNUSABLE, message);
            default -> new ApiException(Reason.UNUSABLE, message + " (HTTP " + statusCode + ")");
        };
    }

    /** A change to what is not there is refused as any other; an older coordinator has no such path at all. */
    private static boolean isAboutNothing(HttpResponse<?> response, JsonNode problem) {
        return !response.request().method().equals("GET") && problem.has("notKnown");
    }

    private String notACoordinator() {
        return "what answers at " + server + " is no coordinator of Ullage";
    }
}
