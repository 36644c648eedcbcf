package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.protocol.RankNeeds;
import dev.ullage.common.protocol.RankNeeds.MicroBatchNeed;
import dev.ullage.common.protocol.RankNeeds.PhaseNeed;
import dev.ullage.common.protocol.RankNeeds.PlannedRange;
import dev.ullage.config.PolicySettings.Planned;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What a rank was planned to need beside what was measured, for people. */
final class NeedsReport {
    private NeedsReport() {}

    /** @param room what the rank could have; empty before its first limit */
    static RankNeeds of(PlannedNeeds planned, RankObserved observed, Planned settings, Optional<MemoryBytes> room) {
        CorrectedNeeds needs = CorrectedNeeds.of(planned, observed, settings);
        List<PhaseNeed> phases = new ArrayList<>();
        for (Phase phase : Phase.values()) {
            Optional<PlannedRange> range = needs.plannedIn(phase).map(NeedsReport::range);
            Optional<MemoryBytes> measured =
                    Optional.ofNullable(needs.measured().get(phase));
            if (range.isPresent() || measured.isPresent()) {
                phases.add(new PhaseNeed(
                        phase,
                        range,
                        measured,
                        Optional.ofNullable(needs.corrected().get(phase))));
            }
        }
        return new RankNeeds(
                planned.stage(),
                planned.stages(),
                needs.basis(),
                phases,
                needs.line().map(line -> microBatch(line, needs, room)));
    }

    private static PlannedRange range(Need need) {
        return new PlannedRange(need.lower(), need.point(), need.upper());
    }

    private static MicroBatchNeed microBatch(MicroBatchLine line, CorrectedNeeds needs, Optional<MemoryBytes> room) {
        return new MicroBatchNeed(
                line.highest().samples(),
                line.sizes(),
                needs.whole(line.highest().level()),
                line.highest().perSample(),
                room,
                room.map(bytes -> line.largestWithin(bytes.minusOrZero(needs.beside())))
                        .orElse(OptionalInt.empty()));
    }
}
