package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.stream.Collectors;

/** What a rank was planned to need, what was measured, and what is in force, phase by phase. Pure. */
final class NeedsTable {
    private static final String UNKNOWN = "-";

    private NeedsTable() {}

    /** Lines to stand below a rank; empty where it was started without an estimate. */
    static String of(JsonNode rank, Terminal terminal) {
        JsonNode needs = rank.path("needs");
        if (!needs.isObject()) {
            return "";
        }
        StringBuilder text = new StringBuilder("  estimate of stage ")
                .append(needs.path("stage").asText())
                .append(" of ")
                .append(needs.path("stages").asText())
                .append("; ")
                .append(needs.path("basis").asText().replaceAll("\\p{Cntrl}", "?"))
                .append('\n');
        TextTable table = new TextTable()
                .text("PHASE")
                .number("PLANNED")
                .number("RANGE", 1)
                .number("MEASURED")
                .number("CORRECTED")
                .number("IN FORCE");
        for (JsonNode phase : needs.path("phases")) {
            table.row(List.of(
                    Cell.of(phase.path("phase").asText().replaceAll("\\p{Cntrl}", "?")),
                    size(phase.path("plannedBytes")),
                    range(phase),
                    size(phase.path("measuredBytes")),
                    size(phase.path("correctedBytes")),
                    size(inForce(rank, phase.path("phase").asText()))));
        }
        text.append(
                table.render(terminal).lines().map(line -> "    " + line + "\n").collect(Collectors.joining()));
        return text.append(microBatch(needs.path("microBatch"))).toString();
    }

    /** What the newest order allows, once the rank has confirmed it; before that nobody knows it phase by phase. */
    static JsonNode inForce(JsonNode rank, String phase) {
        return rank.path("settled").asBoolean() ? rank.path("limitsBytes").path(phase) : rank.path("not known");
    }

    private static String microBatch(JsonNode line) {
        if (!line.isObject()) {
            return "";
        }
        int sizes = line.path("sizes").asInt();
        String within = line.path("largestSamples").isInt()
                ? "at most %s within the %s that it could have"
                        .formatted(
                                most(line.path("largestSamples").asInt()),
                                size(line.path("roomBytes")).text())
                : "none fits, or what it could have is not known";
        return "    micro-batch of %d: %s, each sample more adds %s (%s); %s%n"
                .formatted(
                        line.path("samples").asInt(),
                        size(line.path("needBytes")).text(),
                        size(line.path("perSampleBytes")).text(),
                        sizes > 1 ? "by " + sizes + " sizes" : "by one size, beside the planned state",
                        within);
    }

    private static String most(int samples) {
        return samples == Integer.MAX_VALUE ? "any number" : Integer.toString(samples);
    }

    private static Cell range(JsonNode phase) {
        return phase.path("plannedLowerBytes").isIntegralNumber()
                ? Cell.of(size(phase.path("plannedLowerBytes")).text() + " to "
                        + size(phase.path("plannedUpperBytes")).text())
                : Cell.of(UNKNOWN);
    }

    private static Cell size(JsonNode value) {
        return Cell.of(
                value.isIntegralNumber()
                        ? MemoryBytes.of(Math.max(0, value.longValue())).toString()
                        : UNKNOWN);
    }
}
