package dev.ullage.coordinator.metrics;

import dev.ullage.common.protocol.ToOperator.ClusterStatus;
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
    private final RolloutTimes rolloutTimes = new RolloutTimes();
    private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();

    public MetricsPage(boolean dcgmAliases) {
        this(dcgmAliases, ClusterMetrics.Bounds.DEFAULT);
    }

    MetricsPage(boolean dcgmAliases, ClusterMetrics.Bounds bounds) {
        this.dcgmAliases = dcgmAliases;
        this.bounds = bounds;
    }

    /** @param took how long it took to hear it */
    public synchronized byte[] render(ClusterStatus status, Duration took) {
        rolloutTimes.see(status);
        Series series = ClusterMetrics.of(status, bounds, dcgmAliases);
        series.put(Metric.SCRAPE_SECONDS, List.of(), took.toNanos() / NANOS_PER_SECOND);
        List<MetricSnapshot> snapshots = new ArrayList<>(series.snapshots());
        snapshots.add(rolloutTimes.snapshot());
        return written(snapshots);
    }

    /** Nobody answered: that, and what is known of this process. */
    public byte[] renderNobody() {
        return written(ClusterMetrics.ofNobody().snapshots());
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
