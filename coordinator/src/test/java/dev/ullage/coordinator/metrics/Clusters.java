package dev.ullage.coordinator.metrics;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.coordinator.http.Statuses;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Clusters made of {@link Statuses#deviceWithARank()}. */
final class Clusters {
    private Clusters() {}

    /** One device with one rank of each job, and on it one process for each. */
    static ClusterStatus withJobs(String... jobs) {
        return withProcesses(Arrays.stream(jobs)
                .map(job -> new RankInstance(new RankId(new JobId(job), 3), 4242, 99))
                .toArray(RankInstance[]::new));
    }

    /** One device with these processes, all alike. */
    static ClusterStatus withProcesses(RankInstance... processes) {
        DeviceStatus device = Statuses.deviceWithARank();
        SampleStatus sample = device.sample().orElseThrow();
        LedgerReport ledger = device.ledger().orElseThrow();
        List<RankSample> samples = new ArrayList<>();
        List<GrantReport> grants = new ArrayList<>();
        for (RankInstance process : processes) {
            RankSample one = sample.ranks().get(0);
            samples.add(new RankSample(
                    process,
                    one.facts(),
                    one.activity(),
                    one.use(),
                    one.enforcedBy(),
                    one.connected(),
                    process.startTicks(),
                    one.needsRestart(),
                    one.watch(),
                    one.enforcement()));
            GrantReport grant = ledger.grants().get(0);
            grants.add(new GrantReport(
                    process,
                    grant.share(),
                    grant.target(),
                    grant.sequence(),
                    grant.confirmedSequence(),
                    grant.ceiling()));
        }
        return Statuses.active(new DeviceStatus(
                device.info(),
                Optional.of(new SampleStatus(
                        sample.ageMillis(),
                        sample.memory(),
                        sample.foreign(),
                        samples,
                        sample.problems(),
                        Optional.empty())),
                Optional.of(new LedgerReport(
                        ledger.wanted(), ledger.inForce(), ledger.overBudget(), grants, ledger.counts())),
                device.rollout(),
                Optional.empty()));
    }

    static ClusterStatus onNodes(int nodes) {
        ClusterStatus one = Statuses.active(Statuses.deviceWithARank());
        List<NodeStatus> many = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            many.add(new NodeStatus(
                    new NodeId("host-" + i), 120, one.nodes().get(0).devices()));
        }
        return new ClusterStatus(one.coordinator(), one.token(), one.state(), many, one.rollouts());
    }
}
