package dev.ullage.coordinator.metrics;

import dev.ullage.common.ledger.Refusal;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Evenness.JobEvenness;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.LedgerWork;
import dev.ullage.common.protocol.LedgerWork.RefusalsByRule;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.coordinator.oom.MoveState;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a coordinator said as series. Pure; one instance is one page, so that it can count what it has shown. */
final class ClusterMetrics {
    /**
     * The most of each that a page shows: they bound its size, some 30 MB with names of the usual length.
     *
     * @param ranks over all devices
     */
    record Bounds(int nodes, int devices, int ranks) {
        static final Bounds DEFAULT = new Bounds(2048, 4096, 8192);
    }

    private static final double MILLI_PER_CORE = 1000.0;

    private final Series series;
    private final Bounds bounds;
    private final boolean dcgmAliases;
    private int nodes;
    private int devices;
    private int ranks;

    private ClusterMetrics(Series series, Bounds bounds, boolean dcgmAliases) {
        this.series = series;
        this.bounds = bounds;
        this.dcgmAliases = dcgmAliases;
    }

    static Series of(ClusterStatus status, Bounds bounds, boolean dcgmAliases) {
        Series series = new Series();
        new ClusterMetrics(series, bounds, dcgmAliases).cluster(status);
        return series;
    }

    /** That, and no more, is known when nobody answers. */
    static Series ofNobody() {
        Series series = new Series();
        series.put(Metric.COORDINATOR_UP, List.of(), false);
        return series;
    }

    private void cluster(ClusterStatus status) {
        series.put(Metric.COORDINATOR_UP, List.of(), true);
        series.putInfo(Metric.COORDINATOR_INFO, List.of(status.coordinator().value(), lowerCase(status.state())));
        series.put(Metric.COORDINATOR_ACTIVE, List.of(), status.state().equals("ACTIVE"));
        status.token().ifPresent(token -> series.put(Metric.COORDINATOR_EPOCH, List.of(), token.epoch()));
        for (RolloutState state : RolloutState.values()) {
            series.put(Metric.ROLLOUTS, List.of(lowerCase(state.name())), inState(status, state));
        }
        status.ooms().ifPresent(ooms -> directives(ooms.moves()));
        status.queue().ifPresent(this::queue);
        status.nodes().forEach(this::node);
        status.evenness()
                .ifPresent(evenness ->
                        evenness.jobs().stream().limit(bounds.ranks()).forEach(this::job));
        series.put(Metric.LEFT_OUT, List.of("nodes"), Math.max(0, nodes - bounds.nodes()));
        series.put(Metric.LEFT_OUT, List.of("devices"), Math.max(0, devices - bounds.devices()));
        series.put(Metric.LEFT_OUT, List.of("ranks"), Math.max(0, ranks - bounds.ranks()));
    }

    /** The newest of a job is its last one; the others are replaced. */
    private void directives(List<OomMove> moves) {
        for (MoveState state : MoveState.values()) {
            long jobs = moves.stream()
                    .filter(move -> move.state().equals(state.name()))
                    .count();
            series.put(Metric.OOM_DIRECTIVES, List.of(lowerCase(state.name())), jobs);
        }
    }

    private void job(JobEvenness job) {
        job.skew()
                .forEach(skew -> series.put(
                        Metric.JOB_SKEW,
                        List.of(job.job().value(), lowerCase(skew.phase().name())),
                        skew.percent() / 100.0));
        series.put(Metric.JOB_UNEVEN, List.of(job.job().value()), job.isUneven());
    }

    private void queue(QueueFigures queue) {
        series.put(Metric.QUEUE_JOBS, List.of("waiting"), queue.waiting());
        series.put(Metric.QUEUE_JOBS, List.of("placing"), queue.placing());
        series.put(Metric.QUEUE_JOBS, List.of("placed"), queue.running());
        series.put(Metric.QUEUE_ATTEMPTS, List.of("placed"), queue.placed());
        series.put(Metric.QUEUE_ATTEMPTS, List.of("failed"), queue.failed());
    }

