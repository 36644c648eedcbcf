package dev.ullage.coordinator.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/** A JSON object somebody sent, read strictly: reads field by field and collects everything that is wrong with it. */
final class RequestBody {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final JsonNode json;
    private final boolean readable;
    private final List<String> problems = new ArrayList<>();

    private RequestBody(JsonNode json, boolean readable) {
        this.json = json;
        this.readable = readable;
    }

    /** @param fields all that the object may have */
    static RequestBody parse(String text, Set<String> fields) {
        try {
            JsonNode json = MAPPER.readTree(text);
            if (json.isObject()) {
                RequestBody body = new RequestBody(json, true);
                json.fieldNames().forEachRemaining(field -> body.requireKnown(field, fields));
                return body;
            }
            return broken("the body must be a JSON object");
        } catch (JsonProcessingException e) {
            return broken("the body is not JSON: " + JsonFault.text(e));
        }
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    /** A share, as text ({@code "25%"}) or as a number of 0 to 1; {@link Share#NONE} stands in for a broken one. */
    Share share(String field) {
        JsonNode value = json.path(field);
        if (!value.isTextual() && !value.isNumber()) {
            note(field + " must be a share such as \"25%\"");
            return Share.NONE;
        }
        try {
            return Shares.parse(value.asText());
        } catch (IllegalArgumentException e) {
            note(field + ": " + e.getMessage());
            return Share.NONE;
        }
    }

    /** A name that must be there; empty only when a problem was noted. */
    <T> Optional<T> name(String field, Function<String, T> type) {
        if (isAbsent(field)) {
            note(field + " must be set");
            return Optional.empty();
        }
        return optionalName(field, type);
    }

    /** A name that may be null or left out. */
    <T> Optional<T> optionalName(String field, Function<String, T> type) {
        if (isAbsent(field)) {
            return Optional.empty();
        }
        if (!json.path(field).isTextual()) {
            note(field + " must be text");
            return Optional.empty();
        }
        try {
            return Optional.of(type.apply(json.path(field).asText()));
        } catch (IllegalArgumentException e) {
            note(field + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    /** Must be there, so that nobody undoes a wish by leaving a field out; may be null. */
    void require(String field) {
        if (json.path(field).isMissingNode()) {
            note(field + " must be set; null takes back what was set");
        }
    }

    /** Must be there and not null. */
    void requireValue(String field) {
        if (isAbsent(field)) {
            note(field + " must be set");
        }
    }

    /** An amount of memory, as text with its unit ({@code "30GiB"}) or in whole bytes, that may be null or left out. */
    Optional<MemoryBytes> optionalSize(String field) {
        if (isAbsent(field)) {
            return Optional.empty();
        }
        JsonNode value = json.path(field);
        if (value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0) {
            return Optional.of(MemoryBytes.of(value.longValue()));
        }
        if (!value.isTextual()) {
            note(field + " must be a size such as \"30GiB\", or whole bytes");
            return Optional.empty();
        }
        return optionalName(field, MemorySizes::parse);
    }

    /** A number of zero or more that may be null or left out. */
    OptionalInt optionalNumber(String field) {
        if (isAbsent(field)) {
            return OptionalInt.empty();
        }
        JsonNode value = json.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
            note(field + " must be a whole number of 0 or more");
            return OptionalInt.empty();
        }
        return OptionalInt.of(value.intValue());
    }

    /** As {@link #optionalNumber}, for amounts that may be large. */
    OptionalLong optionalAmount(String field) {
        if (isAbsent(field)) {
            return OptionalLong.empty();
        }
        JsonNode value = json.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
            note(field + " must be a whole number of 0 or more");
            return OptionalLong.empty();
        }
        return OptionalLong.of(value.longValue());
    }

    /** True or false; left out or null is false. */
    boolean optionalFlag(String field) {
        if (!isAbsent(field) && !json.path(field).isBoolean()) {
            note(field + " must be true or false");
        }
        return json.path(field).asBoolean(false);
    }

    /** All fields as texts, numbers, lists and maps of these. */
    Map<String, Object> values() {
        return MAPPER.convertValue(json, new TypeReference<LinkedHashMap<String, Object>>() {});
    }

    /** Whether it is an object at all. */
    boolean isReadable() {
        return readable;
    }

    private static RequestBody broken(String problem) {
        RequestBody body = new RequestBody(JsonNodeFactory.instance.objectNode(), false);
        body.problems.add(problem);
        return body;
    }

    private boolean isAbsent(String field) {
        return json.path(field).isMissingNode() || json.path(field).isNull();
    }

    private void requireKnown(String field, Set<String> fields) {
        if (!fields.contains(field)) {
            note("unknown field \"" + field + "\"; known: " + String.join(", ", fields));
        }
    }

    /** Of what cannot be read at all, every field is missing: nobody needs to hear that. */
    private void note(String problem) {
        if (readable) {
            problems.add(problem);
        }
    }
}
