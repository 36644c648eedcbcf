package dev.ullage.coordinator.metrics;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How long settled plans took. A status shows the last plans again and again, so the newest one that was counted is
 * kept for each device: its plans settle in the order of their revisions. Revisions start anew with a coordinator, so
 * what was counted belongs to its token; an older coordinator's answer that comes late counts for nothing. Not
 * thread-safe.
 */
final class RolloutTimes {
    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final double[] UPPER_BOUNDS = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

    private final Histogram seconds = Histogram.builder()
            .name(Metric.ROLLOUT_SECONDS.baseName())
            .help(Metric.ROLLOUT_SECONDS.help())
            .classicOnly()
            .classicUpperBounds(UPPER_BOUNDS)
            .build();
    private Optional<CoordinatorToken> token = Optional.empty();
    private NavigableMap<DeviceId, Long> counted = new TreeMap<>();

    void see(ClusterStatus status) {
        Optional<CoordinatorToken> speaker = status.token();
        if (speaker.isEmpty()
                || token.filter(known -> speaker.get().isOlderThan(known)).isPresent()) {
            return;
        }
        if (!speaker.equals(token)) {
            token = speaker;
            counted = new TreeMap<>();
        }
        TreeSet<DeviceId> shown = new TreeSet<>();
        status.nodes().forEach(node -> node.devices()
                .forEach(device -> shown.add(device.info().id())));
        status.rollouts().forEach(rollout -> shown.add(rollout.device()));
        retain(shown);
        status.rollouts().stream()
                .filter(rollout -> rollout.state() == RolloutState.SETTLED)
                .forEach(this::count);
    }

    MetricSnapshot snapshot() {
        return seconds.collect();
    }

    private void retain(Set<DeviceId> shown) {
        counted.keySet().retainAll(shown);
    }

    /** In the order of revisions, as a status lists them. */
    private void count(RolloutStatus rollout) {
        long before = counted.getOrDefault(rollout.device(), Long.MIN_VALUE);
        if (rollout.revision() > before) {
            counted.put(rollout.device(), rollout.revision());
            seconds.observe(rollout.millis() / MILLIS_PER_SECOND);
        }
    }
}