    private static long inState(ClusterStatus status, RolloutState state) {
        return status.nodes().stream()
                .flatMap(node -> node.devices().stream())
                .filter(device -> device.rollout().equals(Optional.of(state)))
                .count();
    }

    private void node(NodeStatus node) {
        nodes++;
        if (nodes <= bounds.nodes()) {
            List<String> labels = List.of(node.node().value());
            series.putMillis(Metric.NODE_AGE, labels, node.ageMillis());
            node.host().ifPresent(host -> host(labels, host, node.askedOfHost()));
        }
        node.devices().forEach(device -> device(node.node(), device));
    }

    private void host(List<String> labels, HostCapacity host, Optional<HostAmount> asked) {
        host.cpuMilli().ifPresent(milli -> series.put(Metric.NODE_CPU, labels, milli / MILLI_PER_CORE));
        series.putBytes(Metric.NODE_MEMORY, labels, host.memory());
        series.putBytes(Metric.NODE_MEMORY_AVAILABLE, labels, host.available());
        asked.ifPresent(amount -> series.put(Metric.NODE_CPU_ASKED, labels, amount.cpuMilli() / MILLI_PER_CORE));
        series.putBytes(Metric.NODE_MEMORY_ASKED, labels, asked.map(HostAmount::memory));
    }

    private void device(NodeId node, DeviceStatus device) {
        devices++;
        boolean isShown = devices <= bounds.devices();
        List<String> labels = List.of(node.value(), device.info().id().value());
        if (isShown) {
            info(labels, device.info());
            memory(labels, device);
            device.ledger().ifPresent(ledger -> ledger(labels, ledger));
        }
        if (isShown && dcgmAliases) {
            dcgm(node, device);
        }
        for (RankMetrics rank : RankMetrics.of(device)) {
            ranks++;
            if (isShown && ranks <= bounds.ranks()) {
                rank.putInto(series, labels);
            }
        }
    }

    private void info(List<String> labels, DeviceInfo info) {
        series.putInfo(
                Metric.DEVICE_INFO,
                List.of(
                        labels.get(0),
                        labels.get(1),
                        Integer.toString(info.index()),
                        info.name(),
                        info.kind().label(),
                        info.pciBusId().orElse("")));
    }

    private void memory(List<String> labels, DeviceStatus device) {
        Optional<MemoryUse> memory = device.sample().flatMap(SampleStatus::memory);
        Optional<MemoryBytes> allocatable = memory.map(MemoryUse::allocatable)
                .or(() -> device.ledger().map(ledger -> ledger.wanted().allocatable()));
        series.putBytes(Metric.DEVICE_TOTAL, labels, memory.map(MemoryUse::total));
        series.putBytes(Metric.DEVICE_RESERVED, labels, memory.flatMap(MemoryUse::reserved));
        series.putBytes(Metric.DEVICE_ALLOCATABLE, labels, allocatable);
        series.putBytes(Metric.DEVICE_USED, labels, memory.map(MemoryUse::used));
        series.putBytes(Metric.DEVICE_FREE, labels, memory.map(MemoryUse::free));
        series.putBytes(Metric.DEVICE_FOREIGN, labels, device.sample().flatMap(SampleStatus::foreign));
        device.sample().ifPresent(sample -> {
            series.putMillis(Metric.DEVICE_SAMPLE_AGE, labels, sample.ageMillis());
            series.put(Metric.DEVICE_SAMPLE_PROBLEMS, labels, sample.problems().size());
        });
    }

