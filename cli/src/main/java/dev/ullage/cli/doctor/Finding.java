package dev.ullage.cli.doctor;

import java.util.Locale;
import java.util.Optional;

/**
 * What one check found.
 *
 * @param check which one, in one or two words
 * @param text what is so
 * @param remedy what to do about it; empty where there is nothing to do
 */
record Finding(String check, Level level, String text, Optional<String> remedy) {

    /** In the order of their gravity; the number is the exit code of a run in which none is worse. */
    enum Level {
        PASS,
        WARN,
        FAIL;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static Finding pass(String check, String text) {
        return new Finding(check, Level.PASS, text, Optional.empty());
    }

    static Finding warn(String check, String text, String remedy) {
        return new Finding(check, Level.WARN, text, Optional.of(remedy));
    }

    static Finding fail(String check, String text, String remedy) {
        return new Finding(check, Level.FAIL, text, Optional.of(remedy));
    }
}
