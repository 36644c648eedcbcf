package dev.ullage.coordinator.journal;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Planning;
import dev.ullage.coordinator.decisions.Decision.Stamp;
import dev.ullage.coordinator.decisions.Decision.Subject;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A decision as one line of JSON. What is named in it and not known here is passed over, so that a file of a newer
 * version can be read as long as its schema number is the same.
 */
public final class DecisionJson {
    /** Raised when a reader that passes over what it does not know would misread a record. */
    public static final int SCHEMA = 1;

    /** In the place of a decision: that so many are missing, about here. */
    public static final String DROPPED = "dropped";

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(scalars())
            .visibility(PropertyAccessor.FIELD, Visibility.ANY)
            .visibility(PropertyAccessor.IS_GETTER, Visibility.NONE)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private DecisionJson() {}

    private static SimpleModule scalars() {
        SimpleModule module = new SimpleModule("ullage-decisions");
        Scalars.addTo(module);
        return module;
    }

    /** What a line holds. */
    public sealed interface Line {
        /** A decision that this version knows. */
        record Of(Decision decision) implements Line {}

        /** Something that a newer version records; the schema says that it may be passed over. */
        record Other(String kind) implements Line {}

        /** So many records are missing about here: they came too fast for the disk, or it failed. */
        record Dropped(long records) implements Line {}
    }

    /** Without a line's end. */
    public static String line(Decision decision) {
        return node(decision).toString();
    }

    static String droppedLine(long records) {
        return MAPPER.createObjectNode()
                .put("schema", SCHEMA)
                .put("kind", DROPPED)
                .put("records", records)
                .toString();
    }

    private static ObjectNode node(Decision decision) {
        ObjectNode json = MAPPER.createObjectNode();
        Stamp stamp = decision.stamp();
        json.put("schema", SCHEMA);
        json.put("kind", decision.kind().label());
        json.put("number", stamp.number());
        json.put("time", stamp.at().toString());
        json.putObject("token")
                .put("epoch", stamp.token().epoch())
                .put("uid", stamp.token().uid());
        json.put("device", decision.subject().device().map(DeviceId::toString).orElse(null));
        ArrayNode jobs = json.putArray("jobs");
        decision.subject().jobs().forEach(job -> jobs.add(job.toString()));
        json.put("reason", decision.reason());
        json.set("planning", MAPPER.valueToTree(decision.planning()));
        return json;
    }

    /** @throws UnreadableException when it is no record, or one of a newer schema */
    public static Line parse(String line) throws UnreadableException {
        try {
            JsonNode json = MAPPER.readTree(line);
            if (!json.isObject() || !json.path("schema").isInt()) {
                throw new UnreadableException("no decision record: it has no schema number");
            }
            int schema = json.path("schema").intValue();
            if (schema != SCHEMA) {
                throw new UnreadableException("a record of schema " + schema + ", this version reads " + SCHEMA);
            }
            return parse(json);
        } catch (JsonProcessingException e) {
            throw new UnreadableException(e.getOriginalMessage(), e);
        } catch (IllegalArgumentException | DateTimeException | NullPointerException | ArithmeticException e) {
            throw new UnreadableException(String.valueOf(e.getMessage()), e);
        }
    }

    private static Line parse(JsonNode json) throws JsonProcessingException, UnreadableException {
        String kind = json.path("kind").asText();
        if (kind.equals(DROPPED)) {
            return new Line.Dropped(required(json, "records").longValue());
        }
        Optional<Kind> known = Kind.find(kind);
        if (known.isEmpty()) {
            return new Line.Other(kind);
        }
        JsonNode token = required(json, "token");
        Stamp stamp = new Stamp(
                required(json, "number").longValue(),
                Instant.parse(required(json, "time").asText()),
                new CoordinatorToken(
                        required(token, "epoch").longValue(),
                        required(token, "uid").asText()));
        List<JobId> jobs = new ArrayList<>();
        json.path("jobs").forEach(job -> jobs.add(new JobId(job.asText())));
        Optional<DeviceId> device = json.hasNonNull("device")
                ? Optional.of(new DeviceId(json.path("device").asText()))
                : Optional.empty();
        Optional<Planning> planning = json.hasNonNull("planning")
                ? Optional.of(MAPPER.treeToValue(json.path("planning"), Planning.class))
                : Optional.empty();
        boolean isPlan = known.get() == Kind.PLAN || known.get() == Kind.HELD_BACK;
        if (isPlan && planning.isEmpty()) {
            throw new UnreadableException("a record of kind " + kind + " has no planning");
        }
        return new Line.Of(new Decision(
                stamp,
                known.get(),
                new Subject(device, jobs),
                json.path("reason").asText(),
                planning));
    }

    private static JsonNode required(JsonNode json, String field) throws UnreadableException {
        if (!json.hasNonNull(field)) {
            throw new UnreadableException(field + " is missing");
        }
        return json.path(field);
    }

    /** A line is no record that can be used; the message says why. */
    public static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message) {
            super(message);
        }

        UnreadableException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
