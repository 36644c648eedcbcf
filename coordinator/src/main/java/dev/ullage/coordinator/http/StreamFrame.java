package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.pekko.util.ByteString;

/** Messages of server-sent events as bytes, made once for all readers. */
final class StreamFrame {
    private StreamFrame() {}

    /**
     * @param event its type; without a line break
     * @param id what a reader names when it comes back
     * @param data JSON in one line, as Jackson writes it: a line break in a text is escaped
     */
    static ByteString of(String event, Optional<String> id, JsonNode data) {
        String text =
                id.map(known -> "id: " + known + "\n").orElse("") + "event: " + event + "\ndata: " + data + "\n\n";
        return ByteString.fromArrayUnsafe(text.getBytes(StandardCharsets.UTF_8));
    }
}
