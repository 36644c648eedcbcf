package dev.ullage.coordinator.metrics;

import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.QueueFigures.Bucket;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;

/** How long jobs waited, as the coordinator counted it. */
final class QueueWaits {
    private static final double MILLIS_PER_SECOND = 1000.0;

    private QueueWaits() {}

    static MetricSnapshot of(QueueFigures queue) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (Bucket bucket : queue.waits()) {
            double bound =
                    bucket.upToSeconds().isPresent() ? bucket.upToSeconds().getAsLong() : Double.POSITIVE_INFINITY;
            buckets.bucket(bound, bucket.count());
        }
        return HistogramSnapshot.builder()
                .name(Metric.QUEUE_WAIT_SECONDS.baseName())
                .help(Metric.QUEUE_WAIT_SECONDS.help())
                .dataPoint(HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(buckets.build())
                        .sum(queue.waitedMillis() / MILLIS_PER_SECOND)
                        .build())
                .build();
    }
}
