package dev.ullage.cli.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.StringJoiner;

/** Messages out of a stream of server-sent events (WHATWG HTML, 9.2.6). What is no part of a message is passed over. */
final class EventStream {
    private final BufferedReader lines;

    /** @param event its type; {@code message} when it has none */
    record Message(String event, String data) {}

    EventStream(InputStream body) {
        this.lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    /** The next message; empty at the end of the stream. */
    Optional<Message> next() throws IOException {
        String event = "message";
        StringJoiner data = new StringJoiner("\n");
        boolean hasData = false;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isEmpty() && hasData) {
                return Optional.of(new Message(event, data.toString()));
            }
            if (line.isEmpty()) {
                event = "message";
            } else if (line.startsWith("data:")) {
                data.add(value(line));
                hasData = true;
            } else if (line.startsWith("event:")) {
                event = value(line);
            }
        }
        return Optional.empty();
    }

    private static String value(String line) {
        String value = line.substring(line.indexOf(':') + 1);
        return value.startsWith(" ") ? value.substring(1) : value;
    }
}
