package dev.ullage.coordinator.metrics;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.coordinator.journal.DecisionCounts;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What this node's {@code /metrics} says, in Prometheus' text format. It remembers only which plans it has counted;
 * everything else is made anew from what the coordinator said.
 */
public final class MetricsPage {
    public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private static final double NANOS_PER_SECOND = 1e9;
    /** The process has one JVM, however often its server starts. */
    private static final PrometheusRegistry JVM = jvm();

    private final boolean dcgmAliases;
    private final ClusterMetrics.Bounds bounds;
    private final Supplier<DecisionCounts> decisions;
    private final RolloutTimes rolloutTimes = new RolloutTimes();
    private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();

    public MetricsPage(boolean dcgmAliases) {
        this(dcgmAliases, () -> DecisionCounts.NONE);
    }

    /** @param decisions what became of this process' decision records, at any time and on any thread */
    public MetricsPage(boolean dcgmAliases, Supplier<DecisionCounts> decisions) {
        this(dcgmAliases, ClusterMetrics.Bounds.DEFAULT, decisions);
    }

    MetricsPage(boolean dcgmAliases, ClusterMetrics.Bounds bounds) {
        this(dcgmAliases, bounds, () -> DecisionCounts.NONE);
    }

    private MetricsPage(boolean dcgmAliases, ClusterMetrics.Bounds bounds, Supplier<DecisionCounts> decisions) {
        this.decisions = decisions;
        this.dcgmAliases = dcgmAliases;
        this.bounds = bounds;
    }

    /** @param took how long it took to hear it */
    public synchronized byte[] render(ClusterStatus status, Duration took) {
        rolloutTimes.see(status);
        Series series = ClusterMetrics.of(status, bounds, dcgmAliases);
        series.put(Metric.SCRAPE_SECONDS, List.of(), took.toNanos() / NANOS_PER_SECOND);
        putDecisions(series);
        List<MetricSnapshot> snapshots = new ArrayList<>(series.snapshots());
        snapshots.add(rolloutTimes.snapshot());
        status.queue().map(QueueWaits::of).ifPresent(snapshots::add);
        return written(snapshots);
    }

    /** Nobody answered: that, and what is known of this process. */
    public byte[] renderNobody() {
        Series series = ClusterMetrics.ofNobody();
        putDecisions(series);
        return written(series.snapshots());
    }

    private void putDecisions(Series series) {
        DecisionCounts counts = decisions.get();
        series.put(Metric.DECISIONS_WRITTEN, List.of(), counts.written());
        series.put(Metric.DECISIONS_DROPPED, List.of(), counts.dropped());
    }

    private byte[] written(List<MetricSnapshot> cluster) {
        List<MetricSnapshot> all = new ArrayList<>(cluster);
        JVM.scrape().forEach(all::add);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            writer.write(text, new MetricSnapshots(all));
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot fail to be written", e);
        }
        return text.toByteArray();
    }

    private static PrometheusRegistry jvm() {
        PrometheusRegistry registry = new PrometheusRegistry();
        JvmMetrics.builder().register(registry);
        return registry;
    }
}
