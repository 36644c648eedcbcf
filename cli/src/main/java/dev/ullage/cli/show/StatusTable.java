package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The status document as tables: one line per device, one per rank, and whatever is wrong. Pure. */
public final class StatusTable {
    static final String UNKNOWN = "-";
    static final String OVER_BUDGET = "OVER_BUDGET";
    static final String DRAINING = "DRAINING";

    private StatusTable() {}

    /** @param status the answer to {@code GET /api/v1/status} */
    public static String render(JsonNode status, Terminal terminal) {
        Map<String, String> devices = DeviceLabels.of(status);
        StringBuilder text = new StringBuilder();
        text.append(summary(status, terminal)).append('\n');
        appendTable(text, devices(status, devices), "no devices", terminal);
        appendTable(text, ranks(status, devices), "no ranks", terminal);
        text.append(HostsText.section(status, terminal));
        text.append(TurnsText.section(status, devices, terminal));
        text.append(WishesText.section(status, terminal));
        text.append(OomText.section(status, terminal));
        text.append(EvennessText.section(status, devices, terminal));
        List<String> problems = problems(status, devices);
        if (!problems.isEmpty()) {
            text.append('\n').append(Style.HEADING.apply("PROBLEMS", terminal)).append('\n');
            problems.forEach(problem ->
                    text.append(Style.NOTICE.apply(problem, terminal)).append('\n'));
        }
        return text.toString();
    }

    private record Rows(TextTable table, boolean isEmpty) {}

    private static void appendTable(StringBuilder text, Rows rows, String ifEmpty, Terminal terminal) {
        text.append('\n').append(rows.isEmpty() ? ifEmpty + "\n" : rows.table().render(terminal));
    }

    static String summary(JsonNode status, Terminal terminal) {
        int devices = 0;
        int ranks = 0;
        for (JsonNode node : status.path("nodes")) {
            devices += node.path("devices").size();
            for (JsonNode device : node.path("devices")) {
                ranks += device.path("ranks").size();
            }
        }
        JsonNode coordinator = status.path("coordinator");
        String state = text(coordinator, "state");
        return "coordinator " + text(coordinator, "node") + "  "
                + (state.equals("ACTIVE") ? Style.GOOD : Style.NOTICE).apply(state, terminal)
                + "  epoch " + text(coordinator, "epoch")
                + "  " + Counts.of(status.path("nodes").size(), "node")
                + ", " + Counts.of(devices, "device")
                + ", " + Counts.of(ranks, "rank")
                + "  " + text(status, "time");
    }

