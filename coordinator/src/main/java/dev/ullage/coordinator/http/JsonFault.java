package dev.ullage.coordinator.http;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.regex.Pattern;

/** What is wrong with a text that is no JSON, and where, without what the reader says of itself. Pure. */
public final class JsonFault {
    private static final Pattern OF_THE_READER =
            Pattern.compile("\\s*\\(start marker at \\[Source: .*", Pattern.DOTALL);

    private JsonFault() {}

    /** As in {@code Unexpected end-of-input: expected close marker for Object (line 1, column 17)}. */
    public static String text(JsonProcessingException e) {
        String what = OF_THE_READER.matcher(e.getOriginalMessage()).replaceAll("");
        JsonLocation at = e.getLocation();
        return at == null ? what : "%s (line %d, column %d)".formatted(what, at.getLineNr(), at.getColumnNr());
    }
}
