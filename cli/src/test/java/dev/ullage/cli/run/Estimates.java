package dev.ullage.cli.run;

import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Estimates of which only the upper ends matter. */
final class Estimates {
    private static final Need NOTHING =
            new Need(MemoryBytes.ZERO, MemoryBytes.ZERO, MemoryBytes.ZERO, MemoryBytes.ZERO);

    private Estimates() {}

    /** Stages that need so much at most, and half of it at their point. */
    static JobEstimate of(int ranks, boolean isWholeProcess, List<MemoryBytes> uppers) {
        List<PlannedNeeds> stages = new ArrayList<>();
        for (MemoryBytes upper : uppers) {
            MemoryBytes point = upper.dividedBy(2);
            Need need = new Need(point, point, upper, MemoryBytes.ZERO);
            stages.add(new PlannedNeeds(
                    stages.size(),
                    uppers.size(),
                    isWholeProcess,
                    OptionalInt.empty(),
                    new PlannedNeeds.Phases(need, need, need, need, need),
                    NOTHING));
        }
        return new JobEstimate(ranks, stages, List.of());
    }
}
