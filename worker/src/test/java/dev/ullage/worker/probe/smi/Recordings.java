package dev.ullage.worker.probe.smi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.zip.GZIPInputStream;

/** The outputs of the tool among the test resources. */
final class Recordings {
    private Recordings() {}

    static String text(String path) {
        return new String(bytes(path), StandardCharsets.UTF_8);
    }

    static JsonNode json(String path) {
        try {
            return new ObjectMapper().readTree(bytes(path));
        } catch (IOException e) {
            throw new UncheckedIOException(path, e);
        }
    }

    /** The output of one command in a full capture, by the title above it. */
    static String section(String capture, String title) {
        try (InputStream gzip = new GZIPInputStream(new ByteArrayInputStream(bytes(capture)))) {
            String all = new String(gzip.readAllBytes(), StandardCharsets.UTF_8);
            int start = all.indexOf("# " + title);
            int body = all.indexOf("####\n", start) + "####\n".length();
            int end = all.indexOf("\n########", body);
            return all.substring(body, end < 0 ? all.length() : end);
        } catch (IOException e) {
            throw new UncheckedIOException(capture, e);
        }
    }

    private static byte[] bytes(String path) {
        try (InputStream in = Objects.requireNonNull(Recordings.class.getResourceAsStream(path), path)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(path, e);
        }
    }
}
