package dev.ullage.worker.ranks;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.PlannedNeeds.Phases;
import dev.ullage.worker.ranks.RankCodec.Fields;

/** What a hello says of the estimate that its rank was started with. */
final class PlannedLines {
    private PlannedLines() {}

    static PlannedNeeds planned(Fields fields) {
        Fields phases = part(fields, "phases");
        return new PlannedNeeds(
                fields.count("stage"),
                fields.count("stages"),
                fields.flag("wholeProcess"),
                fields.countIfKnown("microBatch"),
                new Phases(
                        need(phases, "INIT"),
                        need(phases, "FORWARD"),
                        need(phases, "BACKWARD"),
                        need(phases, "OPTIMIZER"),
                        need(phases, "STEADY")),
                need(fields, "optimizerState"));
    }

    private static Need need(Fields fields, String name) {
        Fields need = part(fields, name);
        MemoryBytes point = need.bytes("bytes");
        return new Need(need.bytes("lowerBytes"), point, need.bytes("upperBytes"), need.bytes("stateBytes"));
    }

    private static Fields part(Fields fields, String name) {
        return fields.object(name)
                .orElseThrow(() -> new IllegalArgumentException(name + " of planned must be an object, is absent"));
    }
}
