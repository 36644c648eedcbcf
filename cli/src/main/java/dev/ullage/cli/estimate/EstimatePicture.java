package dev.ullage.cli.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Part;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Stacked bars, one for each rank, against limit and capacity: SVG without scripts, fonts or links. */
final class EstimatePicture {
    private static final int LEFT = 60;
    private static final int TOP = 30;
    private static final int HEIGHT = 320;
    private static final int LEGEND = 150;
    private static final int MOST_BARS = 64;

    /** Told apart by colour-blind readers too (Okabe and Ito). */
    private static final Map<Part, String> COLOURS = Map.ofEntries(
            Map.entry(Part.WEIGHTS, "#0072b2"),
            Map.entry(Part.GRADIENTS, "#56b4e9"),
            Map.entry(Part.MASTER, "#004c76"),
            Map.entry(Part.OPTIMIZER, "#009e73"),
            Map.entry(Part.STEP, "#7fd1b9"),
            Map.entry(Part.ACTIVATIONS, "#e69f00"),
            Map.entry(Part.LOGITS, "#d55e00"),
            Map.entry(Part.BUFFERS, "#cc79a7"),
            Map.entry(Part.COMMUNICATION, "#f0e442"),
            Map.entry(Part.CONTEXT, "#777777"),
            Map.entry(Part.SLACK, "#bbbbbb"));

    private final EstimateAnswer answer;
    private final List<Fit> bars;
    private final double pixelsPerByte;
    private final int barWidth;
    private final StringBuilder svg = new StringBuilder();

    private EstimatePicture(EstimateAnswer answer) {
        this.answer = answer;
        this.bars = bars(answer.ranks());
        MemoryBytes most = bars.stream().map(fit -> fit.need().upper()).reduce(MemoryBytes.of(1), MemoryBytes::max);
        MemoryBytes highest = answer.capacities().stream().reduce(most, MemoryBytes::max);
        this.pixelsPerByte = HEIGHT / (double) highest.value();
        this.barWidth = Math.max(10, Math.min(60, 640 / bars.size()));
    }

    static String svg(EstimateAnswer answer) {
        return new EstimatePicture(answer).draw();
    }

    /** When there are too many, every stage's first rank stands for the stage. */
    private static List<Fit> bars(List<Fit> ranks) {
        if (ranks.size() <= MOST_BARS) {
            return ranks;
        }
        int each = ranks.get(0).need().ranks();
        return ranks.stream()
                .filter(fit -> fit.rank() % each == 0)
                .limit(MOST_BARS)
                .toList();
    }

    private String draw() {
        int width = LEFT + bars.size() * (barWidth + 4) + 20 + LEGEND;
        int height = TOP + HEIGHT + 50;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                        + "font-size=\"11\">%n",
                width, height);
        add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", width, height);
        add("<text x=\"%d\" y=\"18\">Memory of each rank at its peak, GiB</text>%n", LEFT);
        axis();
        for (int bar = 0; bar < bars.size(); bar++) {
            bar(LEFT + 4 + bar * (barWidth + 4), bars.get(bar));
        }
        legend(LEFT + bars.size() * (barWidth + 4) + 20);
        return svg.append("</svg>\n").toString();
    }

    private void add(String form, Object... values) {
        svg.append(String.format(Locale.ROOT, form, values));
    }

    private double y(double bytes) {
        return TOP + HEIGHT - bytes * pixelsPerByte;
    }

    private static double amount(MemoryBytes bytes) {
        return (double) bytes.value();
    }

    private void axis() {
        double highest = HEIGHT / pixelsPerByte / MemoryBytes.GIBIBYTE;
        double step = Math.pow(10, Math.floor(Math.log10(highest)));
        step = highest / step < 2.5 ? step / 4 : highest / step < 5 ? step / 2 : step;
        for (double mark = 0; mark <= highest * 1.0001; mark += step) {
            double y = y(mark * (double) MemoryBytes.GIBIBYTE);
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>%n", LEFT - 6, y + 4, number(mark));
            add(
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>%n",
                    LEFT, LEFT + bars.size() * (barWidth + 4), y, y);
        }
    }

    private static String number(double value) {
        return value == Math.rint(value) ? String.valueOf((long) value) : String.format(Locale.ROOT, "%.2f", value);
    }

    private void bar(int x, Fit fit) {
        PhasePoint peak = fit.need().at(PhasePoint.STEADY).value()
                        >= fit.need().firstPeak().value()
                ? PhasePoint.STEADY
                : highestOfFirst(fit);
        double below = 0;
        for (Map.Entry<Part, MemoryBytes> part :
                fit.need().phases().getOrDefault(peak, Map.of()).entrySet()) {
            double bytes = amount(part.getValue());
            add(
                    "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\"><title>%s %s</title></rect>%n",
                    x,
                    y(below + bytes),
                    barWidth,
                    bytes * pixelsPerByte,
                    COLOURS.getOrDefault(part.getKey(), "#000000"),
                    name(part.getKey()),
                    part.getValue());
            below += bytes;
        }
        double middle = x + barWidth / 2.0;
        add(
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#000000\"/>%n",
                middle,
                middle,
                y(amount(fit.need().lower())),
                y(amount(fit.need().upper())));
        fit.limit().ifPresent(limit -> mark(x, limit, "limit", "4 2"));
        fit.device().ifPresent(device -> mark(x, answer.capacities().get(device), "capacity", "none"));
        add("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>%n", middle, TOP + HEIGHT + 16, fit.rank());
    }

    private static PhasePoint highestOfFirst(Fit fit) {
        PhasePoint highest = PhasePoint.OPTIMIZER;
        for (PhasePoint point : List.of(PhasePoint.FORWARD, PhasePoint.BACKWARD)) {
            highest = fit.need().at(point).isMoreThan(fit.need().at(highest)) ? point : highest;
        }
        return highest;
    }

    private void mark(int x, MemoryBytes bytes, String what, String dashes) {
        double y = y(amount(bytes));
        add(
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#aa0000\" stroke-width=\"2\" "
                        + "stroke-dasharray=\"%s\"><title>%s %s</title></line>%n",
                x - 2, x + barWidth + 2, y, y, dashes, what, bytes);
    }

    private void legend(int x) {
        int y = TOP + 10;
        for (Part part : Part.values()) {
            String colour = COLOURS.getOrDefault(part, "#000000");
            add("<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>%n", x, y - 9, colour);
            add("<text x=\"%d\" y=\"%d\">%s</text>%n", x + 16, y, name(part));
            y += 18;
        }
        add("<text x=\"%d\" y=\"%d\">- - limit, &#8212; capacity</text>%n", x, y + 6);
        add("<text x=\"%d\" y=\"%d\">| range</text>%n", x, y + 24);
    }

    private static String name(Part part) {
        return part.name().toLowerCase(Locale.ROOT);
    }
}
