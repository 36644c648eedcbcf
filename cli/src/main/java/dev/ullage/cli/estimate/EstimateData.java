package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Advice.Change;
import dev.ullage.coordinator.planning.estimate.Part;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import dev.ullage.coordinator.planning.estimate.RankEstimate.Range;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** An answer for scripts: JSON, or a line of comma-separated values for each rank. */
final class EstimateData {
    /** Raised when a script that read the last one could not read this one. */
    static final int SCHEMA = 1;

    private EstimateData() {}

    /** One line; amounts in bytes. */
    static String json(EstimateAnswer answer) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA);
        root.put("worldSize", answer.ranks().size());
        root.put("measure", answer.reading().likely().measure().name().toLowerCase(Locale.ROOT));
        root.put("microBatch", answer.reading().likely().microBatch());
        root.put("complete", answer.reading().isComplete());
        root.put("fits", answer.limits().isEmpty() ? null : answer.fits());
        root.put("hostBytesPerNode", answer.hostPerNode().value());
        ArrayNode assumptions = root.putArray("assumptions");
        answer.reading().assumptions().forEach(assumptions::add);
        ArrayNode stages = root.putArray("stages");
        answer.stages().forEach(stage -> stage(stage, stages.addObject()));
        ArrayNode ranks = root.putArray("ranks");
        answer.ranks().forEach(fit -> rank(fit, answer, ranks.addObject()));
        changes(answer.alone(), root.putArray("changes"));
        changes(answer.together().orElse(List.of()), root.putArray("changesThatFit"));
        return root.toString();
    }

    private static void stage(RankEstimate stage, ObjectNode node) {
        node.put("stage", stage.stage())
                .put("ranks", stage.ranks())
                .put("layers", stage.layers().size())
                .put("peak", stage.peak().value())
                .put("lower", stage.lower().value())
                .put("upper", stage.upper().value())
                .put("host", stage.host().value());
        parts(stage.parts(), node.putObject("parts"));
        ObjectNode phases = node.putObject("phases");
        for (PhasePoint point : PhasePoint.values()) {
            ObjectNode phase = phases.putObject(point.name());
            phase.put("total", stage.at(point).value());
            parts(stage.phases().getOrDefault(point, Map.of()), phase);
        }
        ObjectNode ranges = node.putObject("ranges");
        for (PhasePoint point : PhasePoint.values()) {
            range(stage.rangeAt(point), stage.at(point), stage.stateAt(point), ranges.putObject(point.name()));
        }
        MemoryBytes state = stage.part(Part.OPTIMIZER);
        range(stage.optimizerState(), state, state, node.putObject("optimizerState"));
    }

    /** @param state what of the total is known exactly */
    private static void range(Range range, MemoryBytes total, MemoryBytes state, ObjectNode node) {
        node.put("lower", range.lower().value())
                .put("total", total.value())
                .put("upper", range.upper().value())
                .put("state", state.value());
    }

    private static void parts(Map<Part, MemoryBytes> parts, ObjectNode node) {
        parts.forEach((part, bytes) -> node.put(part.name().toLowerCase(Locale.ROOT), bytes.value()));
    }

    private static void rank(Fit fit, EstimateAnswer answer, ObjectNode node) {
        node.put("rank", fit.rank()).put("stage", fit.need().stage());
        fit.device().ifPresent(device -> node.put("device", device)
                .put("capacity", answer.capacities().get(device).value()));
        fit.limit().ifPresent(limit -> node.put("limit", limit.value()));
        fit.room().ifPresent(room -> node.put("room", room));
        node.put("verdict", fit.verdict().text());
    }

    private static void changes(List<Change> changes, ArrayNode nodes) {
        changes.forEach(change -> nodes.addObject()
                .put("change", change.what())
                .put("cost", change.cost())
                .put("saves", change.saves().value())
                .put("upper", change.upper().value())
                .put("fits", change.fits()));
    }

    /** A line of headings, then one for each rank; amounts in bytes. */
    static String csv(EstimateAnswer answer) {
        StringBuilder text = new StringBuilder("rank,stage,layers");
        for (PhasePoint point : PhasePoint.values()) {
            text.append(',').append(point.name().toLowerCase(Locale.ROOT));
        }
        text.append(",peak,lower,upper,host");
        for (Part part : Part.values()) {
            text.append(',').append(part.name().toLowerCase(Locale.ROOT));
        }
        text.append(",limit,room,verdict\n");
        for (Fit fit : answer.ranks()) {
            RankEstimate need = fit.need();
            text.append(fit.rank())
                    .append(',')
                    .append(need.stage())
                    .append(',')
                    .append(need.layers().size());
            for (PhasePoint point : PhasePoint.values()) {
                text.append(',').append(need.at(point).value());
            }
            List.of(need.peak(), need.lower(), need.upper(), need.host())
                    .forEach(bytes -> text.append(',').append(bytes.value()));
            for (Part part : Part.values()) {
                text.append(',').append(need.part(part).value());
            }
            text.append(',')
                    .append(fit.limit()
                            .map(limit -> String.valueOf(limit.value()))
                            .orElse(""));
            text.append(',').append(fit.room().map(String::valueOf).orElse(""));
            text.append(',').append(fit.verdict().text()).append('\n');
        }
        return text.toString();
    }
}
