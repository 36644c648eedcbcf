package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.PlannedNeeds.Phases;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Reads what {@link EstimateData} wrote: an answer that was made once, kept, and is now to be run by. Every failure is
 * an {@link IllegalArgumentException} that names the field.
 */
final class EstimateReader {
    /** As a rank may say at most. */
    private static final long MOST_BYTES = 1L << 50;

    private EstimateReader() {}

    /** Fields of a setup are told apart by what only an answer has. */
    static boolean isAnswer(JsonNode root) {
        return root.has("schema") && root.path("stages").isArray();
    }

    static JobEstimate read(JsonNode root) {
        int schema = whole(root, "schema");
        if (schema != EstimateData.SCHEMA) {
            throw new IllegalArgumentException(
                    "an estimate of schema %d, this version reads %d".formatted(schema, EstimateData.SCHEMA));
        }
        String measure = root.path("measure").asText("");
        if (!measure.equals("device") && !measure.equals("reserved")) {
            throw new IllegalArgumentException(
                    measure.isEmpty()
                            ? "measure is missing: made by an older version, make it again"
                            : "measure is " + measure
                                    + ", but a limit counts what is reserved or what the device shows:"
                                    + " device or reserved");
        }
        List<PlannedNeeds> stages = new ArrayList<>();
        int count = root.path("stages").size();
        int ranks = whole(root, "worldSize");
        for (JsonNode stage : root.path("stages")) {
            if (whole(stage, "stage") != stages.size() || (long) whole(stage, "ranks") * count != ranks) {
                throw new IllegalArgumentException(
                        "stages must be in order and of equal size, %s in all".formatted(Counts.of(ranks, "rank")));
            }
            stages.add(stage(root, stage, count));
        }
        List<String> assumptions = new ArrayList<>();
        root.path("assumptions").forEach(line -> assumptions.add(line.asText()));
        return new JobEstimate(ranks, stages, assumptions);
    }

    private static PlannedNeeds stage(JsonNode root, JsonNode stage, int stages) {
        JsonNode phases = stage.path("ranges");
        return new PlannedNeeds(
                whole(stage, "stage"),
                stages,
                root.path("measure").asText().equals("device"),
                root.has("microBatch") ? OptionalInt.of(whole(root, "microBatch")) : OptionalInt.empty(),
                new Phases(
                        need(phases, PhasePoint.INIT.name()),
                        need(phases, PhasePoint.FORWARD.name()),
                        need(phases, PhasePoint.BACKWARD.name()),
                        need(phases, PhasePoint.OPTIMIZER.name()),
                        need(phases, PhasePoint.STEADY.name())),
                need(stage, "optimizerState"));
    }

    private static Need need(JsonNode json, String name) {
        JsonNode need = json.path(name);
        MemoryBytes point = bytes(need, name, "total");
        // Each part of the total is whole bytes, rounded down, so its sum may lie a few bytes beside the range.
        return new Need(
                bytes(need, name, "lower").min(point),
                point,
                bytes(need, name, "upper").max(point),
                bytes(need, name, "state"));
    }

    private static MemoryBytes bytes(JsonNode need, String name, String field) {
        JsonNode value = need.path(field);
        return Optional.of(value)
                .filter(known -> known.isIntegralNumber() && known.canConvertToLong())
                .filter(known -> known.longValue() >= 0 && known.longValue() <= MOST_BYTES)
                .map(known -> MemoryBytes.of(known.longValue()))
                .orElseThrow(
                        () -> new IllegalArgumentException("%s of %s must be bytes, at most %d, is %s; make it again"
                                .formatted(field, name, MOST_BYTES, value.isMissingNode() ? "absent" : value)));
    }

    private static int whole(JsonNode json, String field) {
        JsonNode value = json.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
            throw new IllegalArgumentException(
                    field + " must be a whole number of 0 or more, is " + (value.isMissingNode() ? "absent" : value));
        }
        return value.intValue();
    }
}
