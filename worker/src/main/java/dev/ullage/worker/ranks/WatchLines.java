package dev.ullage.worker.ranks;

import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankWatch.CacheRelease;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.RankWatch.Snapshot;
import dev.ullage.worker.ranks.RankCodec.Fields;
import dev.ullage.worker.watch.StepSummary;
import java.util.ArrayList;
import java.util.List;

/** The lines in which a client says what it has watched. A phase that only a newer client knows is left out. */
final class WatchLines {
    private WatchLines() {}

    static RankMessage.Watched summary(Fields fields) {
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
        return new RankMessage.Watched(new StepSummary(
                fields.number("step"),
                fields.optionalNumber("steps").orElse(1),
                fields.optionalNumber("epoch"),
                peaks,
                new StepSummary.Amounts(
                        fields.optionalBytes("allocatedBytes"),
                        fields.optionalBytes("reservedBytes"),
                        fields.optionalBytes("requestedBytes"),
                        fields.optionalBytes("inactiveSplitBytes"),
                        fields.optionalBytes("lingeringBytes")),
                new StepSummary.Counts(
                        fields.optionalNumber("allocations"),
                        fields.optionalNumber("retries"),
                        fields.optionalNumber("ooms"))));
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
