package dev.ullage.cli.estimate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.cli.FileReason;
import dev.ullage.coordinator.http.JsonFault;
import dev.ullage.coordinator.planning.estimate.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A JSON object of fields. It may name a model: {@code model}, one known by name, or {@code config}, a
 * {@code config.json} beside the file; its own fields go before those.
 */
final class FieldsFile {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String MODEL = "model";
    private static final String CONFIG = "config";

    private FieldsFile() {}

    static Map<String, String> read(Path file) throws CommandFailure {
        return fields(file, object(file));
    }

    /** @throws CommandFailure when the file cannot be read or is no JSON object */
    static JsonNode object(Path file) throws CommandFailure {
        try {
            JsonNode root = MAPPER.readTree(Files.readString(file));
            if (!root.isObject()) {
                throw new CommandFailure(ExitCode.BAD_SETTINGS, file + ": a JSON object of fields");
            }
            return root;
        } catch (JsonProcessingException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, file + " is not JSON: " + JsonFault.text(e), e);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.BAD_SETTINGS, "cannot read " + file + ": " + FileReason.of(e), e);
        }
    }

    static Map<String, String> fields(Path file, JsonNode root) throws CommandFailure {
        Map<String, String> fields = new TreeMap<>();
        if (root.has(MODEL)) {
            fields.putAll(known(root.path(MODEL).asText()));
        }
        if (root.has(CONFIG)) {
            fields.putAll(
                    HuggingFaceConfig.read(file.resolveSibling(root.path(CONFIG).asText())));
        }
        root.properties()
                .forEach(entry -> fields.put(entry.getKey(), entry.getValue().asText()));
        fields.remove(MODEL);
        fields.remove(CONFIG);
        return fields;
    }

    /** The shape of a model that is known by name. */
    static Map<String, String> known(String name) throws CommandFailure {
        try {
            Map<String, Map<String, String>> models = Tables.knownModels();
            Map<String, String> shape = models.get(name);
            if (shape == null) {
                throw new CommandFailure(
                        ExitCode.BAD_SETTINGS,
                        new Problem(MODEL, name, "one of " + String.join(", ", models.keySet())).toString());
            }
            return shape;
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.INTERNAL, "cannot read the known models: " + e, e);
        }
    }
}
