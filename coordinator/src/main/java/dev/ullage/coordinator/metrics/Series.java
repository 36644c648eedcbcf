package dev.ullage.coordinator.metrics;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.protocol.TurnReport.WaitLengths;
import dev.ullage.common.protocol.WriteTimes;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Gathers the series of one scrape. What is not known makes no series, never a zero. Two values for the same labels
 * would make the whole page unreadable, so the first one stands.
 */
final class Series {
    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final double MICROS_PER_SECOND = 1e6;

    private final Map<Metric, Map<Labels, Double>> values = new EnumMap<>(Metric.class);
    private final Map<Metric, Map<Labels, HistogramDataPointSnapshot>> histograms = new EnumMap<>(Metric.class);
    private final Map<List<String>, Named> newest = new LinkedHashMap<>();

    /** What took at most so long, and longer than the bucket before. */
    private record Bucket(double seconds, long count) {}

    private record Named(List<String> values, Labels labels) {}

    void put(Metric metric, List<String> labels, double value) {
        if (metric.kind() == Metric.Kind.COUNTER && !(value >= 0)) {
            return;
        }
        Labels named = named(metric.labels(), labels);
        values.computeIfAbsent(metric, key -> new LinkedHashMap<>()).putIfAbsent(named, value);
    }

    /** The format has no other numbers than doubles; whole ones are exact up to 8 PiB. */
    void put(Metric metric, List<String> labels, long value) {
        put(metric, labels, (double) value);
    }

    void put(Metric metric, List<String> labels, boolean value) {
        put(metric, labels, value ? 1L : 0L);
    }

    void putBytes(Metric metric, List<String> labels, Optional<MemoryBytes> amount) {
        amount.ifPresent(known -> put(metric, labels, known.value()));
    }

    void putMillis(Metric metric, List<String> labels, long millis) {
        put(metric, labels, millis / MILLIS_PER_SECOND);
    }

    void put(Metric metric, List<String> labels, WaitLengths waits, long sumMillis) {
        List<Bucket> buckets = waits.upTo().stream()
                .map(length -> new Bucket(length.millis() / MILLIS_PER_SECOND, length.waits()))
                .toList();
        putHistogram(metric, labels, buckets, waits.longer(), sumMillis / MILLIS_PER_SECOND);
    }

    void put(Metric metric, List<String> labels, WriteTimes writes) {
        List<Bucket> buckets = writes.upTo().stream()
                .map(length -> new Bucket(length.micros() / MICROS_PER_SECOND, length.writes()))
                .toList();
        putHistogram(metric, labels, buckets, writes.longer(), writes.sumMicros() / MICROS_PER_SECOND);
    }

    /** What is no histogram, as a faulty worker may say, is left out. */
    private void putHistogram(Metric metric, List<String> labels, List<Bucket> buckets, long longer, double sum) {
        List<Double> bounds = new ArrayList<>();
        List<Number> counts = new ArrayList<>();
        double before = Double.NEGATIVE_INFINITY;
        for (Bucket bucket : buckets) {
            if (bucket.seconds() < 0 || bucket.seconds() <= before || bucket.count() < 0) {
                return;
            }
            before = bucket.seconds();
            bounds.add(bucket.seconds());
            counts.add(bucket.count());
        }
        bounds.add(Double.POSITIVE_INFINITY);
        counts.add(Math.max(0, longer));
        Labels named = named(metric.labels(), labels);
        histograms
                .computeIfAbsent(metric, key -> new LinkedHashMap<>())
                .putIfAbsent(
                        named,
                        new HistogramDataPointSnapshot(
                                ClassicHistogramBuckets.of(bounds, counts), sum, named, Exemplars.EMPTY, 0));
    }

    void putInfo(Metric metric, List<String> labels) {
        put(metric, labels, 1L);
    }

    List<MetricSnapshot> snapshots() {
        List<MetricSnapshot> snapshots = new ArrayList<>();
        values.forEach((metric, series) -> snapshots.add(snapshot(metric, series)));
        histograms.forEach((metric, series) -> snapshots.add(new HistogramSnapshot(
                new MetricMetadata(metric.baseName(), metric.help()), List.copyOf(series.values()))));
        return snapshots;
    }

    /**
     * Most series come after others with the same names, of the same device or rank: what was made for those is kept.
     */
    private Labels named(List<String> names, List<String> labels) {
        Named known = newest.get(names);
        if (known == null || !known.values().equals(labels)) {
            known = new Named(
                    labels,
                    Labels.of(names, labels.stream().map(Series::encodable).toList()));
            newest.put(names, known);
        }
        return known.labels();
    }

    private static MetricSnapshot snapshot(Metric metric, Map<Labels, Double> series) {
        MetricMetadata metadata = new MetricMetadata(metric.baseName(), metric.help());
        return switch (metric.kind()) {
            case GAUGE ->
                new GaugeSnapshot(
                        metadata,
                        series.entrySet().stream()
                                .map(entry -> new GaugeDataPointSnapshot(entry.getValue(), entry.getKey(), null))
                                .toList());
            case COUNTER ->
                new CounterSnapshot(
                        metadata,
                        series.entrySet().stream()
                                .map(entry -> new CounterDataPointSnapshot(entry.getValue(), entry.getKey(), null, 0))
                                .toList());
            case INFO ->
                new InfoSnapshot(
                        metadata,
                        series.keySet().stream().map(InfoDataPointSnapshot::new).toList());
            case HISTOGRAM -> throw new IllegalArgumentException(metric + " is not made of single values");
        };
    }

    /** Half a character outside the basic plane has no form in UTF-8; two names that differ only there are one. */
    static String encodable(String value) {
        for (int i = 0; i < value.length(); i++) {
            if (Character.isSurrogate(value.charAt(i))) {
                return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
            }
        }
        return value;
    }
}
