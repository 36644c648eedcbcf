package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.estimate.Sample.Skipped;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Accuracy over all rows, over those that state all, and for each source; for people and for scripts. */
final class AccuracyReport {
    /** Raised when a script that read the last one could not read this one. */
    private static final int SCHEMA = 1;

    private static final int SHOWN_WORST = 15;

    private final List<Sample> samples;
    private final List<Skipped> skipped;

    AccuracyReport(Samples samples) {
        this.samples = samples.used();
        this.skipped = samples.skipped();
    }

    private Map<String, List<Sample>> bySource() {
        Map<String, List<Sample>> groups = new TreeMap<>();
        samples.forEach(sample -> groups.computeIfAbsent(sample.group(), group -> new ArrayList<>())
                .add(sample));
        return groups;
    }

    private List<Sample> published(boolean onlyComplete) {
        return samples.stream()
                .filter(sample -> !sample.group().equals(MegatronRows.GROUP)
                        && !sample.group().equals(PhaseFile.GROUP))
                .filter(sample -> sample.isComplete() || !onlyComplete)
                .toList();
    }

    private List<Sample> complete() {
        return samples.stream().filter(Sample::isComplete).toList();
    }

    private Map<String, Accuracy> lines() {
        Map<String, Accuracy> lines = new LinkedHashMap<>();
        lines.put("all", Accuracy.of(samples));
        lines.put("all that state everything", Accuracy.of(complete()));
        lines.put("after one iteration", Accuracy.afterOneIteration(samples));
        lines.put("published, sequence, micro-batch and checkpointing stated", Accuracy.of(published(true)));
        bySource().forEach((group, rows) -> lines.put(group, Accuracy.of(rows)));
        return lines;
    }

    String text(boolean withRows) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%-58s %5s %8s %8s %8s %8s %8s%n",
                "SOURCE",
                "ROWS",
                "MEDIAN",
                "P90",
                "UNDER",
                "ABOVE",
                "WIDEST"));
        lines().forEach((name, accuracy) -> text.append(String.format(
                Locale.ROOT,
                "%-58s %5d %7.2f%% %7.2f%% %7.2f%% %7.2f%% %7.2f%%%n",
                name,
                accuracy.rows(),
                accuracy.medianErrorPercent(),
                accuracy.p90ErrorPercent(),
                accuracy.underPercent(),
                accuracy.upperBelowMeasuredPercent(),
                accuracy.widestUpperPercent())));
        text.append(
                "UNDER: more than 5 % too low. ABOVE: measured above the interval. WIDEST: its end above the point.\n");
        text.append(withRows ? "\nAll rows:\n" : "\nWorst rows:\n");
        samples.stream()
                .sorted(Comparator.comparingDouble((Sample sample) -> -Math.abs(sample.error())))
                .limit(withRows ? samples.size() : SHOWN_WORST)
                .forEach(sample -> text.append(line(sample)));
        text.append("\nNot used: ").append(skipped.size()).append(" rows\n");
        reasons().forEach((reason, count) -> text.append(String.format(Locale.ROOT, "%5d  %s%n", count, reason)));
        return text.toString();
    }

    private static String line(Sample sample) {
        return String.format(
                Locale.ROOT,
                "%+7.1f%%  %8.2f GiB estimated, %8.2f measured  %s%n",
                100 * sample.error(),
                sample.point() / (1L << 30),
                sample.measured() / (1L << 30),
                sample.id());
    }

    private Map<String, Integer> reasons() {
        Map<String, Integer> reasons = new TreeMap<>();
        skipped.forEach(row -> reasons.merge(row.group() + ": " + row.reason(), 1, Integer::sum));
        return reasons;
    }

    /** One line. */
    String json() {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA);
        fill(root, Accuracy.of(samples));
        root.put("skippedRows", skipped.size());
        fill(root.putObject("complete"), Accuracy.of(complete()));
        fill(root.putObject("publishedComplete"), Accuracy.of(published(true)));
        fill(root.putObject("published"), Accuracy.of(published(false)));
        fill(root.putObject("afterOneIteration"), Accuracy.afterOneIteration(samples));
        ArrayNode sources = root.putArray("sources");
        bySource().forEach((group, rows) -> fill(sources.addObject().put("source", group), Accuracy.of(rows)));
        ArrayNode reasons = root.putArray("skipped");
        skipped.forEach(row -> reasons.addObject()
                .put("source", row.group())
                .put("id", row.id())
                .put("reason", row.reason()));
        ArrayNode rows = root.putArray("measuredRows");
        samples.forEach(sample -> rows.addObject()
                .put("source", sample.group())
                .put("id", sample.id())
                .put("complete", sample.isComplete())
                .put("measured", Math.round(sample.measured()))
                .put("estimated", (long) sample.point())
                .put("upper", (long) sample.upper())
                .put("errorPercent", 100 * sample.error()));
        return root.toString();
    }

    private static void fill(ObjectNode node, Accuracy accuracy) {
        node.put("rows", accuracy.rows())
                .put("medianErrorPercent", accuracy.medianErrorPercent())
                .put("p90ErrorPercent", accuracy.p90ErrorPercent())
                .put("underPercent", accuracy.underPercent())
                .put("upperBelowMeasuredPercent", accuracy.upperBelowMeasuredPercent())
                .put("widestUpperPercent", accuracy.widestUpperPercent());
    }
}
