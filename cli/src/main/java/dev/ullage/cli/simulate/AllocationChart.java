package dev.ullage.cli.simulate;

import dev.ullage.coordinator.simulation.PolicyResult;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Devices in use over devices asked for, one panel for each workload and one line for each policy, as SVG. */
final class AllocationChart {
    private static final int WIDTH = 720;
    private static final int PANEL = 340;
    private static final int LEFT = 60;
    private static final int TOP = 46;
    private static final int PLOT_WIDTH = 500;
    private static final int PLOT_HEIGHT = 240;
    /** From here on policies differ. */
    private static final int FROM = 60;

    private static final int TO = 130;
    /** Told apart by people who see few colours, too (Okabe and Ito). */
    private static final List<String> COLOURS =
            List.of("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000");

    private final StringBuilder svg = new StringBuilder();

    private AllocationChart() {}

    static String of(List<PolicyResult> results) {
        List<String> workloads =
                results.stream().map(PolicyResult::workload).distinct().toList();
        AllocationChart chart = new AllocationChart();
        int height = PANEL * workloads.size();
        chart.line(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                        + " font-size=\"12\">",
                WIDTH, height);
        chart.line("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, height);
        for (int i = 0; i < workloads.size(); i++) {
            String workload = workloads.get(i);
            chart.line("<g transform=\"translate(0 %d)\">", i * PANEL);
            chart.panel(
                    workload,
                    results.stream()
                            .filter(result -> result.workload().equals(workload))
                            .toList());
            chart.line("</g>");
        }
        chart.line("</svg>");
        return chart.svg.toString();
    }

    private void panel(String workload, List<PolicyResult> results) {
        double highest = results.stream()
                .mapToDouble(result -> result.allocated(TO).mean())
                .max()
                .orElse(100);
        int top = (int) Math.min(100, 5 * Math.ceil((highest + 1) / 5));
        line("<text x=\"%d\" y=\"24\" font-size=\"15\">%s: devices in use, %% of all</text>", LEFT, escaped(workload));
        for (int value = FROM; value <= top; value += 10) {
            line(
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>"
                            + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d</text>",
                    LEFT, LEFT + PLOT_WIDTH, y(value, top), y(value, top), LEFT - 6, y(value, top) + 4, value);
        }
        for (int asked = FROM; asked <= TO; asked += 10) {
            line("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>", x(asked), TOP + PLOT_HEIGHT + 18, asked);
        }
        line(
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">devices asked for, %% of all</text>",
                LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 36);
        for (int i = 0; i < results.size(); i++) {
            curve(results.get(i), i, top);
        }
    }

    private void curve(PolicyResult result, int number, int top) {
        String colour = COLOURS.get(number % COLOURS.size());
        StringBuilder points = new StringBuilder();
        for (int asked = FROM; asked <= TO; asked++) {
            double value = Math.max(FROM, result.allocated(asked).mean());
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(asked), y(value, top)));
        }
        line(
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>",
                colour, points.toString().strip());
        int row = TOP + 14 + 20 * number;
        int at = LEFT + PLOT_WIDTH + 16;
        line(
                "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s %.2f</text>",
                at,
                row - 6,
                colour,
                at + 20,
                row,
                result.policy().label(),
                result.allocated(TO).mean());
    }

    private static double x(int asked) {
        return LEFT + (double) PLOT_WIDTH * (asked - FROM) / (TO - FROM);
    }

    private static double y(double value, int top) {
        return TOP + PLOT_HEIGHT * (top - value) / (top - FROM);
    }

    private void line(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private static String escaped(String text) {
        return text.chars()
                .mapToObj(c -> switch (c) {
                    case '<' -> "&lt;";
                    case '>' -> "&gt;";
                    case '&' -> "&amp;";
                    default -> Character.toString(c);
                })
                .collect(Collectors.joining());
    }
}
