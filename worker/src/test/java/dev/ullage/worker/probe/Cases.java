package dev.ullage.worker.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The recorded cases under {@code src/test/resources/cases}. */
final class Cases {
    private static final Path FOLDER = Path.of("src/test/resources/cases");

    private Cases() {}

    static JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(FOLDER.resolve(file).toFile());
    }

    static Path file(String file) {
        return FOLDER.resolve(file);
    }

    static List<String> lines(String file) throws IOException {
        return Files.readAllLines(FOLDER.resolve(file));
    }
}
