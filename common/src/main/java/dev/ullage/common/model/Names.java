package dev.ullage.common.model;

/** The rule every name that travels obeys: it may come from an environment variable of somebody's job. */
final class Names {
    private Names() {}

    static void requireName(String what, String value, int maxLength) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " must not be blank");
        }
        if (value.length() > maxLength) {
            throw new IllegalArgumentException(
                    what + " must have at most " + maxLength + " characters, has " + value.length());
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(what + " must not contain control characters");
        }
    }
}
