package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Counts;
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

    private record Placed(String node, boolean isDraining, JsonNode device) {}

    private record PlacedRank(String label, JsonNode device, JsonNode rank) {}

    /**
     * @param status the status document
     * @param note what there is to say of it, or nothing
     * @param rows of the terminal; its columns are the terminal's width
     */
    public static List<String> render(JsonNode status, String note, TopSort sort, int rows, Terminal terminal) {
        return render(status, note, new View(sort, 0), rows, terminal);
    }

    /**
     * What of it all is on the screen.
     *
     * @param passed how many lines are passed over: devices first, then ranks; more than there are is the last of them
     */
    public record View(TopSort sort, int passed) {
        /** @param most as {@link TopScreen#hidden} says */
        public View moved(int lines, int most) {
            return new View(sort, Math.max(0, Math.min(most, passed + lines)));
        }

        /** In another order, from the top. */
        public View by(TopSort other) {
            return other == sort ? this : new View(other, 0);
        }
    }

    /** How many lines go to devices and to ranks, of so many of each. */
    private record Room(int forDevices, int forRanks) {
        static Room of(int devices, int ranks, int rows) {
            int free = Math.max(0, rows - LINES_AROUND - HEADINGS);
            int forDevices = Math.min(devices, Math.max(free - ranks, (free + 1) / 2));
            return new Room(forDevices, Math.min(ranks, free - forDevices));
        }
    }

    /** How many lines there are to pass over. */
    public static int hidden(JsonNode status, int rows) {
        int devices = devices(status, TopSort.DEVICE).size();
        int ranks = ranks(status, TopSort.DEVICE).size();
        Room room = Room.of(devices, ranks, rows);
        return hidden(devices, room.forDevices()) + hidden(ranks, room.forRanks());
    }

    /** Where not all fit, one line is for saying so. */
    private static int hidden(int all, int lines) {
        return all > lines ? all - Math.max(0, lines - 1) : 0;
    }

    /** As above, of what is in the view. */
    public static List<String> render(JsonNode status, String note, View view, int rows, Terminal terminal) {
        TopSort sort = view.sort();
        List<Placed> devices = devices(status, sort);
        List<PlacedRank> ranks = ranks(status, sort);
        Room room = Room.of(devices.size(), ranks.size(), rows);
        int forDevices = room.forDevices();
        int forRanks = room.forRanks();
        int fromDevice = Math.min(view.passed(), hidden(devices.size(), forDevices));
        int fromRank = Math.min(view.passed() - fromDevice, hidden(ranks.size(), forRanks));

        List<String> lines = new ArrayList<>();
        lines.add(summary(status, terminal));
        lines.add(Style.NOTICE.apply(cut(StatusTable.clean(note), terminal.width()), terminal));
        lines.addAll(deviceLines(devices, new Part(fromDevice, forDevices), status, terminal));
        lines.addAll(rankLines(ranks, new Part(fromRank, forRanks), terminal));
        List<String> screen = new ArrayList<>(lines.subList(0, Math.min(lines.size(), Math.max(0, rows - 1))));
        while (screen.size() < rows - 1) {
            screen.add("");
        }
        String scrolls =
                hidden(devices.size(), forDevices) + hidden(ranks.size(), forRanks) > 0 ? "   arrows: scroll" : "";
        screen.add(cut("q quit   sort: " + sort.choice() + scrolls, terminal.width()));
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
            node.path("devices")
                    .forEach(device -> devices.add(
                            new Placed(StatusTable.text(node, "node"), WishesText.isDraining(node), device)));
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

    /** So many lines of a list, from there on. */
    private record Part(int from, int lines) {
        int shownOf(int all) {
            return all > lines ? Math.max(0, lines - 1) : all;
        }
    }

    private static List<String> deviceLines(List<Placed> devices, Part part, JsonNode status, Terminal terminal) {
        Map<String, String> labels = DeviceLabels.of(status);
        int shown = part.shownOf(devices.size());
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
        for (Placed placed : devices.subList(part.from(), part.from() + shown)) {
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
                    note(isOver, placed.isDraining())));
        }
        return lines(table, part, devices.size(), "device", terminal);
    }

    private static Cell note(boolean isOver, boolean isDraining) {
        if (isOver) {
            return new Cell(StatusTable.OVER_BUDGET, Style.ALARM);
        }
        return isDraining ? new Cell(StatusTable.DRAINING, Style.NOTICE) : Cell.of("");
    }

    private static List<String> rankLines(List<PlacedRank> ranks, Part part, Terminal terminal) {
        int shown = part.shownOf(ranks.size());
        TextTable table = new TextTable()
                .shortenable("RANK", 10)
                .text("DEVICE", 2)
                .text("PHASE", 3)
                .number("USED")
                .number("LIMIT")
                .text("ENFORCED-BY", 1)
                .text("NOTE", 4);
        for (PlacedRank placed : ranks.subList(part.from(), part.from() + shown)) {
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
        return lines(table, part, ranks.size(), "rank", terminal);
    }

    /** The heading, as many rows, and how many more there are. */
    private static List<String> lines(TextTable table, Part part, int all, String noun, Terminal terminal) {
        int shown = part.shownOf(all);
        List<String> plain = table.render(colourless(terminal)).lines().toList();
        List<String> styled = table.render(terminal).lines().toList();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i <= shown; i++) {
            boolean fits = plain.get(i).length() <= terminal.width();
            lines.add(fits ? styled.get(i) : cut(plain.get(i), terminal.width()));
        }
        if (shown < all) {
            int more = all - shown - part.from();
            List<String> parts = new ArrayList<>();
            if (more > 0) {
                parts.add("and " + Counts.of(more, "more " + noun));
            }
            if (part.from() > 0) {
                parts.add(part.from() + " above");
            }
            lines.add(cut("... " + String.join(", ", parts), terminal.width()));
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
