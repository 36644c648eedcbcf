package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The screen of {@code ullage top}: devices with bars, ranks below them, never more lines or columns than there are.
 * Pure.
 *
 * <p>A bar is as long as the device's memory: {@code #} is used, {@code =} is promised to ranks beyond that, {@code .}
 * is the rest of the budget, blank is what is kept free; {@code !} is promised beyond the budget.
 */
public final class TopScreen {
    private static final int LINES_AROUND = 3;
    private static final int HEADINGS = 2;
    private static final int MIN_BAR = 8;
    private static final int MAX_BAR = 40;

    private TopScreen() {}

    private record Placed(String node, JsonNode device) {}

    private record PlacedRank(String label, JsonNode device, JsonNode rank) {}

    /**
     * @param status the status document
     * @param note what there is to say of it, or nothing
     * @param rows of the terminal; its columns are the terminal's width
     */
    public static List<String> render(JsonNode status, String note, TopSort sort, int rows, Terminal terminal) {
        List<Placed> devices = devices(status, sort);
        List<PlacedRank> ranks = ranks(status, sort);
        int free = Math.max(0, rows - LINES_AROUND - HEADINGS);
        int forDevices = Math.min(devices.size(), Math.max(free - ranks.size(), (free + 1) / 2));
        int forRanks = Math.min(ranks.size(), free - forDevices);

        List<String> lines = new ArrayList<>();
        lines.add(summary(status, terminal));
        lines.add(Style.NOTICE.apply(cut(StatusTable.clean(note), terminal.width()), terminal));
        lines.addAll(deviceLines(devices, forDevices, status, terminal));
        lines.addAll(rankLines(ranks, forRanks, terminal));
        List<String> screen = new ArrayList<>(lines.subList(0, Math.min(lines.size(), Math.max(0, rows - 1))));
        while (screen.size() < rows - 1) {
            screen.add("");
        }
        screen.add(cut("q quit   sort: " + sort.choice(), terminal.width()));
        return screen;
    }

    /** In colours only as a whole: half of one could not be switched off again. */
    private static String summary(JsonNode status, Terminal terminal) {
        String plain = StatusTable.summary(status, colourless(terminal));
        return plain.length() > terminal.width() ? cut(plain, terminal.width()) : StatusTable.summary(status, terminal);
    }

    private static Terminal colourless(Terminal terminal) {
        return new Terminal(terminal.isInteractive(), false, terminal.width());
    }

    private static List<Placed> devices(JsonNode status, TopSort sort) {
        List<Placed> devices = new ArrayList<>();
        for (JsonNode node : status.path("nodes")) {
            node.path("devices").forEach(device -> devices.add(new Placed(StatusTable.text(node, "node"), device)));
        }
        switch (sort) {
            case USED ->
                devices.sort(Comparator.comparingLong((Placed placed) -> -amount(placed.device(), "usedBytes")));
            case FULLEST ->
                devices.sort(Comparator.comparingLong(
                        (Placed placed) -> -parts(placed.device(), "ceilingBytes", "budgetInForceBytes")));
            default ->
                devices.sort(Comparator.comparing(Placed::node)
                        .thenComparingLong(placed -> amount(placed.device(), "index")));
        }
        return devices;
    }

    private static List<PlacedRank> ranks(JsonNode status, TopSort sort) {
        Map<String, String> labels = DeviceLabels.of(status);
        List<PlacedRank> ranks = new ArrayList<>();
        for (Placed placed : devices(status, TopSort.DEVICE)) {
            String label = label(placed.device(), labels);
            placed.device().path("ranks").forEach(rank -> ranks.add(new PlacedRank(label, placed.device(), rank)));
        }
        switch (sort) {
            case USED ->
                ranks.sort(Comparator.comparingLong((PlacedRank placed) -> -amount(placed.rank(), "usedBytes")));
            case FULLEST ->
                ranks.sort(Comparator.comparingLong(
                        (PlacedRank placed) -> -parts(placed.rank(), "usedBytes", "limitBytes")));
            case JOB ->
                ranks.sort(Comparator.comparing((PlacedRank placed) -> StatusTable.text(placed.rank(), "job"))
                        .thenComparingLong(placed -> amount(placed.rank(), "rank")));
            default -> {
                // As the devices are.
            }
        }
        return ranks;
    }

