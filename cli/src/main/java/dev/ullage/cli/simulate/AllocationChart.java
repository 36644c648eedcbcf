package dev.ullage.cli.simulate;

import dev.ullage.cli.simulate.ChartCanvas.Anchor;
import dev.ullage.cli.simulate.ChartCanvas.Point;
import dev.ullage.coordinator.simulation.PolicyResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Devices in use over devices asked for, one panel for each workload and one line for each policy. */
final class AllocationChart implements ChartFile.Drawing {
    static final int WIDTH = 720;
    private static final int PANEL = 340;
    private static final int LEFT = 60;
    private static final int TOP = 46;
    private static final int PLOT_WIDTH = 500;
    private static final int PLOT_HEIGHT = 240;
    private static final int TITLE = 15;
    private static final int SMALL = 12;
    /** From here on policies differ. */
    private static final int FROM = 60;

    private static final int TO = 130;
    /** Told apart by people who see few colours, too (Okabe and Ito). */
    static final List<String> COLOURS =
            List.of("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000");

    private final List<PolicyResult> results;
    private final List<String> workloads;

    AllocationChart(List<PolicyResult> results) {
        this.results = List.copyOf(results);
        this.workloads = results.stream().map(PolicyResult::workload).distinct().toList();
    }

    int height() {
        return PANEL * workloads.size();
    }

    @Override
    public void on(ChartCanvas canvas) {
        for (int i = 0; i < workloads.size(); i++) {
            String workload = workloads.get(i);
            panel(
                    canvas,
                    i * PANEL,
                    workload,
                    results.stream()
                            .filter(result -> result.workload().equals(workload))
                            .toList());
        }
    }

    private static void panel(ChartCanvas canvas, int from, String workload, List<PolicyResult> results) {
        double highest = results.stream()
                .mapToDouble(result -> result.allocated(TO).mean())
                .max()
                .orElse(100);
        int top = (int) Math.max(FROM + 5, Math.min(100, 5 * Math.ceil((highest + 1) / 5)));
        canvas.text(workload + ": devices in use, % of all", new Point(LEFT, from + 24), TITLE, Anchor.START);
        for (int value = FROM; value <= top; value += 10) {
            double y = y(from, value, top);
            canvas.line(new Point(LEFT, y), new Point(LEFT + PLOT_WIDTH, y), "#dddddd");
            canvas.text(Integer.toString(value), new Point(LEFT - 6, y + 4), SMALL, Anchor.END);
        }
        int under = from + TOP + PLOT_HEIGHT;
        for (int asked = FROM; asked <= TO; asked += 10) {
            canvas.text(Integer.toString(asked), new Point(x(asked), under + 18), SMALL, Anchor.MIDDLE);
        }
        canvas.text(
                "devices asked for, % of all", new Point(LEFT + PLOT_WIDTH / 2.0, under + 36), SMALL, Anchor.MIDDLE);
        for (int i = 0; i < results.size(); i++) {
            curve(canvas, from, results.get(i), i, top);
        }
    }

    private static void curve(ChartCanvas canvas, int from, PolicyResult result, int number, int top) {
        String colour = COLOURS.get(number % COLOURS.size());
        List<Point> points = new ArrayList<>();
        for (int asked = FROM; asked <= TO; asked++) {
            double value = Math.max(FROM, result.allocated(asked).mean());
            points.add(new Point(x(asked), y(from, value, top)));
        }
        canvas.curve(points, colour);
        double row = from + TOP + 14 + 20.0 * number;
        double at = LEFT + PLOT_WIDTH + 16;
        canvas.box(new Point(at, row - 6), 14, 4, colour);
        String last = String.format(
                Locale.ROOT,
                "%s %.2f",
                result.policy().label(),
                result.allocated(TO).mean());
        canvas.text(last, new Point(at + 20, row), SMALL, Anchor.START);
    }

    private static double x(int asked) {
        return LEFT + (double) PLOT_WIDTH * (asked - FROM) / (TO - FROM);
    }

    private static double y(int from, double value, int top) {
        return from + TOP + PLOT_HEIGHT * (top - value) / (top - FROM);
    }
}
