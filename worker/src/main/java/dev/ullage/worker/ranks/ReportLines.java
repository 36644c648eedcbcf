package dev.ullage.worker.ranks;

import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount.Latency;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankAccount.Waits;
import dev.ullage.worker.ranks.RankCodec.Fields;
import dev.ullage.worker.watch.TrainingReport;
import dev.ullage.worker.watch.TrainingReport.Counts;
import dev.ullage.worker.watch.TrainingReport.Loss;
import java.util.ArrayList;
import java.util.List;

/** The line in which a client says what it has counted. A phase that only a newer client knows is left out. */
final class ReportLines {
    private ReportLines() {}

    static RankMessage.Reported report(Fields fields) {
        List<PhaseTime> phases = new ArrayList<>();
        fields.object("phaseMillis").ifPresent(times -> {
            for (Phase phase : Phase.values()) {
                times.optionalNumber(phase.name()).ifPresent(millis -> phases.add(new PhaseTime(phase, millis)));
            }
        });
        return new RankMessage.Reported(new TrainingReport(
                fields.number("step"),
                fields.number("elapsedMillis"),
                new Counts(
                        fields.number("steps"),
                        fields.optionalNumber("samples"),
                        fields.optionalNumber("megaflopsPerStep")),
                phases,
                new Waits(fields.optionalNumber("turnWaitMillis"), fields.optionalNumber("limitWaitMillis")),
                new Latency(fields.optionalNumber("timedAllocations"), fields.optionalNumber("allocationMicros")),
                new Loss(
                        fields.optionalSigned("lossBillionths"),
                        fields.optionalNumber("lossesLeftOut").orElse(0))));
    }
}