    private static List<String> deviceLines(List<Placed> devices, int lines, JsonNode status, Terminal terminal) {
        Map<String, String> labels = DeviceLabels.of(status);
        int shown = devices.size() > lines ? Math.max(0, lines - 1) : devices.size();
        int bar = Math.min(MAX_BAR, Math.max(MIN_BAR, terminal.width() / 4));
        TextTable table = new TextTable()
                .text("NODE", 3)
                .text("DEVICE")
                .text("MEMORY", 5)
                .number("USED")
                .number("CEILING", 4)
                .number("BUDGET")
                .number("AGE", 1)
                .text("NOTE", 2);
        for (Placed placed : devices.subList(0, shown)) {
            JsonNode device = placed.device();
            boolean isOver = device.path("overBudget").asBoolean();
            table.row(List.of(
                    Cell.of(placed.node()),
                    Cell.of(label(device, labels)),
                    new Cell(bar(device, bar), isOver ? Style.ALARM : Style.PLAIN),
                    Cell.of(StatusTable.size(device, "usedBytes")),
                    Cell.of(StatusTable.size(device, "ceilingBytes")),
                    Cell.of(StatusTable.size(device, "budgetInForceBytes")),
                    Cell.of(StatusTable.age(device, "sampleAgeMillis")),
                    isOver ? new Cell(StatusTable.OVER_BUDGET, Style.ALARM) : Cell.of("")));
        }
        return lines(table, shown, devices.size(), "device", terminal);
    }

    private static List<String> rankLines(List<PlacedRank> ranks, int lines, Terminal terminal) {
        int shown = ranks.size() > lines ? Math.max(0, lines - 1) : ranks.size();
        TextTable table = new TextTable()
                .shortenable("RANK", 10)
                .text("DEVICE", 2)
                .text("PHASE", 3)
                .number("USED")
                .number("LIMIT")
                .text("ENFORCED-BY", 1)
                .text("NOTE", 4);
        for (PlacedRank placed : ranks.subList(0, shown)) {
            JsonNode rank = placed.rank();
            table.row(List.of(
                    Cell.of(StatusTable.text(rank, "job") + "/" + StatusTable.text(rank, "rank")),
                    Cell.of(placed.label()),
                    Cell.of(StatusTable.text(rank, "phase")),
                    Cell.of(StatusTable.size(rank, "usedBytes")),
                    Cell.of(StatusTable.limit(rank)),
                    Cell.of(StatusTable.text(rank, "enforcedBy")),
                    StatusTable.note(placed.device(), rank)));
        }
        return lines(table, shown, ranks.size(), "rank", terminal);
    }

    /** The heading, as many rows, and how many more there are. */
    private static List<String> lines(TextTable table, int shown, int all, String noun, Terminal terminal) {
        List<String> plain = table.render(colourless(terminal)).lines().toList();
        List<String> styled = table.render(terminal).lines().toList();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i <= shown; i++) {
            boolean fits = plain.get(i).length() <= terminal.width();
            lines.add(fits ? styled.get(i) : cut(plain.get(i), terminal.width()));
        }
        if (shown < all) {
            int more = all - shown;
            lines.add(cut("... and " + more + " more " + noun + (more == 1 ? "" : "s"), terminal.width()));
        }
        return lines;
    }

    static String bar(JsonNode device, int width) {
        long total = amount(device, "totalBytes");
        if (total <= 0) {
            return StatusTable.UNKNOWN;
        }
        int used = cells(amount(device, "usedBytes"), total, width);
        int ceiling = cells(amount(device, "ceilingBytes"), total, width);
        int budget = cells(amount(device, "budgetInForceBytes"), total, width);
        StringBuilder bar = new StringBuilder("[");
        for (int cell = 0; cell < width; cell++) {
            boolean isPromised = cell < ceiling;
            boolean isInBudget = cell < budget;
            char promised = isInBudget ? '=' : '!';
            char rest = isInBudget ? '.' : ' ';
            bar.append(cell < used ? '#' : isPromised ? promised : rest);
        }
        return bar.append(']').toString();
    }

    /** Cells that an amount fills; a little is one. */
    private static int cells(long amount, long total, int width) {
        if (amount <= 0) {
            return 0;
        }
        return (int) Math.max(1, Math.min(width, Math.multiplyExact(Math.min(amount, total), (long) width) / total));
    }

    /** Of a whole number that is not known, one less than any that is: it is sorted last and fills nothing. */
    private static long amount(JsonNode json, String field) {
        JsonNode value = json.path(field);
        return value.isIntegralNumber() && value.canConvertToLong() ? value.longValue() : -1;
    }

    /** Ten-thousandths. */
    private static long parts(JsonNode json, String field, String of) {
        long whole = amount(json, of);
        long part = amount(json, field);
        return whole <= 0 || part < 0 ? -1 : Math.multiplyExact(part, 10_000L) / whole;
    }

    private static String label(JsonNode device, Map<String, String> labels) {
        return StatusTable.clean(labels.getOrDefault(device.path("uuid").asText(), StatusTable.UNKNOWN));
    }

    private static String cut(String text, int width) {
        return text.length() <= width ? text : text.substring(0, Math.max(0, width));
    }
}
