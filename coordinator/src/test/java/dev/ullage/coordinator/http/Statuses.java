package dev.ullage.coordinator.http;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What coordinators say in tests. */
public final class Statuses {
    public static final RankInstance RANK = new RankInstance(new RankId(new JobId("bert"), 3), 4242, 99);

    private Statuses() {}

    /** A coordinator that has just started and heard of nobody. */
    public static ClusterStatus empty() {
        return new ClusterStatus(new NodeId("host-a"), Optional.empty(), "CLAIMING", List.of(), List.of());
    }

    public static ClusterStatus active(DeviceStatus... devices) {
        return new ClusterStatus(
                new NodeId("host-a"),
                Optional.of(new CoordinatorToken(3, "c-1")),
                "ACTIVE",
                List.of(new NodeStatus(new NodeId("host-b"), 120, List.of(devices))),
                List.of(new RolloutStatus(new DeviceId("GPU-1"), 7, RolloutState.SETTLED, 35, "2 ranks")));
    }

    /** A device that was announced and not heard of since. */
    public static DeviceStatus silentDevice() {
        return new DeviceStatus(info(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** 80 GiB, of which the driver keeps 1; one rank that holds 10 of 32 GiB. */
    public static DeviceStatus deviceWithARank() {
        return deviceWithARank(Optional.empty());
    }

    static DeviceStatus deviceWithARankThatNeedsARestart(NeedsRestart needs) {
        return deviceWithARank(Optional.of(needs));
    }

    private static DeviceStatus deviceWithARank(Optional<NeedsRestart> needsRestart) {
        MemoryUse memory = new MemoryUse(gibibytes(80), Optional.of(gibibytes(1)), gibibytes(12), gibibytes(67));
        RankSample sample = new RankSample(
                RANK,
                new RankFacts(
                        OptionalInt.of(8),
                        OptionalInt.of(3),
                        "torchrun",
                        0,
                        Optional.of("torch 2.10.0"),
                        List.of(EnforcedBy.TORCH)),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.of(17)),
                new RankUse(
                        Optional.of(gibibytes(9)),
                        Optional.of(gibibytes(10)),
                        Optional.of(gibibytes(11)),
                        Optional.of(gibibytes(12)),
                        4),
                EnforcedBy.TORCH,
                true,
                250,
                needsRestart,
                Optional.of(new RankEnforcement(
                        Optional.of(gibibytes(11)),
                        Optional.of(new RankEnforcement.Overhead(gibibytes(1), false)),
                        Optional.empty(),
                        false,
                        List.of(new RankEnforcement.WhyNot(EnforcedBy.DRIVER, "the driver is too old")))));
        return new DeviceStatus(
                info(),
                Optional.of(new SampleStatus(
                        800,
                        Optional.of(memory),
                        Optional.of(gibibytes(2)),
                        List.of(sample),
                        List.of("one problem"),
                        Optional.of(new SampleQuality(SampleState.STALE, 4)))),
                Optional.of(ledger(grant(Optional.of(limits())))),
                Optional.of(RolloutState.SHRINKING),
                Optional.of(new Explanation(
                        List.of(new RankReason(RANK, "growth", "may grow")), Optional.of("the report is too old"))));
    }

    /** A rank whose ledger entry is all that is known: its worker has not been heard since it joined. */
    public static DeviceStatus deviceWithASilentRank() {
        return new DeviceStatus(
                info(),
                Optional.empty(),
                Optional.of(ledger(grant(Optional.empty()))),
                Optional.empty(),
                Optional.empty());
    }

    private static DeviceInfo info() {
        return new DeviceInfo(new DeviceId("GPU-1"), 0, "H100-80G", DeviceKind.DISCRETE, Optional.empty());
    }

    private static PhaseLimits limits() {
        return PhaseLimits.of(phase -> phase == Phase.FORWARD ? gibibytes(24) : gibibytes(32));
    }

    private static GrantReport grant(Optional<PhaseLimits> target) {
        return new GrantReport(RANK, Share.ofPercent(50), target, 5, 4, gibibytes(40));
    }

    private static LedgerReport ledger(GrantReport grant) {
        BudgetTerms wanted = new BudgetTerms(gibibytes(79), Share.ofPercent(25), gibibytes(2));
        return new LedgerReport(
                wanted,
                wanted.withReserve(Share.ofPercent(20)),
                true,
                List.of(grant),
                new KeeperCounts(1, 2, 3, 4, gibibytes(64), 0));
    }

    private static MemoryBytes gibibytes(long amount) {
        return MemoryBytes.ofGibibytes(amount);
    }
}
