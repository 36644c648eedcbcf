package dev.ullage.cli.simulate;

import dev.ullage.coordinator.simulation.LoadSettings;
import dev.ullage.coordinator.simulation.SharingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code ullage simulate --load} can be told. */
final class LoadOptions {
    private static final double MAX_LOAD = 10;
    private static final int MAX_HOURS = 10_000;
    private static final int MAX_PERCENT = 100;
    private static final int MILLI_PER_PERCENT = 10;
    private static final int LONGEST_HOURS = 4;
    private static final int PERSISTENT_PERCENT = 28;

    @Option(
            names = "--load",
            paramLabel = "F",
            split = ",",
            description = "Jobs come and go: devices x time that arrives, relative to what there is, such as 0.9,1.2.")
    private List<Double> loads = List.of();

    @Option(
            names = "--mode",
            paramLabel = "NAME",
            split = ",",
            description = "With --load, one or more of static (whole devices), shares, turns (shares, peaks one after"
                    + " another); all when left out.")
    private List<String> modes = List.of();

    @Option(
            names = "--longest",
            paramLabel = "HOURS",
            description = "With --load, jobs that ran longer count as this long (default: 4). That much"
                    + " passes before anything is measured, and as much is measured.")
    private @Nullable Integer longestHours;

    @Option(
            names = "--persistent",
            paramLabel = "PERCENT",
            description = "With --load, the part of a share that stays between the peaks of a step, for turns"
                    + " (default: 28, as recorded of one model).")
    private @Nullable Integer persistentPercent;

    boolean isAsked() {
        return !loads.isEmpty();
    }

    List<Double> loads() {
        return loads.stream().distinct().toList();
    }

    List<SharingMode> modes() {
        return modes.isEmpty()
                ? List.of(SharingMode.values())
                : modes.stream()
                        .flatMap(name -> SharingMode.of(name).stream())
                        .distinct()
                        .toList();
    }

    LoadSettings settings(double load) {
        Duration longest = Duration.ofHours(longestHours());
        return new LoadSettings(load, longest, longest, longest, persistentPercent() * MILLI_PER_PERCENT);
    }

    int longestHours() {
        return longestHours == null ? LONGEST_HOURS : longestHours;
    }

    int persistentPercent() {
        return persistentPercent == null ? PERSISTENT_PERCENT : persistentPercent;
    }

    private List<String> unusedWithoutLoad() {
        List<String> unused = new ArrayList<>();
        if (!modes.isEmpty()) {
            unused.add("--mode");
        }
        if (longestHours != null) {
            unused.add("--longest");
        }
        if (persistentPercent != null) {
            unused.add("--persistent");
        }
        return unused;
    }

    /** What is wrong with them, all of it; empty when nothing is. */
    Optional<String> refusal() {
        List<String> wrong = new ArrayList<>();
        loads.stream()
                .filter(load -> !(load > 0 && load <= MAX_LOAD))
                .forEach(load -> wrong.add("--load must be more than 0 and at most 10: " + load));
        modes.stream()
                .filter(name -> SharingMode.of(name).isEmpty())
                .forEach(name -> wrong.add("--mode must be of %s: %s".formatted(List.of(SharingMode.values()), name)));
        if (longestHours() < 1 || longestHours() > MAX_HOURS) {
            wrong.add("--longest must be 1 to %d hours: %d".formatted(MAX_HOURS, longestHours()));
        }
        if (persistentPercent() < 1 || persistentPercent() > MAX_PERCENT) {
            wrong.add("--persistent must be 1 to 100 percent: " + persistentPercent());
        }
        if (!isAsked()) {
            unusedWithoutLoad().forEach(name -> wrong.add(name + " says something only with --load"));
        }
        return wrong.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", wrong));
    }
}
