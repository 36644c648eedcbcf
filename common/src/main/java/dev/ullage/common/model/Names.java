package dev.ullage.common.model;

/** The rule every name that travels obeys: it may come from an environment variable of somebody's job. */
final class Names {
    private static final int MAX_QUOTED_LENGTH = 60;

    private Names() {}

    static void requireName(String what, String value, int maxLength) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " must not be blank");
        }
        if (value.length() > maxLength) {
            throw new IllegalArgumentException(
                    what + " must have at most " + maxLength + " characters, has " + value.length());
        }
        // Each message brings names, so that this is done tens of thousands of times a second: no stream.
        for (int i = 0; i < value.length(); i++) {
            if (Character.isISOControl(value.charAt(i))) {
                throw new IllegalArgumentException(what + " must not contain control characters");
            }
        }
    }

    /** A value somebody else wrote, fit for one line of a message: short, and without control characters. */
    static String quoted(String value) {
        String line = value.length() <= MAX_QUOTED_LENGTH ? value : value.substring(0, MAX_QUOTED_LENGTH) + "...";
        return "'" + line.replaceAll("\\p{Cntrl}", "?") + "'";
    }
}
