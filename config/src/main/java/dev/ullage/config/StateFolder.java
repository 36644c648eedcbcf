package dev.ullage.config;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Where state is kept when no setting says so. */
final class StateFolder {
    private StateFolder() {}

    /** By the XDG base directory rules; empty when the environment names no home. */
    static Optional<Path> byEnvironment(Map<String, String> environment) {
        return absolute(environment, "XDG_STATE_HOME")
                .or(() -> absolute(environment, "HOME").map(home -> home.resolve(".local/state")))
                .map(base -> base.resolve("ullage"));
    }

    /** A relative XDG path is to be ignored, say its rules. */
    private static Optional<Path> absolute(Map<String, String> environment, String variable) {
        return Optional.ofNullable(environment.get(variable))
                .filter(Predicate.not(String::isBlank))
                .map(Path::of)
                .filter(Path::isAbsolute);
    }
}
