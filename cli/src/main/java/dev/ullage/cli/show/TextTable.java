package dev.ullage.cli.show;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Rows under headings, aligned. When the width does not suffice, long texts are shortened first and then whole columns
 * are left out, which a last line names: nothing is missing without a word.
 */
final class TextTable {
    private static final String GAP = "  ";
    private static final String CUT = "..";
    private static final int KEPT = Integer.MAX_VALUE;

    private final List<Column> columns = new ArrayList<>();
    private final List<List<Cell>> rows = new ArrayList<>();

    /**
     * @param leaveOut columns with a lower number are left out earlier
     * @param minWidth what a longer text may be shortened to
     * @param isSentence whether it is shortened at its end, and not in the middle like a name
     */
    private record Column(String heading, boolean isNumber, int leaveOut, int minWidth, boolean isSentence) {
        Column(String heading, boolean isNumber, int leaveOut, int minWidth) {
            this(heading, isNumber, leaveOut, minWidth, false);
        }
    }

    /** @param style what emphasizes the text, where colours are possible */
    record Cell(String text, Style style) {
        static Cell of(String text) {
            return new Cell(text, Style.PLAIN);
        }
    }

    TextTable text(String heading) {
        columns.add(new Column(heading, false, KEPT, KEPT));
        return this;
    }

    TextTable text(String heading, int leaveOut) {
        columns.add(new Column(heading, false, leaveOut, KEPT));
        return this;
    }

    TextTable shortenable(String heading, int minWidth) {
        columns.add(new Column(heading, false, KEPT, minWidth));
        return this;
    }

    /** Of which the start says most. */
    TextTable sentence(String heading, int minWidth) {
        columns.add(new Column(heading, false, KEPT, minWidth, true));
        return this;
    }

    TextTable number(String heading) {
        columns.add(new Column(heading, true, KEPT, KEPT));
        return this;
    }

    TextTable number(String heading, int leaveOut) {
        columns.add(new Column(heading, true, leaveOut, KEPT));
        return this;
    }

    void row(List<Cell> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException(cells.size() + " cells for " + columns.size() + " columns");
        }
        rows.add(List.copyOf(cells));
    }

    /** Columns of a terminal that it takes when nothing is shortened or left out. */
    int width() {
        int[] widths = widths();
        return Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
    }

    private int[] widths() {
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            int column = i;
            widths[i] = rows.stream()
                    .mapToInt(row -> TextWidth.of(row.get(column).text()))
                    .reduce(columns.get(i).heading().length(), Math::max);
        }
        return widths;
    }

    String render(Terminal terminal) {
        int[] widths = widths();
        List<Integer> shown = fit(widths, terminal.width());
        StringBuilder text = new StringBuilder();
        line(text, shown, widths, headings(), terminal);
        rows.forEach(row -> line(text, shown, widths, row, terminal));
        if (shown.size() < widths.length) {
            text.append(missing(shown)).append('\n');
        }
        return text.toString();
    }

    private List<Cell> headings() {
        return columns.stream()
                .map(column -> new Cell(column.heading(), Style.HEADING))
                .toList();
    }

    private String missing(List<Integer> shown) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            if (!shown.contains(i)) {
                names.add(columns.get(i).heading());
            }
        }
        return "(too narrow for " + String.join(", ", names) + ")";
    }

    private List<Integer> fit(int[] widths, int width) {
        List<Integer> shown = new ArrayList<>();
        for (int i = 0; i < widths.length; i++) {
            shown.add(i);
        }
        for (int i = 0; i < widths.length; i++) {
            int excess = Math.max(0, total(shown, widths) - width);
            widths[i] = Math.max(Math.min(widths[i], columns.get(i).minWidth()), widths[i] - excess);
        }
        while (total(shown, widths) > width) {
            Optional<Integer> next = shown.stream()
                    .filter(i -> columns.get(i).leaveOut() < KEPT)
                    .min(Comparator.comparingInt(i -> columns.get(i).leaveOut()));
            if (next.isEmpty()) {
                return shown;
            }
            shown.remove(next.get());
        }
        return shown;
    }

    private static int total(List<Integer> shown, int[] widths) {
        return shown.stream().mapToInt(i -> widths[i]).sum() + GAP.length() * (shown.size() - 1);
    }

    private void line(StringBuilder text, List<Integer> shown, int[] widths, List<Cell> cells, Terminal terminal) {
        String line = shown.stream()
                .map(i -> cell(cells.get(i), widths[i], columns.get(i), terminal))
                .collect(Collectors.joining(GAP));
        text.append(line.stripTrailing()).append('\n');
    }

    private static String cell(Cell cell, int width, Column column, Terminal terminal) {
        String text = shortened(cell.text(), width, column.isSentence());
        String space = " ".repeat(Math.max(0, width - TextWidth.of(text)));
        String styled = cell.style().apply(text, terminal);
        return column.isNumber() ? space + styled : styled + space;
    }

    /** The end of a name tells ranks of one job apart, so the middle goes. */
    private static String shortened(String text, int width, boolean isSentence) {
        if (TextWidth.of(text) <= width) {
            return text;
        }
        int end = isSentence ? 0 : Math.min(6, (width - CUT.length()) / 2);
        return TextWidth.start(text, width - CUT.length() - end) + CUT + TextWidth.end(text, end);
    }
}
