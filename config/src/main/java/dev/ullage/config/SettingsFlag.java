package dev.ullage.config;

/**
 * A setting given on the command line, which goes before any file.
 *
 * @param flag as the user typed it: {@code --port}
 * @param key full name of the setting: {@code ullage.cluster.port}
 * @param value as the user typed it
 */
public record SettingsFlag(String flag, String key, String value) {

    String origin() {
        return "command line " + flag;
    }
}
