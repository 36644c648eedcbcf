package dev.ullage.cli.simulate;

import dev.ullage.cli.simulate.ChartCanvas.Anchor;
import dev.ullage.cli.simulate.ChartCanvas.Point;
import dev.ullage.coordinator.simulation.LoadOutcome;
import dev.ullage.coordinator.simulation.LoadResult;
import dev.ullage.coordinator.simulation.SharingMode;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What load does: for each workload how long jobs wait and how much of the devices is used, one group of bars for each
 * load and in it one bar for each mode.
 */
final class LoadChart implements ChartFile.Drawing {
    static final int WIDTH = 720;
    private static final int PANEL = 280;
    private static final int LEFT = 60;
    private static final int TOP = 46;
    private static final int PLOT_WIDTH = 500;
    private static final int PLOT_HEIGHT = 180;
    private static final int TITLE = 15;
    private static final int SMALL = 12;
    private static final int LINES = 4;
    private static final double GROUP = 0.8;
    private static final int SECONDS_PER_MINUTE = 60;

    private final List<LoadResult> results;
    private final List<String> workloads;
    private final List<Double> loads;
    private final List<SharingMode> modes;

    LoadChart(List<LoadResult> results) {
        this.results = List.copyOf(results);
        this.workloads = results.stream().map(LoadResult::workload).distinct().toList();
        this.loads = results.stream().map(LoadResult::load).distinct().sorted().toList();
        this.modes = results.stream().map(LoadResult::mode).distinct().toList();
    }

    int height() {
        return 2 * PANEL * workloads.size();
    }

    @Override
    public void on(ChartCanvas canvas) {
        int from = 0;
        for (String workload : workloads) {
            panel(canvas, from, workload, "mean wait, minutes", outcome -> outcome.meanWait() / SECONDS_PER_MINUTE);
            panel(canvas, from + PANEL, workload, "shares in use, % of all devices", LoadOutcome::used);
            from += 2 * PANEL;
        }
    }

    private void panel(
            ChartCanvas canvas, int from, String workload, String what, ToDoubleFunction<LoadOutcome> figure) {
        List<LoadResult> shown = results.stream()
                .filter(result -> result.workload().equals(workload))
                .toList();
        double top = roundTop(shown.stream()
                .mapToDouble(result -> result.over(figure).mean())
                .filter(value -> !Double.isNaN(value))
                .max()
                .orElse(0));
        canvas.text(workload + ": " + what, new Point(LEFT, from + 24), TITLE, Anchor.START);
        for (int i = 0; i <= LINES; i++) {
            double value = top * i / LINES;
            double y = y(from, value, top);
            canvas.line(new Point(LEFT, y), new Point(LEFT + PLOT_WIDTH, y), "#dddddd");
            canvas.text(number(value), new Point(LEFT - 6, y + 4), SMALL, Anchor.END);
        }
        for (LoadResult result : shown) {
            bar(canvas, from, result, result.over(figure).mean(), top);
        }
        int under = from + TOP + PLOT_HEIGHT;
        for (int i = 0; i < loads.size(); i++) {
            String load = String.format(Locale.ROOT, "%.2f", loads.get(i));
            canvas.text(load, new Point(LEFT + group() * (i + 0.5), under + 18), SMALL, Anchor.MIDDLE);
        }
        canvas.text("load", new Point(LEFT + PLOT_WIDTH / 2.0, under + 36), SMALL, Anchor.MIDDLE);
        for (int i = 0; i < modes.size(); i++) {
            double row = from + TOP + 14 + 20.0 * i;
            double at = LEFT + PLOT_WIDTH + 16;
            canvas.box(new Point(at, row - 10), 14, 10, colour(modes.get(i)));
            canvas.text(modes.get(i).label(), new Point(at + 20, row), SMALL, Anchor.START);
        }
    }

    /** What is not known, because nobody came, has no bar. */
    private void bar(ChartCanvas canvas, int from, LoadResult result, double value, double top) {
        if (Double.isNaN(value)) {
            return;
        }
        double width = group() * GROUP / modes.size();
        double x = LEFT
                + group() * (loads.indexOf(result.load()) + (1 - GROUP) / 2)
                + width * modes.indexOf(result.mode());
        double y = y(from, value, top);
        canvas.box(new Point(x, y), width, from + TOP + PLOT_HEIGHT - y, colour(result.mode()));
        canvas.text(number(value), new Point(x + width / 2, y - 3), SMALL, Anchor.MIDDLE);
    }

    private String colour(SharingMode mode) {
        return AllocationChart.COLOURS.get(modes.indexOf(mode) % AllocationChart.COLOURS.size());
    }

    private double group() {
        return (double) PLOT_WIDTH / loads.size();
    }

    /** A number that divides well, above all bars. */
    private static double roundTop(double highest) {
        double least = Math.max(highest, 1) * 1.05;
        double power = Math.pow(10, Math.floor(Math.log10(least)));
        for (double step : new double[] {1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8}) {
            if (step * power >= least) {
                return step * power;
            }
        }
        return 10 * power;
    }

    private static String number(double value) {
        return value == Math.rint(value) && value < 1e9
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.1f", value);
    }

    private static double y(int from, double value, double top) {
        return from + TOP + PLOT_HEIGHT * (top - value) / top;
    }
}
