package dev.ullage.cli.show;

import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.coordinator.simulation.LoadOutcome;
import dev.ullage.coordinator.simulation.LoadResult;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What became of jobs that came and went, for people. */
public final class LoadTable {
    private static final double MINUTE = 60;

    private LoadTable() {}

    public static String render(List<LoadResult> results, Terminal terminal) {
        TextTable table = new TextTable()
                .text("WORKLOAD")
                .number("LOAD")
                .text("MODE")
                .number("WAIT MEAN")
                .number("P50", 4)
                .number("P95", 5)
                .number("P99", 3)
                .number("USED %")
                .number("+/-", 1)
                .number("GIVEN %", 2)
                .number("DONE", 6)
                .number("HIGH AT ONCE %")
                .number("STILL WAITING", 7);
        for (LoadResult result : results) {
            List<String> cells = List.of(
                    result.workload(),
                    String.format(Locale.ROOT, "%.2f", result.load()),
                    result.mode().label(),
                    minutes(result, LoadOutcome::meanWait),
                    minutes(result, outcome -> outcome.wait(50)),
                    minutes(result, outcome -> outcome.wait(95)),
                    minutes(result, outcome -> outcome.wait(99)),
                    number("%.1f", result.over(LoadOutcome::used).mean()),
                    number("%.1f", result.over(LoadOutcome::used).deviation()),
                    number("%.1f", result.over(LoadOutcome::given).mean()),
                    number("%.0f", result.over(LoadOutcome::done).mean()),
                    number("%.1f", result.over(LoadOutcome::highAtOncePercent).mean()),
                    number("%.0f", result.over(LoadOutcome::stillWaiting).mean()));
            table.row(cells.stream().map(Cell::of).toList());
        }
        return "Means over the seeds; waits in minutes, of jobs with devices."
                + " Nothing that runs is stopped: no work is lost.\n"
                + table.render(terminal);
    }

    private static String minutes(LoadResult result, ToDoubleFunction<LoadOutcome> seconds) {
        return number("%.1f", result.over(seconds).mean() / MINUTE);
    }

    private static String number(String format, double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
    }
}