    private static Rows devices(JsonNode status, Map<String, String> labels) {
        TextTable table = new TextTable()
                .text("NODE")
                .text("DEVICE")
                .text("NAME", 1)
                .number("TOTAL", 4)
                .number("USED")
                .number("FREE", 5)
                .number("FOREIGN", 3)
                .number("RESERVE")
                .number("BUDGET")
                .number("CEILING")
                .text("ROLLOUT", 6)
                .number("AGE", 2)
                .text("NOTE");
        boolean isEmpty = true;
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                isEmpty = false;
                table.row(List.of(
                        Cell.of(text(node, "node")),
                        Cell.of(label(device, labels)),
                        Cell.of(text(device, "name")),
                        Cell.of(size(device, "totalBytes")),
                        Cell.of(size(device, "usedBytes")),
                        Cell.of(size(device, "freeBytes")),
                        Cell.of(foreign(device)),
                        Cell.of(reserve(device)),
                        Cell.of(size(device, "budgetInForceBytes")),
                        Cell.of(size(device, "ceilingBytes")),
                        Cell.of(text(device, "rollout")),
                        Cell.of(age(device, "sampleAgeMillis")),
                        deviceNote(node, device)));
            }
        }
        return new Rows(table, isEmpty);
    }

    /** In parentheses where it is not told, and limits are planned with a bound. */
    private static String foreign(JsonNode device) {
        boolean isBound = device.path("foreignBytes").isNull()
                && device.path("plannedForeignBytes").isIntegralNumber();
        return isBound ? "(" + size(device, "plannedForeignBytes") + ")" : size(device, "foreignBytes");
    }

    private static Cell deviceNote(JsonNode node, JsonNode device) {
        if (device.path("overBudget").asBoolean()) {
            return new Cell(OVER_BUDGET, Style.ALARM);
        }
        return WishesText.isDraining(node) ? new Cell(DRAINING, Style.NOTICE) : Cell.of("");
    }

    private static Rows ranks(JsonNode status, Map<String, String> labels) {
        TextTable table = new TextTable()
                .text("NODE", 3)
                .text("DEVICE")
                .shortenable("RANK", 16)
                .number("PID", 2)
                .text("PHASE")
                .number("USED")
                .number("LIMIT")
                .number("TARGET", 4)
                .number("CEILING", 5)
                .text("ENFORCED-BY", 6)
                .number("AGE", 1)
                .text("NOTE");
        boolean isEmpty = true;
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                for (JsonNode rank : device.path("ranks")) {
                    isEmpty = false;
                    table.row(rank(text(node, "node"), label(device, labels), device, rank));
                }
            }
        }
        return new Rows(table, isEmpty);
    }

    private static List<Cell> rank(String node, String label, JsonNode device, JsonNode rank) {
        String enforcedBy = text(rank, "enforcedBy");
        return List.of(
                Cell.of(node),
                Cell.of(label),
                Cell.of(text(rank, "job") + "/" + text(rank, "rank")),
                Cell.of(text(rank, "pid")),
                Cell.of(text(rank, "phase")),
                Cell.of(size(rank, "usedBytes")),
                Cell.of(limit(rank)),
                Cell.of(size(rank, "targetBytes")),
                Cell.of(size(rank, "ceilingBytes")),
                enforcedBy.equals("advisory") ? new Cell(enforcedBy, Style.NOTICE) : Cell.of(enforcedBy),
                Cell.of(age(rank, "ageMillis")),
                note(device, rank));
    }

    /** What holds now: of a rank that must restart first, the limit it started with and not the one it was ordered. */
    static String limit(JsonNode rank) {
        JsonNode needs = rank.path("needsRestart");
        return needs.isObject() ? size(needs, "inForceBytes") : size(rank, "limitBytes");
    }

    static Cell note(JsonNode device, JsonNode rank) {
        List<String> notes = new ArrayList<>();
        if (rank.path("needsRestart").isObject()) {
            notes.add("NEEDS_RESTART");
        }
        Optional<String> turn = TurnsText.note(device, rank);
        boolean isInTurn = turn.filter(TurnsText.HAS_TURN::equals).isPresent();
        if (!isInTurn // what a turn adds comes on top of its limit
                && isNumber(rank, "usedBytes")
                && isNumber(rank, "limitBytes")
                && rank.path("usedBytes").longValue() > rank.path("limitBytes").longValue()) {
            notes.add("ABOVE_LIMIT");
        }
        if (rank.path("connected").isBoolean() && !rank.path("connected").booleanValue()) {
            notes.add("OFFLINE");
        }
        if (rank.path("settled").isBoolean() && !rank.path("settled").booleanValue()) {
            notes.add("SETTLING");
        }
        turn.ifPresent(notes::add);
        RanksTable.leak(rank).ifPresent(speed -> notes.add("LEAK " + speed));
        return new Cell(String.join(" ", notes), Style.NOTICE);
    }

    private static List<String> problems(JsonNode status, Map<String, String> labels) {
        List<String> problems = new ArrayList<>();
        status.path("errors").forEach(error -> problems.add(clean(error.asText())));
        for (JsonNode node : status.path("nodes")) {
            for (JsonNode device : node.path("devices")) {
                device.path("problems")
                        .forEach(problem -> problems.add(text(node, "node") + " device " + label(device, labels) + ": "
                                + clean(problem.asText())));
            }
        }
        return problems;
    }

    static String label(JsonNode device, Map<String, String> labels) {
        return text(device, "index") + " " + labels.getOrDefault(text(device, "uuid"), UNKNOWN);
    }

    private static String reserve(JsonNode device) {
        String wanted = share(device, "reserveBasisPoints");
        String inForce = share(device, "reserveInForceBasisPoints");
        return wanted.equals(inForce) ? wanted : inForce + " -> " + wanted;
    }

    private static String share(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.canConvertToInt() && value.intValue() >= 0 && value.intValue() <= Share.ONE_IN_BASIS_POINTS
                ? new Share(value.intValue()).toString()
                : UNKNOWN;
    }

    static String size(JsonNode json, String field) {
        return isNumber(json, field) && json.path(field).longValue() >= 0
                ? MemoryBytes.of(json.path(field).longValue()).toString()
                : UNKNOWN;
    }

    static String age(JsonNode json, String field) {
        if (!isNumber(json, field)) {
            return UNKNOWN;
        }
        long tenths = json.path(field).longValue() / 100;
        if (tenths < 100) {
            return tenths / 10 + "." + tenths % 10 + "s";
        }
        long seconds = tenths / 10;
        if (seconds < 120) {
            return seconds + "s";
        }
        return seconds < 7_200 ? seconds / 60 + "m" : seconds / 3_600 + "h";
    }

    private static boolean isNumber(JsonNode json, String field) {
        return json.path(field).isIntegralNumber() && json.path(field).canConvertToLong();
    }

    static String text(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isMissingNode() || value.isNull() ? UNKNOWN : clean(value.asText());
    }

    /** A name from somebody's job must not steer the terminal. */
    static String clean(String text) {
        return text.replaceAll("[\\p{Cntrl}\\p{Cf}]", "?");
    }
}
