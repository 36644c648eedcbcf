package dev.ullage.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Answers every request with what it was told last, and remembers the requests. */
public final class FakeServer implements AutoCloseable {
    private final HttpServer server;
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private volatile Answer answer = new Answer(200, "{}");

    /**
     * @param authorization the header, empty when there was none
     * @param lastEventId likewise
     */
    public record Request(String method, String path, String authorization, String body, String lastEventId) {
        public Request(String method, String path, String authorization, String body) {
            this(method, path, authorization, body, "");
        }
    }

    private record Answer(int status, String body) {}

    public FakeServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    public void answerWith(int status, String body) {
        answer = new Answer(status, body);
    }

    /** Another answer for this path. */
    public void answerAt(String path, int status, String body) {
        answers.put(path, new Answer(status, body));
    }

    public List<Request> requests() {
        return List.copyOf(requests);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.add(new Request(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().getPath(),
                    header(exchange, "Authorization"),
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8),
                    header(exchange, "Last-Event-ID")));
            Answer answer = answers.getOrDefault(exchange.getRequestURI().getPath(), this.answer);
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }
}
