package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** What each rank does with its memory, from the status document: one line per process. Pure. */
public final class RanksTable {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private RanksTable() {}

    /** The ranks of the status as a list, each with the node and the device it is on. */
    public static ObjectNode ranks(JsonNode status, Optional<String> job) {
        ObjectNode document = NODES.objectNode();
        document.set("schema", status.path("schema"));
        document.set("time", status.path("time"));
        ArrayNode ranks = document.putArray("ranks");
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                StreamSupport.stream(device.path("ranks").spliterator(), false)
                        .filter(rank ->
                                job.map(rank.path("job").asText()::equals).orElse(true))
                        .forEach(rank -> ranks.add(placed(node, device, rank)));
            }
        }
        return document;
    }

    private static ObjectNode placed(JsonNode node, JsonNode device, JsonNode rank) {
        ObjectNode item = NODES.objectNode();
        item.set("node", node.path("node"));
        item.set("device", device.path("uuid"));
        item.setAll((ObjectNode) rank);
        return item;
    }

    /** @param document what {@link #ranks} made */
    public static String render(JsonNode document, Terminal terminal) {
        TextTable table = new TextTable()
                .text("NODE", 4)
                .shortenable("RANK", 16)
                .number("STEP")
                .number("EPOCH", 1);
        for (Phase phase : Phase.values()) {
            table.number(phase.name(), isInEachStep(phase) ? 6 : 2);
        }
        table.number("ALLOC/STEP", 3).number("FRAG").number("WASTE", 5).text("LEAK");
        document.path("ranks").forEach(rank -> table.row(row(rank)));
        return document.path("ranks").isEmpty() ? "no ranks\n" : table.render(terminal);
    }

    private static boolean isInEachStep(Phase phase) {
        return phase == Phase.FORWARD || phase == Phase.BACKWARD || phase == Phase.OPTIMIZER;
    }

    private static List<Cell> row(JsonNode rank) {
        JsonNode watch = rank.path("watch");
        List<Cell> cells = new ArrayList<>();
        cells.add(Cell.of(StatusTable.text(rank, "node")));
        cells.add(Cell.of(StatusTable.text(rank, "job") + "/" + StatusTable.text(rank, "rank")));
        cells.add(Cell.of(StatusTable.text(watch, "step")));
        cells.add(Cell.of(StatusTable.text(watch, "epoch")));
        for (Phase phase : Phase.values()) {
            cells.add(Cell.of(peak(watch, phase)));
        }
        cells.add(Cell.of(StatusTable.text(watch, "allocationsPerStep")));
        cells.add(Cell.of(share(watch, "fragmentationBasisPoints")));
        cells.add(Cell.of(share(watch, "roundingWasteBasisPoints")));
        cells.add(leak(rank).map(text -> new Cell(text, Style.NOTICE)).orElseGet(() -> Cell.of(noLeak(watch))));
        return cells;
    }

    private static String peak(JsonNode watch, Phase phase) {
        for (JsonNode peak : watch.path("phases")) {
            if (peak.path("phase").asText().equals(phase.name())) {
                String reserved = StatusTable.size(peak, "peakReservedBytes");
                return reserved.equals(StatusTable.UNKNOWN) ? StatusTable.size(peak, "peakAllocatedBytes") : reserved;
            }
        }
        return StatusTable.UNKNOWN;
    }

    private static String share(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.canConvertToInt() && value.intValue() >= 0 && value.intValue() <= Share.ONE_IN_BASIS_POINTS
                ? new Share(value.intValue()).toString()
                : StatusTable.UNKNOWN;
    }

    private static String noLeak(JsonNode watch) {
        return watch.path("leak").path("state").asText().equals("none") ? "none" : StatusTable.UNKNOWN;
    }

    /** Of a rank of the status: how fast it leaks, when that is suspected. */
    static Optional<String> leak(JsonNode rank) {
        JsonNode leak = rank.path("watch").path("leak");
        return leak.path("state").asText().equals("suspected")
                ? Optional.of(StatusTable.size(leak, "growthPerStepBytes") + "/step")
                : Optional.empty();
    }
}
