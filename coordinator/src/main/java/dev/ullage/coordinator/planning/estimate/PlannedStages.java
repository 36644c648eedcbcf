package dev.ullage.coordinator.planning.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.PlannedNeeds.Phases;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import dev.ullage.coordinator.planning.estimate.RankEstimate.Range;
import dev.ullage.coordinator.planning.estimate.Setup.Measure;
import java.util.List;
import java.util.OptionalInt;

/** An estimate in the form in which its ranks bring it along: one for each pipeline stage. */
public final class PlannedStages {
    private PlannedStages() {}

    /** @throws IllegalArgumentException for an estimate of what is allocated: a limit counts the cache too */
    public static List<PlannedNeeds> of(Reading reading) {
        Setup setup = reading.likely();
        if (setup.measure() == Measure.ALLOCATED) {
            throw new IllegalArgumentException(
                    "measure is allocated, but a limit counts what is reserved or what the device shows: device or reserved");
        }
        List<RankEstimate> stages = Estimator.estimate(reading);
        return stages.stream()
                .map(stage -> new PlannedNeeds(
                        stage.stage(),
                        stages.size(),
                        setup.measure() == Measure.DEVICE,
                        OptionalInt.of(setup.microBatch()),
                        new Phases(
                                need(stage, PhasePoint.INIT),
                                need(stage, PhasePoint.FORWARD),
                                need(stage, PhasePoint.BACKWARD),
                                need(stage, PhasePoint.OPTIMIZER),
                                need(stage, PhasePoint.STEADY)),
                        optimizerState(stage)))
                .toList();
    }

    private static Need need(RankEstimate stage, PhasePoint point) {
        return need(stage.rangeAt(point), stage.at(point), stage.stateAt(point));
    }

    private static Need optimizerState(RankEstimate stage) {
        MemoryBytes state = stage.part(Part.OPTIMIZER);
        return need(stage.optimizerState(), state, state);
    }

    /** Each part of the point is whole bytes, rounded down, so its sum may lie a few bytes beside the range's. */
    private static Need need(Range range, MemoryBytes point, MemoryBytes state) {
        return new Need(range.lower().min(point), point, range.upper().max(point), state);
    }
}
