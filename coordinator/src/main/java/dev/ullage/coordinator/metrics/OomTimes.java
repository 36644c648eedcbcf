package dev.ullage.coordinator.metrics;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * How many moves each job made after out-of-memory errors, and how long they took. A status shows the last moves again
 * and again: of each job the newest sequence that was counted is kept, and those whose time was. Sequences go on under
 * another coordinator; a job whose newest one is lower has begun anew. A job that the status has no more leaves the
 * page, so there are never more jobs on it than in a status. Not thread-safe.
 */
final class OomTimes {
    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final double[] UPPER_BOUNDS = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

    private final Counter moves = Counter.builder()
            .name(Metric.OOM_MOVES.baseName())
            .help(Metric.OOM_MOVES.help())
            .labelNames(Metric.OOM_MOVES.labels().toArray(String[]::new))
            .build();
    private final Histogram seconds = Histogram.builder()
            .name(Metric.OOM_APPLY_SECONDS.baseName())
            .help(Metric.OOM_APPLY_SECONDS.help())
            .classicOnly()
            .classicUpperBounds(UPPER_BOUNDS)
            .build();
    private final NavigableMap<JobId, Counted> jobs = new TreeMap<>();
    private Optional<CoordinatorToken> token = Optional.empty();

    /** What of one job is counted. */
    private static final class Counted {
        private long newest;
        private final Set<Long> timed = new HashSet<>();
        private final Set<List<String>> labels = new HashSet<>();
    }

    void see(ClusterStatus status) {
        Optional<CoordinatorToken> speaker = status.token();
        boolean isLate = speaker.isEmpty()
                || token.filter(known -> speaker.get().isOlderThan(known)).isPresent();
        if (isLate || status.ooms().isEmpty()) {
            return;
        }
        token = speaker;
        NavigableMap<JobId, List<OomMove>> byJob = new TreeMap<>();
        status.ooms().map(OomMoves::moves).orElse(List.of()).forEach(move -> byJob.computeIfAbsent(
                        move.directive().job(), job -> new ArrayList<>())
                .add(move));
        forgetAllBut(byJob.keySet());
        byJob.forEach((job, shown) -> count(jobs.computeIfAbsent(job, key -> new Counted()), shown));
    }

    List<MetricSnapshot> snapshots() {
        return List.of(moves.collect(), seconds.collect());
    }

    private void forgetAllBut(Set<JobId> shown) {
        jobs.forEach((job, counted) -> {
            if (!shown.contains(job)) {
                counted.labels.forEach(labels -> moves.remove(labels.toArray(String[]::new)));
            }
        });
        jobs.keySet().retainAll(shown);
    }

    private void count(Counted counted, List<OomMove> shown) {
        long newest = shown.stream()
                .mapToLong(move -> move.directive().sequence())
                .max()
                .orElse(0);
        if (newest < counted.newest) {
            counted.newest = 0;
            counted.timed.clear();
        }
        long before = counted.newest;
        counted.newest = newest;
        Set<Long> sequences = new HashSet<>();
        for (OomMove move : shown) {
            long sequence = move.directive().sequence();
            sequences.add(sequence);
            if (sequence > before) {
                List<String> labels = labels(move);
                counted.labels.add(labels);
                moves.labelValues(labels.toArray(String[]::new)).inc();
            }
            if (move.appliedMillis().isPresent() && counted.timed.add(sequence)) {
                seconds.observe(move.appliedMillis().getAsLong() / MILLIS_PER_SECOND);
            }
        }
        counted.timed.retainAll(sequences);
    }

    private static List<String> labels(OomMove move) {
        return List.of(
                Series.encodable(move.directive().job().value()),
                move.directive().level().name().toLowerCase(Locale.ROOT));
    }
}