    private void ledger(List<String> labels, LedgerReport ledger) {
        BudgetTerms wanted = ledger.wanted();
        BudgetTerms inForce = ledger.inForce();
        series.putBytes(Metric.DEVICE_FOREIGN_PLANNED, labels, ledger.plannedForeign());
        series.put(Metric.DEVICE_BUDGET_WANTED, labels, wanted.budget().value());
        series.put(Metric.DEVICE_BUDGET_IN_FORCE, labels, inForce.budget().value());
        series.put(Metric.DEVICE_RESERVE_WANTED, labels, ratio(wanted.reserve()));
        series.put(Metric.DEVICE_RESERVE_IN_FORCE, labels, ratio(inForce.reserve()));
        series.put(
                Metric.DEVICE_CEILINGS,
                labels,
                ledger.grants().stream()
                        .map(GrantReport::ceiling)
                        .reduce(MemoryBytes.ZERO, MemoryBytes::plus)
                        .value());
        series.put(Metric.DEVICE_OVER_BUDGET, labels, ledger.overBudget());
        KeeperCounts counts = ledger.counts();
        series.put(
                Metric.DEVICE_HIGHEST_PROMISED, labels, counts.highestPromised().value());
        series.put(Metric.DEVICE_ORDERS_SENT, labels, counts.ordersSent());
        series.put(Metric.DEVICE_ORDERS_REPEATED, labels, counts.ordersRepeated());
        series.put(Metric.DEVICE_CONFIRMATIONS, labels, counts.confirmations());
        series.put(Metric.DEVICE_REFUSALS, labels, counts.refusals());
        series.put(Metric.DEVICE_OVER_COMMITS, labels, counts.overCommits());
        counts.work().ifPresent(work -> work(labels, work));
        ledger.turns().ifPresent(turns -> turns(labels, inForce, turns));
    }

    /** Of the rules those that are known here, so that the label is bounded; the sum of all has its own metric. */
    private void work(List<String> labels, LedgerWork work) {
        series.put(Metric.LEDGER_FSYNC, labels, work.writes());
        for (Refusal.Reason rule : Refusal.Reason.values()) {
            long refusals = work.refusals().stream()
                    .filter(refused -> refused.rule().equals(rule.name()))
                    .mapToLong(RefusalsByRule::refusals)
                    .sum();
            series.put(Metric.LEDGER_REFUSALS, List.of(labels.get(0), labels.get(1), lowerCase(rule.name())), refusals);
        }
    }

    private void turns(List<String> labels, BudgetTerms inForce, TurnReport turns) {
        TurnReport.Counts counts = turns.counts();
        series.put(
                Metric.DEVICE_POOL,
                labels,
                inForce.pool().orElse(MemoryBytes.ZERO).value());
        series.put(Metric.DEVICE_POOL_OUT, labels, turns.out().value());
        series.put(Metric.DEVICE_TURNS, labels, counts.given());
        counts.waitsByLength()
                .ifPresent(waits -> series.put(Metric.DEVICE_TURN_WAIT, labels, waits, counts.waitedMillis()));
        series.put(Metric.DEVICE_TURNS_MISSED, labels, counts.missed());
    }

    private void dcgm(NodeId node, DeviceStatus device) {
        Optional<MemoryUse> memory = device.sample().flatMap(SampleStatus::memory);
        DeviceInfo info = device.info();
        List<String> labels = List.of(
                Integer.toString(info.index()),
                info.id().value(),
                info.pciBusId().orElse(""),
                info.name(),
                node.value());
        putMebibytes(Metric.DCGM_TOTAL, labels, memory.map(MemoryUse::total));
        putMebibytes(Metric.DCGM_FREE, labels, memory.map(MemoryUse::free));
        putMebibytes(Metric.DCGM_USED, labels, memory.map(MemoryUse::used));
        putMebibytes(Metric.DCGM_RESERVED, labels, memory.flatMap(MemoryUse::reserved));
        memory.filter(use -> !use.allocatable().isZero())
                .ifPresent(use -> series.put(
                        Metric.DCGM_USED_PERCENT,
                        labels,
                        (double) use.used().value() / use.allocatable().value()));
    }

    private void putMebibytes(Metric metric, List<String> labels, Optional<MemoryBytes> amount) {
        amount.ifPresent(known -> series.put(metric, labels, known.value() / MemoryBytes.MEBIBYTE));
    }

    static double ratio(Share share) {
        return (double) share.basisPoints() / Share.ONE_IN_BASIS_POINTS;
    }

    private static String lowerCase(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
