package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who has a turn and who waits for one, from the status document (docs/turns.md). Pure. */
final class TurnsText {
    static final String HAS_TURN = "TURN";
    private static final int MOST_WAITING = 3;

    private TurnsText() {}

    /** A section of its own: one line for each device whose jobs take turns; nothing where nobody does. */
    static String section(JsonNode status, Map<String, String> labels, Terminal terminal) {
        TextTable table = new TextTable()
                .text("NODE", 1)
                .text("DEVICE")
                .number("POOL")
                .number("OUT")
                .text("HAS THE TURN")
                .text("WAITING")
                .number("GIVEN", 2)
                .number("MISSED", 3);
        boolean isEmpty = true;
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                JsonNode turns = device.path("turns");
                if (turns.isObject()) {
                    isEmpty = false;
                    table.row(row(StatusTable.text(node, "node"), StatusTable.label(device, labels), turns));
                }
            }
        }
        return isEmpty ? "" : "\n" + Style.HEADING.apply("TURNS", terminal) + "\n" + table.render(terminal);
    }

    private static List<Cell> row(String node, String device, JsonNode turns) {
        boolean isAnyMissed = turns.path("missed").asLong() > 0;
        return List.of(
                Cell.of(node),
                Cell.of(device),
                Cell.of(pool(turns)),
                Cell.of(StatusTable.size(turns, "outBytes")),
                Cell.of(holders(turns)),
                Cell.of(waiters(turns)),
                Cell.of(StatusTable.text(turns, "given")),
                new Cell(StatusTable.text(turns, "missed"), isAnyMissed ? Style.NOTICE : Style.PLAIN));
    }

    /** In force, and what it is to become where that differs. */
    private static String pool(JsonNode turns) {
        String wanted = StatusTable.size(turns, "poolBytes");
        String inForce = StatusTable.size(turns, "poolInForceBytes");
        return wanted.equals(inForce) ? wanted : inForce + " -> " + wanted;
    }

    private static String holders(JsonNode turns) {
        List<String> holders = new ArrayList<>();
        turns.path("holding")
                .forEach(holder ->
                        holders.add(StatusTable.text(holder, "job") + " " + StatusTable.age(holder, "heldMillis")));
        return holders.isEmpty() ? StatusTable.UNKNOWN : String.join(", ", holders);
    }

    private static String waiters(JsonNode turns) {
        List<String> waiters = new ArrayList<>();
        turns.path("waiting").forEach(waiter -> waiters.add(name(waiter) + " " + waited(waiter)));
        int more = waiters.size() - MOST_WAITING;
        String first = String.join(", ", waiters.subList(0, Math.min(MOST_WAITING, waiters.size())));
        return waiters.isEmpty() ? StatusTable.UNKNOWN : more > 0 ? first + " and " + more + " more" : first;
    }

    private static String name(JsonNode rank) {
        return StatusTable.text(rank, "job") + "/" + StatusTable.text(rank, "rank");
    }

    private static String waited(JsonNode waiter) {
        return StatusTable.age(waiter, "waitedMillis");
    }

    /** For the note of a rank; empty: it neither waits for a turn nor does its job have one on this device. */
    static Optional<String> note(JsonNode device, JsonNode rank) {
        for (JsonNode waiter : device.path("turns").path("waiting")) {
            if (name(waiter).equals(name(rank)) && waiter.path("pid").equals(rank.path("pid"))) {
                return Optional.of("WAITS_TURN " + waited(waiter));
            }
        }
        for (JsonNode holder : device.path("turns").path("holding")) {
            if (holder.path("job").equals(rank.path("job"))) {
                return Optional.of(HAS_TURN);
            }
        }
        return Optional.empty();
    }
}
