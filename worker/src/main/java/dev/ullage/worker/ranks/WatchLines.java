package dev.ullage.worker.ranks;

import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch.Batch;
import dev.ullage.common.model.RankWatch.Batches;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.model.RankWatch.MicroBatchPeaks;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Snapshot;
import dev.ullage.worker.ranks.RankCodec.Fields;
import dev.ullage.worker.watch.StepSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/** The lines in which a client says what it has watched. A phase that only a newer client knows is left out. */
final class WatchLines {
    /** A training that tries more sizes than this is told nothing of the others. */
    private static final int MAX_SIZES = 8;

    private WatchLines() {}

    static RankMessage.Watched summary(Fields fields) {
        return new RankMessage.Watched(new StepSummary(
                fields.number("step"),
                fields.optionalNumber("steps").orElse(1),
                fields.optionalNumber("epoch"),
                peaks(fields),
                new StepSummary.Amounts(
                        fields.optionalBytes("allocatedBytes"),
                        fields.optionalBytes("reservedBytes"),
                        fields.optionalBytes("requestedBytes"),
                        fields.optionalBytes("inactiveSplitBytes"),
                        fields.optionalBytes("lingeringBytes")),
                new StepSummary.Counts(
                        fields.optionalNumber("allocations"),
                        fields.optionalNumber("retries"),
                        fields.optionalNumber("ooms")),
                Batches.of(fields.object("batch").map(WatchLines::batch), microBatches(fields))));
    }

    private static List<PhasePeak> peaks(Fields fields) {
        List<PhasePeak> peaks = new ArrayList<>();
        fields.object("phases").ifPresent(phases -> {
            for (Phase phase : Phase.values()) {
                phases.object(phase.name())
                        .map(peak -> new PhasePeak(
                                phase,
                                peak.optionalBytes("peakReservedBytes"),
                                peak.optionalBytes("peakAllocatedBytes")))
                        .ifPresent(peaks::add);
            }
        });
        return peaks;
    }

    private static Batch batch(Fields fields) {
        return new Batch(
                fields.number("sequence"),
                fields.count("job"),
                fields.count("samples"),
                fields.count("microBatch"),
                fields.countIfKnown("most"),
                fields.optionalBytes("baseBytes"));
    }

    /** In ascending order; a size that is said twice counts once, with the last that is said of it. */
    private static Optional<MicroBatches> microBatches(Fields fields) {
        OptionalInt now = fields.countIfKnown("microBatch");
        NavigableMap<Integer, MicroBatchPeaks> sizes = new TreeMap<>();
        for (Fields size : fields.objects("microBatches")) {
            int samples = size.count("samples");
            if (samples < 1 || sizes.size() >= MAX_SIZES) {
                throw new IllegalArgumentException(
                        "microBatches must be at most " + MAX_SIZES + " sizes of 1 sample or more");
            }
            sizes.put(samples, new MicroBatchPeaks(samples, peaks(size)));
        }
        return now.isPresent()
                ? Optional.of(new MicroBatches(now.getAsInt(), List.copyOf(sizes.values())))
                : Optional.empty();
    }

    static RankMessage.SnapshotTaken snapshot(Fields fields) {
        return new RankMessage.SnapshotTaken(new Snapshot(
                fields.number("step"),
                fields.optionalBytes("allocatedBytes"),
                fields.optionalBytes("reservedBytes"),
                fields.optionalBytes("inactiveSplitBytes"),
                fields.optionalBytes("largestFreeBytes"),
                fields.optionalNumber("segments")));
    }

    /** An allocator that does not know what it holds cannot say what it gained. */
    static RankMessage.CacheReleased released(Fields fields) {
        long step = fields.number("step");
        return new RankMessage.CacheReleased(
                fields.optionalBytes("beforeBytes").flatMap(before -> fields.optionalBytes("afterBytes")
                        .map(after -> new CacheRelease(step, before, after))));
    }
}
