package dev.ullage.cli.estimate;

import dev.ullage.cli.estimate.Fit.Verdict;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Advice.Change;
import dev.ullage.coordinator.planning.estimate.Part;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.RankEstimate.PhasePoint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** An answer for people. */
final class EstimateText {
    private static final int SHOWN_CHANGES = 8;

    private EstimateText() {}

    static String of(EstimateAnswer answer) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%s, %s; GiB at the peak of each phase%n%n",
                Counts.of(answer.ranks().size(), "rank"),
                Counts.of(answer.stages().size(), "pipeline stage")));
        append(text, phases(answer));
        text.append("\nOf which, each at its fullest:\n\n");
        append(text, parts(answer));
        if (!answer.hostPerNode().isZero()) {
            text.append("\nHost memory for what is offloaded: ")
                    .append(answer.hostPerNode())
                    .append(" on a node of ")
                    .append(Math.min(answer.ranksPerNode(), answer.ranks().size()))
                    .append(" ranks\n");
        }
        if (!answer.reading().assumptions().isEmpty()) {
            text.append("\nAssumed:\n");
            answer.reading()
                    .assumptions()
                    .forEach(line -> text.append("  ").append(line).append('\n'));
        }
        advice(answer, text);
        return text.toString();
    }

    /** Ranks that are alike stand in one line. */
    private static Map<String, List<Fit>> alike(EstimateAnswer answer) {
        Map<String, List<Fit>> groups = new LinkedHashMap<>();
        for (Fit fit : answer.ranks()) {
            String key = fit.need().stage() + " " + fit.limit();
            groups.computeIfAbsent(key, unused -> new ArrayList<>()).add(fit);
        }
        return groups;
    }

    private static List<List<String>> phases(EstimateAnswer answer) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of(
                "RANKS",
                "STAGE",
                "LAYERS",
                "INIT",
                "FORWARD",
                "BACKWARD",
                "OPTIMIZER",
                "STEADY",
                "PEAK",
                "RANGE",
                "LIMIT",
                "VERDICT"));
        for (List<Fit> group : alike(answer).values()) {
            Fit first = group.get(0);
            RankEstimate need = first.need();
            List<String> line = new ArrayList<>();
            line.add(group.size() == 1 ? String.valueOf(first.rank()) : group.size() + " from " + first.rank());
            line.add(String.valueOf(need.stage()));
            line.add(String.valueOf(need.layers().size()));
            for (PhasePoint point : PhasePoint.values()) {
                line.add(gibibytes(need.at(point)));
            }
            line.add(gibibytes(need.peak()));
            line.add(gibibytes(need.lower()) + "-" + gibibytes(need.upper()));
            line.add(first.limit().map(EstimateText::gibibytes).orElse("-"));
            line.add(first.verdict().text()
                    + first.room().map(EstimateText::room).orElse(""));
            lines.add(line);
        }
        return lines;
    }

    private static String room(long bytes) {
        double gibibytes = Math.abs(bytes) / (double) MemoryBytes.GIBIBYTE;
        return String.format(Locale.ROOT, ", %.1f %s", gibibytes, bytes < 0 ? "too much" : "left");
    }

    private static List<List<String>> parts(EstimateAnswer answer) {
        List<List<String>> lines = new ArrayList<>();
        List<String> heading = new ArrayList<>(List.of("STAGE"));
        for (Part part : Part.values()) {
            heading.add(part.name());
        }
        lines.add(heading);
        for (RankEstimate stage : answer.stages()) {
            List<String> line = new ArrayList<>(List.of(String.valueOf(stage.stage())));
            for (Part part : Part.values()) {
                line.add(gibibytes(stage.part(part)));
            }
            lines.add(line);
        }
        return lines;
    }

    private static void advice(EstimateAnswer answer, StringBuilder text) {
        boolean tight = answer.ranks().stream()
                .anyMatch(fit -> fit.verdict() == Verdict.DOES_NOT_FIT || fit.verdict() == Verdict.MAY_FIT);
        if (!tight) {
            return;
        }
        text.append("\nWhat saves memory, each alone, on the rank that needs most:\n\n");
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of("CHANGE", "SAVES", "THEN AT MOST", "FITS", "COST"));
        answer.alone().stream().limit(SHOWN_CHANGES).forEach(change -> lines.add(line(change)));
        append(text, lines);
        if (answer.together().isEmpty()) {
            text.append("\nNo combination of these makes everything fit.\n");
            return;
        }
        text.append("\nThe cheapest that makes everything fit: ");
        text.append(String.join(
                ", then ", answer.together().get().stream().map(Change::what).toList()));
        text.append('\n');
    }

    private static List<String> line(Change change) {
        return List.of(
                change.what(),
                gibibytes(change.saves()),
                gibibytes(change.upper()),
                change.fits() ? "yes" : "no",
                change.cost());
    }

    static String gibibytes(MemoryBytes bytes) {
        return String.format(Locale.ROOT, "%.2f", bytes.value() / (double) MemoryBytes.GIBIBYTE);
    }

    /** Columns as wide as their longest cell. */
    private static void append(StringBuilder text, List<List<String>> lines) {
        int columns = lines.get(0).size();
        int[] widths = new int[columns];
        for (List<String> line : lines) {
            for (int column = 0; column < columns; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        for (List<String> line : lines) {
            StringBuilder row = new StringBuilder();
            for (int column = 0; column < columns; column++) {
                String cell = line.get(column);
                row.append(cell).append(" ".repeat(widths[column] - cell.length() + 2));
            }
            text.append(row.toString().stripTrailing()).append('\n');
        }
    }
}
