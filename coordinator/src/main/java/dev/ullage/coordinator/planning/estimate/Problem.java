package dev.ullage.coordinator.planning.estimate;

/**
 * A field that cannot be used.
 *
 * @param field its name, as written by the user
 * @param value what it holds, empty when it is missing
 * @param rule what it must be
 */
public record Problem(String field, String value, String rule) {
    @Override
    public String toString() {
        return value.isEmpty() ? field + ": missing; " + rule : field + ": \"" + value + "\"; " + rule;
    }
}
