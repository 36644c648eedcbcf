package dev.ullage.config;

/**
 * One thing that is wrong with the settings.
 *
 * @param key full name of the setting; empty when a file as a whole is meant
 * @param value what it was set to, or empty
 * @param rule what it broke, as a sentence about the value: {@code must be ...}
 * @param origin where it was set: {@code FILE: LINE}, {@code command line --port}, ...
 */
public record SettingsProblem(String key, String value, String rule, String origin) {

    @Override
    public String toString() {
        if (key.isEmpty()) {
            return origin + " " + rule;
        }
        return key + (value.isEmpty() ? " " : " = " + value + " ") + rule + " (" + origin + ")";
    }
}
