package dev.ullage.cli.show;

import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.coordinator.simulation.AllocationCurve;
import dev.ullage.coordinator.simulation.PolicyResult;
import dev.ullage.coordinator.simulation.Published;
import dev.ullage.coordinator.simulation.Published.Figure;
import dev.ullage.coordinator.simulation.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the policies made of a trace, beside what was published, for people. */
public final class AllocationTable {
    /** Percent of the capacity asked for at which figures are shown. */
    public static final List<Integer> PERCENTS = List.of(80, 90, 100, 130);

    private static final int LAST = 130;

    private AllocationTable() {}

    public static String render(List<PolicyResult> results, Published published, Terminal terminal) {
        return "Devices in use, percent of all, when 80, 90, 100 and 130 % of them had been asked for\n"
                + allocated(results, published).render(terminal)
                + "\nStranded devices (room that typical jobs cannot use): percent of all, and in brackets of the idle ones\n"
                + stranded(results, published).render(terminal);
    }

    private static TextTable allocated(List<PolicyResult> results, Published published) {
        TextTable table = new TextTable()
                .text("WORKLOAD")
                .text("POLICY")
                .number("80 %", 3)
                .number("90 %", 4)
                .number("100 %")
                .number("130 %")
                .number("+/-")
                .number("MIN", 1)
                .number("MAX", 2)
                .number("PUBLISHED")
                .number("DIFFERENCE")
                .number("FIRST REFUSAL", 5)
                .number("REFUSED", 6);
        for (PolicyResult result : results) {
            Spread last = result.allocated(LAST);
            List<String> cells =
                    new ArrayList<>(List.of(result.workload(), result.policy().label()));
            PERCENTS.forEach(percent -> cells.add(two(result.allocated(percent).mean())));
            cells.addAll(List.of(two(last.deviation()), two(last.min()), two(last.max())));
            cells.add(published
                    .mean(result.workload(), result.policy(), Figure.ALLOCATED, LAST)
                    .map(AllocationTable::two)
                    .orElse("-"));
            cells.add(published
                    .mean(result.workload(), result.policy(), Figure.ALLOCATED, LAST)
                    .map(mean -> String.format(Locale.ROOT, "%+.2f", last.mean() - mean))
                    .orElse("-"));
            double first = result.over(AllocationCurve::firstRefusal).mean();
            cells.add(Double.isNaN(first) ? "-" : String.format(Locale.ROOT, "at %.1f %%", first));
            cells.add(String.format(
                    Locale.ROOT,
                    "%.0f of %.0f",
                    result.over(AllocationCurve::refused).mean(),
                    result.over(AllocationCurve::arrived).mean()));
            table.row(cells.stream().map(Cell::of).toList());
        }
        return table;
    }

    private static TextTable stranded(List<PolicyResult> results, Published published) {
        TextTable table = new TextTable().text("WORKLOAD").text("POLICY");
        PERCENTS.forEach(percent -> table.number(percent + " %"));
        PERCENTS.forEach(percent -> table.number("PUBLISHED " + percent + " %", percent));
        for (PolicyResult result : results) {
            List<String> cells =
                    new ArrayList<>(List.of(result.workload(), result.policy().label()));
            PERCENTS.forEach(percent -> cells.add(pair(
                    result.stranded(percent).mean(),
                    result.strandedOfIdle(percent).mean())));
            PERCENTS.forEach(percent -> cells.add(published
                    .mean(result.workload(), result.policy(), Figure.STRANDED, percent)
                    .map(mean -> pair(
                            mean,
                            published
                                    .mean(result.workload(), result.policy(), Figure.STRANDED_OF_IDLE, percent)
                                    .orElse(Double.NaN)))
                    .orElse("-")));
            table.row(cells.stream().map(Cell::of).toList());
        }
        return table;
    }

    private static String two(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    private static String pair(double ofAll, double ofIdle) {
        return String.format(Locale.ROOT, "%.2f (%.1f)", ofAll, ofIdle);
    }
}
