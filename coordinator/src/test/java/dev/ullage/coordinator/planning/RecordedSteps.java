package dev.ullage.coordinator.planning;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.protocol.RankSample;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A rank that has done ten steps like a recorded one of a transformer of 24 layers (step-timelines.csv). */
final class RecordedSteps {
    private static final String FILE = "/observed/step-timelines.csv";

    private RecordedSteps() {}

    /** @param context the recording, by its tokens */
    static RankSample sample(RankInstance instance, String context) {
        OptionalLong no = OptionalLong.empty();
        RankWatch watch = new RankWatch(
                new RankWatch.Progress(OptionalLong.of(10), no, 10),
                peaks(context),
                new RankWatch.Allocator(no, no, Optional.empty(), Optional.empty(), no, OptionalLong.of(0)),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty());
        return new RankSample(
                instance,
                new RankFacts(OptionalInt.empty(), OptionalInt.empty(), "none", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.IDLE, OptionalLong.of(10)),
                RankUse.UNKNOWN,
                EnforcedBy.TORCH,
                true,
                0,
                Optional.empty(),
                Optional.of(watch),
                Optional.empty());
    }

    private static List<PhasePeak> peaks(String context) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(RecordedSteps.class.getResourceAsStream(FILE)), StandardCharsets.UTF_8))) {
            return reader.lines()
                    .map(line -> line.split(","))
                    .filter(row -> row[0].equals(context))
                    .map(row -> new PhasePeak(Phase.valueOf(row[1]), bytes(row[3]), bytes(row[2])))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<MemoryBytes> bytes(String text) {
        return Optional.of(MemoryBytes.of(Long.parseLong(text)));
    }
}
