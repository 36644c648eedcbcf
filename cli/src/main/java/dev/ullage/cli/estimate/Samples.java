package dev.ullage.cli.estimate;

import dev.ullage.cli.estimate.Sample.Skipped;
import java.util.ArrayList;
import java.util.List;

/** What the rows of measurement files came to. Not thread-safe. */
final class Samples {
    private final List<Sample> used = new ArrayList<>();
    private final List<Skipped> skipped = new ArrayList<>();

    void use(Sample sample) {
        used.add(sample);
    }

    void skip(String group, String id, String reason) {
        skipped.add(new Skipped(group, id, reason));
    }

    List<Sample> used() {
        return List.copyOf(used);
    }

    List<Skipped> skipped() {
        return List.copyOf(skipped);
    }
}
