package dev.ullage.coordinator.metrics;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankEnforcement.Overhead;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.coordinator.view.KnownRank;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The series of one rank on one device. A process id is no label, because it changes with every restart; so while the
 * promise to a dead process is not taken back yet, two processes share a name. The newer one speaks for the rank, but
 * its ceiling is what both may believe.
 */
record RankMetrics(RankId rank, Optional<MemoryBytes> ceiling, Optional<GrantReport> grant, Optional<RankSample> said) {
    private static final Comparator<RankInstance> BY_AGE =
            Comparator.comparingLong(RankInstance::startTicks).thenComparingLong(RankInstance::pid);

    static List<RankMetrics> of(DeviceStatus device) {
        Map<RankId, List<KnownRank>> processes = new TreeMap<>();
        for (KnownRank known : KnownRank.on(device)) {
            processes
                    .computeIfAbsent(known.instance().rank(), rank -> new ArrayList<>())
                    .add(known);
        }
        List<RankMetrics> ranks = new ArrayList<>();
        processes.forEach((rank, known) -> ranks.add(of(rank, known)));
        return ranks;
    }

    private static RankMetrics of(RankId rank, List<KnownRank> processes) {
        Optional<MemoryBytes> ceiling = processes.stream()
                .flatMap(known -> known.grant().stream())
                .map(GrantReport::ceiling)
                .reduce(MemoryBytes::plus);
        KnownRank newest = Collections.max(processes, Comparator.comparing(KnownRank::instance, BY_AGE));
        return new RankMetrics(rank, ceiling, newest.grant(), newest.sample());
    }

    /** @param device the labels of its device */
    void putInto(Series series, List<String> device) {
        List<String> labels = List.of(device.get(0), device.get(1), rank.job().value(), Integer.toString(rank.rank()));
        series.putBytes(Metric.RANK_CEILING, labels, ceiling);
        grant.ifPresent(promise -> putGrant(series, labels, promise));
        said.ifPresent(sample -> putSample(series, labels, sample));
    }

    private static void putGrant(Series series, List<String> labels, GrantReport grant) {
        grant.target().ifPresent(limits -> {
            for (Phase phase : Phase.values()) {
                series.put(
                        Metric.RANK_LIMIT,
                        and(labels, phase.name().toLowerCase(Locale.ROOT)),
                        limits.in(phase).value());
            }
            series.put(Metric.RANK_TARGET, labels, limits.max().value());
        });
        series.put(Metric.RANK_SHARE, labels, ClusterMetrics.ratio(grant.share()));
        series.put(Metric.RANK_SETTLED, labels, grant.isSettled());
    }

    private static void putSample(Series series, List<String> labels, RankSample sample) {
        RankUse use = sample.use();
        series.putInfo(Metric.RANK_INFO, and(labels, sample.enforcedBy().label()));
        series.putBytes(Metric.RANK_HELD, labels, use.held());
        series.putBytes(Metric.RANK_ALLOCATED, labels, use.allocated());
        series.putBytes(Metric.RANK_PEAK, labels, use.peakReserved().or(use::peakAllocated));
        series.put(Metric.RANK_CONNECTED, labels, sample.connected());
        series.putMillis(Metric.RANK_AGE, labels, sample.ageMillis());
        series.put(Metric.RANK_ALLOCATOR_REFUSALS, labels, use.refusals());
        sample.watch().ifPresent(watch -> putWatch(series, labels, watch));
        sample.enforcement().ifPresent(how -> {
            series.putBytes(Metric.RANK_PROCESS_USED, labels, how.processUsed());
            series.putBytes(Metric.RANK_OVERHEAD, labels, how.overhead().map(Overhead::bytes));
            series.put(Metric.RANK_ABOVE_CEILING, labels, how.overCeiling());
        });
    }

    private static void putWatch(Series series, List<String> labels, RankWatch watch) {
        watch.phases()
                .forEach(peak -> series.putBytes(
                        Metric.RANK_PHASE_PEAK,
                        and(labels, peak.phase().name().toLowerCase(Locale.ROOT)),
                        peak.held()));
        watch.allocator().allocations().ifPresent(count -> series.put(Metric.RANK_ALLOCATIONS, labels, count));
        watch.allocator()
                .fragmentation()
                .ifPresent(share -> series.put(Metric.RANK_FRAGMENTATION, labels, ClusterMetrics.ratio(share)));
        watch.allocator()
                .roundingWaste()
                .ifPresent(share -> series.put(Metric.RANK_ROUNDING_WASTE, labels, ClusterMetrics.ratio(share)));
        if (watch.leak().state() != LeakState.UNKNOWN) {
            series.put(Metric.RANK_LEAK, labels, watch.leak().state() == LeakState.SUSPECTED);
        }
    }

    private static List<String> and(List<String> labels, String last) {
        List<String> all = new ArrayList<>(labels);
        all.add(last);
        return all;
    }
}
