package dev.ullage.cli.predict;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.TreeMap;

/** The samples of a file by pod, then by time. */
final class PodSamples {
    /** Two samples of a minute: those that are there from the beginning do not begin at the same second. */
    private static final double BORN_AFTER_SECONDS = 120;

    private static final double BEYOND_WHOLE_BYTES = 0x1p63;

    private final SeriesProblems problems;
    private final NavigableMap<String, NavigableMap<Double, MemoryBytes>> pods = new TreeMap<>();

    PodSamples(SeriesProblems problems) {
        this.problems = problems;
    }

    /**
     * @param fields timestamp, value in bytes (a mean of several readings may have a fraction, which is cut off), pod
     */
    void add(int line, List<String> fields) {
        OptionalDouble time = number(line, "timestamp_anon", fields.get(0));
        OptionalDouble value = number(line, "value", fields.get(1));
        String pod = fields.get(2);
        if (pod.isEmpty()) {
            problems.add(line, "container_ip", pod, "must say whose sample this is");
        }
        if (time.isEmpty() || value.isEmpty() || pod.isEmpty()) {
            return;
        }
        MemoryBytes used = MemoryBytes.of((long) value.getAsDouble());
        if (pods.computeIfAbsent(pod, name -> new TreeMap<>()).put(time.getAsDouble(), used) != null) {
            problems.add(line, "timestamp_anon", fields.get(0), "is there twice for pod '%s'".formatted(pod));
        }
    }

    private OptionalDouble number(int line, String column, String text) {
        try {
            double number = Double.parseDouble(text);
            if (number >= 0 && number < BEYOND_WHOLE_BYTES) {
                return OptionalDouble.of(number);
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        problems.add(line, column, text, "must be a number from 0 to 2^63");
        return OptionalDouble.empty();
    }

    List<Series> series() {
        List<Series> series = new ArrayList<>();
        double start =
                pods.values().stream().mapToDouble(NavigableMap::firstKey).min().orElse(0);
        pods.forEach((pod, samples) -> series.add(new Series(
                pod,
                List.copyOf(samples.values()),
                OptionalInt.empty(),
                samples.firstKey() > start + BORN_AFTER_SECONDS)));
        return series;
    }
}
