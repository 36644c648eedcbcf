package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.StatusCode;
import org.apache.pekko.http.javadsl.model.StatusCodes;

/**
 * Why a request was not done (RFC 9457).
 *
 * @param detail one sentence
 * @param errors each single thing that is wrong with the request, when there are several or they have names
 * @param notKnown what kind of thing is not there, where the path is right and names none that is known
 */
record Problem(StatusCode status, String detail, List<String> errors, Optional<NotKnown> notKnown) {
    private static final ContentType.WithFixedCharset PROBLEM_JSON = ContentTypes.create(
            MediaTypes.customWithFixedCharset("application", "problem+json", HttpCharsets.UTF_8, Map.of(), false));

    Problem {
        errors = List.copyOf(errors);
    }

    Problem(StatusCode status, String detail, List<String> errors) {
        this(status, detail, errors, Optional.empty());
    }

    static Problem of(StatusCode status, String detail) {
        return new Problem(status, detail, List.of());
    }

    /** A conflict with what is there, or nothing there to be in conflict with. */
    static Problem refused(String detail, Optional<NotKnown> notKnown) {
        return new Problem(
                notKnown.isPresent() ? StatusCodes.NOT_FOUND : StatusCodes.CONFLICT, detail, List.of(), notKnown);
    }

    HttpResponse toResponse() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", "about:blank");
        json.put("title", status.reason());
        json.put("status", status.intValue());
        json.put("detail", detail);
        ArrayNode list = json.putArray("errors");
        errors.forEach(list::add);
        notKnown.ifPresent(missing -> json.put("notKnown", missing.kind()));
        return HttpResponse.create().withStatus(status).withEntity(HttpEntities.create(PROBLEM_JSON, json.toString()));
    }
}
