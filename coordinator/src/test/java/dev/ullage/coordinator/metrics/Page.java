package dev.ullage.coordinator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page read back by the rules of the text format, not by the library that wrote it. */
record Page(String text, Map<String, Double> values) {
    private static final Pattern COMMENT =
            Pattern.compile("# (HELP [a-zA-Z_:][a-zA-Z0-9_:]* .+|TYPE [a-zA-Z_:][a-zA-Z0-9_:]* (gauge|counter|histogram"
                    + "|summary|untyped))");
    private static final Pattern SERIES =
            Pattern.compile("(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(\\{(?<labels>.*)\\})? (?<value>\\S+)", Pattern.DOTALL);
    private static final Pattern LABEL =
            Pattern.compile("\\G(?<name>[a-zA-Z_][a-zA-Z0-9_]*)=\"(?<value>([^\"\\\\\\n]|\\\\[\\\\n\"])*)\",?");

    static Page of(ClusterStatus status) {
        return of(status, new MetricsPage(false));
    }

    static Page of(ClusterStatus status, MetricsPage page) {
        return parse(new String(page.render(status, Duration.ofMillis(3)), StandardCharsets.UTF_8));
    }

    /** Fails at the first line that breaks a rule, and at a series that is there twice. */
    static Page parse(String text) {
        assertThat(text).endsWith("\n");
        Map<String, Double> values = new LinkedHashMap<>();
        for (String line : List.of(text.split("\n"))) {
            if (line.startsWith("#")) {
                assertThat(line).matches(COMMENT);
                continue;
            }
            Matcher series = SERIES.matcher(line);
            assertThat(series.matches()).as(line).isTrue();
            String labels = series.group("labels");
            String key = series.group("name") + (labels == null ? "" : sorted(labels));
            assertThat(values.put(key, value(series.group("value"))))
                    .as("twice: " + line)
                    .isNull();
        }
        return new Page(text, values);
    }

    private static double value(String text) {
        return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
    }

    private static Map<String, String> sorted(String text) {
        Map<String, String> labels = new TreeMap<>();
        Matcher label = LABEL.matcher(text);
        int end = 0;
        while (label.find()) {
            labels.put(label.group("name"), unescaped(label.group("value")));
            end = label.end();
        }
        assertThat(end).as(text).isEqualTo(text.length());
        return labels;
    }

    private static String unescaped(String value) {
        return Pattern.compile("\\\\(.)")
                .matcher(value)
                .replaceAll(match -> Matcher.quoteReplacement(match.group(1).equals("n") ? "\n" : match.group(1)));
    }

    /** The value of {@code name{a=1, b=2}}, labels in alphabetical order. */
    double get(String series) {
        assertThat(values).containsKey(series);
        return values.getOrDefault(series, Double.NaN);
    }

    /** The names of Ullage's own metrics as declared, without the JVM's. */
    Set<String> names() {
        Set<String> names = new TreeSet<>();
        text.lines()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ")[2])
                .filter(name -> name.startsWith("ullage_") || name.startsWith("DCGM_"))
                .forEach(names::add);
        return names;
    }

    List<String> seriesOf(String name) {
        return values.keySet().stream()
                .filter(series -> series.equals(name) || series.startsWith(name + "{"))
                .toList();
    }
}
