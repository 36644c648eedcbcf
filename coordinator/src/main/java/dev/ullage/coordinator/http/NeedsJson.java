package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.RankNeeds;
import dev.ullage.common.protocol.RankNeeds.MicroBatchNeed;
import dev.ullage.common.protocol.RankNeeds.PhaseNeed;
import dev.ullage.common.protocol.RankNeeds.PlannedRange;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a rank was planned to need and what was measured, as the field {@code needs} of {@link StatusJson}. */
final class NeedsJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private NeedsJson() {}

    static ObjectNode of(RankNeeds needs) {
        ObjectNode json = NODES.objectNode();
        json.put("stage", needs.stage());
        json.put("stages", needs.stages());
        json.put("basis", needs.basis());
        ArrayNode phases = json.putArray("phases");
        needs.phases().forEach(need -> phases.add(phase(need)));
        json.set("microBatch", needs.microBatch().map(NeedsJson::microBatch).orElse(null));
        return json;
    }

    private static ObjectNode phase(PhaseNeed need) {
        ObjectNode json = NODES.objectNode();
        json.put("phase", need.phase().name());
        json.put("plannedLowerBytes", bytes(need.planned().map(PlannedRange::lower)));
        json.put("plannedBytes", bytes(need.planned().map(PlannedRange::point)));
        json.put("plannedUpperBytes", bytes(need.planned().map(PlannedRange::upper)));
        json.put("measuredBytes", bytes(need.measured()));
        json.put("correctedBytes", bytes(need.corrected()));
        return json;
    }

    private static ObjectNode microBatch(MicroBatchNeed need) {
        ObjectNode json = NODES.objectNode();
        json.put("samples", need.samples());
        json.put("sizes", need.sizes());
        json.put("needBytes", need.need().value());
        json.put("perSampleBytes", need.perSample().value());
        json.put("roomBytes", bytes(need.room()));
        json.put(
                "largestSamples",
                need.largest().isPresent() ? (Integer) need.largest().getAsInt() : null);
        return json;
    }

    private static @Nullable Long bytes(Optional<MemoryBytes> amount) {
        return amount.map(MemoryBytes::value).orElse(null);
    }
}
