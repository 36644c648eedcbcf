package dev.ullage.config;

import dev.ullage.common.model.Counts;
import java.util.List;
import java.util.stream.Collectors;

/** The settings cannot be used. Carries every problem found, not only the first. */
public final class SettingsException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<SettingsProblem> problems;

    SettingsException(List<SettingsProblem> problems) {
        super(message(problems));
        this.problems = List.copyOf(problems);
    }

    public List<SettingsProblem> problems() {
        return problems;
    }

    private static String message(List<SettingsProblem> problems) {
        String count = Counts.of(problems.size(), "problem");
        return problems.stream()
                .map(problem -> "\n  " + problem)
                .collect(Collectors.joining("", count + " in the settings:", ""));
    }
}
