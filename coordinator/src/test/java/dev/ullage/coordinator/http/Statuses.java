package dev.ullage.coordinator.http;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankEnforcement;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.Evenness;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.LedgerWork;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.JobWish;
import dev.ullage.common.protocol.OperatorRecord.RankWish;
import dev.ullage.common.protocol.RankNeeds;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import dev.ullage.common.protocol.ToOperator.Wishes;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.common.protocol.WriteTimes;
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
                List.of(new NodeStatus(new NodeId("host-b"), 120, List.of(devices), Optional.of(host()))),
                List.of(new RolloutStatus(new DeviceId("GPU-1"), 7, RolloutState.SETTLED, 35, "2 ranks")),
                Optional.empty(),
                Optional.of(new Steering(Optional.of(evenness()), Optional.empty(), Optional.of(queue()))));
    }

    private static HostCapacity host() {
        return new HostCapacity(
                OptionalInt.of(64_000), Optional.of(MemoryBytes.ofGibibytes(512)), Optional.of(gibibytes(400)));
    }

    private static QueueFigures queue() {
        return new QueueFigures(
                2,
                1,
                3,
                List.of(
                        new QueueFigures.Bucket(OptionalLong.of(60), 4),
                        new QueueFigures.Bucket(OptionalLong.empty(), 1)),
                100_500,
                5,
                1);
    }

    private static Evenness evenness() {
        return new Evenness(
                "suggest",
                List.of(new Evenness.JobEvenness(
                        RANK.rank().job(),
                        true,
                        List.of(
                                new Evenness.PhaseSkew(Phase.FORWARD, 125, 0, gibibytes(10), gibibytes(8)),
                                new Evenness.PhaseSkew(Phase.BACKWARD, 150, 3, gibibytes(12), gibibytes(8))),
                        List.of(32, 32),
                        Optional.of(new Evenness.ShareProposal(List.of(40, 24), 2, 9_500, 7_600)),
                        "batch 64 as 40, 24")),
                List.of(new Evenness.FarDevice(new NodeId("host-b"), new DeviceId("GPU-1"), 9_000, 5_000)),
                List.of(new Evenness.MoveSuggestion(
                        RANK.rank(),
                        new DeviceId("GPU-1"),
                        new DeviceId("GPU-2"),
                        gibibytes(12),
                        9_000,
                        6_000,
                        5_000,
                        4_800,
                        "rank bert/3 from GPU 0 to GPU 1")));
    }

    /** The same, where operators asked for some things. */
    public static ClusterStatus withWishes(ClusterStatus status) {
        JobWish job = new JobWish(
                RANK.rank().job(),
                Optional.of(Share.ofPercent(50)),
                Optional.of("growth"),
                Optional.of(Priority.HIGH),
                List.of(new RankWish(3, Optional.empty(), Optional.of(MemoryBytes.ofGibibytes(30)))));
        Drain drain = new Drain(new NodeId("host-b"), 1_767_225_600_000L, Optional.of("fan"), Optional.of("ann"));
        return new ClusterStatus(
                status.coordinator(),
                status.token(),
                status.state(),
                status.nodes(),
                status.rollouts(),
                status.ooms(),
                Optional.of(new Steering(
                        status.evenness(), Optional.of(new Wishes(List.of(drain), List.of(job))), status.queue())));
    }

    /** The same with moves after out-of-memory errors. */
    public static ClusterStatus withMoves(ClusterStatus status, OomMove... moves) {
        return new ClusterStatus(
                status.coordinator(),
                status.token(),
                status.state(),
                status.nodes(),
                status.rollouts(),
                Optional.of(new OomMoves(List.of(moves))),
                status.steering());
    }

    /** A move; {@code appliedMillis} below 0: not all ranks have done it. */
    public static OomMove move(String job, long sequence, OomLevel level, String state, long appliedMillis) {
        JobDirective directive = new JobDirective(
                new JobId(job),
                sequence,
                17,
                level,
                JobDirective.Sizes.AS_SET,
                false,
                new JobDirective.Cause(3, Optional.empty(), List.of(), "rank 3 ran out"));
        return new OomMove(
                directive, state, 90, appliedMillis < 0 ? OptionalLong.empty() : OptionalLong.of(appliedMillis));
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
                Optional.of(watch()),
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
                        List.of(new RankReason(RANK, "growth", "may grow", Optional.empty(), Optional.of(needs()))),
                        Optional.of("the report is too old"))));
    }

    private static RankNeeds needs() {
        return new RankNeeds(
                1,
                2,
                "measured over its last 17 steps",
                List.of(
                        new RankNeeds.PhaseNeed(
                                Phase.FORWARD,
                                Optional.of(new RankNeeds.PlannedRange(gibibytes(9), gibibytes(10), gibibytes(12))),
                                Optional.of(gibibytes(10)),
                                Optional.of(gibibytes(11))),
                        new RankNeeds.PhaseNeed(
                                Phase.IDLE, Optional.empty(), Optional.of(gibibytes(8)), Optional.empty())),
                Optional.of(new RankNeeds.MicroBatchNeed(
                        8, 2, gibibytes(10), gibibytes(1), Optional.of(gibibytes(24)), OptionalInt.of(22))));
    }

    /** {@link #deviceWithARank} under another name. */
    public static DeviceStatus named(String uuid) {
        DeviceStatus device = deviceWithARank();
        DeviceInfo known = device.info();
        return new DeviceStatus(
                new DeviceInfo(new DeviceId(uuid), known.index(), known.name(), known.kind(), known.pciBusId()),
                device.sample(),
                device.ledger(),
                device.rollout(),
                device.explanation());
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

    /** Everything is known of it, and it leaks. */
    public static RankWatch watch() {
        return new RankWatch(
                new RankWatch.Progress(OptionalLong.of(17), OptionalLong.of(2), 17),
                List.of(
                        new RankWatch.PhasePeak(Phase.FORWARD, Optional.of(gibibytes(10)), Optional.of(gibibytes(9))),
                        new RankWatch.PhasePeak(Phase.BACKWARD, Optional.of(gibibytes(12)), Optional.empty())),
                new RankWatch.Allocator(
                        OptionalLong.of(12_345),
                        OptionalLong.of(700),
                        Optional.of(Share.ofPercent(15)),
                        Optional.of(Share.ofPercent(2)),
                        OptionalLong.of(1),
                        OptionalLong.of(4)),
                new RankWatch.Leak(
                        RankWatch.LeakState.SUSPECTED,
                        OptionalLong.of(MemoryBytes.MEBIBYTE),
                        Optional.of(new Share(9_999)),
                        80),
                List.of(new RankWatch.Snapshot(
                        10,
                        Optional.of(gibibytes(8)),
                        Optional.of(gibibytes(10)),
                        Optional.of(gibibytes(1)),
                        Optional.of(gibibytes(2)),
                        OptionalLong.of(40))),
                Optional.of(new RankWatch.CacheRelease(12, gibibytes(10), gibibytes(9))),
                RankWatch.Work.of(
                        RankWatch.Batches.of(
                                Optional.of(new RankWatch.Batch(
                                        6, 64, 32, 16, OptionalInt.of(20), Optional.of(gibibytes(4)))),
                                Optional.of(new RankWatch.MicroBatches(
                                        8,
                                        List.of(new RankWatch.MicroBatchPeaks(
                                                8,
                                                List.of(
                                                        new RankWatch.PhasePeak(
                                                                Phase.FORWARD,
                                                                Optional.empty(),
                                                                Optional.of(gibibytes(9))))))))),
                        Optional.empty()));
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
                new KeeperCounts(
                        1,
                        2,
                        3,
                        4,
                        gibibytes(64),
                        0,
                        Optional.of(new LedgerWork(
                                new WriteTimes(
                                        List.of(new WriteTimes.Length(100, 5), new WriteTimes.Length(3_000, 2)),
                                        1,
                                        12_500),
                                List.of(
                                        new LedgerWork.RefusalsByRule("STALE_COORDINATOR", 1),
                                        new LedgerWork.RefusalsByRule("NO_ROOM", 3))))),
                Optional.of(new TurnReport(
                        Optional.of(new TurnPlan(
                                gibibytes(16), List.of(new RankTurn(RANK, List.of(Phase.BACKWARD), gibibytes(16))))),
                        gibibytes(16),
                        List.of(new TurnReport.Holder(RANK.rank().job(), 95_000)),
                        List.of(new TurnReport.Waiter(RANK, 120)),
                        new TurnReport.Counts(
                                5,
                                4,
                                3_500,
                                1,
                                Optional.of(new TurnReport.WaitLengths(
                                        List.of(
                                                new TurnReport.WaitLengths.Length(100, 1),
                                                new TurnReport.WaitLengths.Length(3_000, 2)),
                                        1))))));
    }

    private static MemoryBytes gibibytes(long amount) {
        return MemoryBytes.ofGibibytes(amount);
    }

    /** One of which everything is known. */
    static RequestState request() {
        JobRequest request = new JobRequest(
                new JobId("bert"),
                "me",
                Priority.HIGH,
                List.of(RankGroup.ofMemory(1, MemoryBytes.ofGibibytes(20))),
                1,
                JobRequest.Wanted.ANY,
                OptionalLong.of(60_000));
        RequestState.Waiting waiting = new RequestState.Waiting(
                OptionalInt.of(1), "1 device with 20.0 GiB each", OptionalLong.of(5_000), "the times of others");
        RequestState.RankPlace place = new RequestState.RankPlace(
                0, new NodeId("host-b"), 0, new DeviceId("GPU-1"), OptionalInt.of(1), MemoryBytes.ofGibibytes(20));
        return new RequestState(
                request,
                RequestState.WAITING,
                Optional.of(waiting),
                7_000,
                30_000,
                List.of(place),
                List.of("8 cpus for each rank are advisory"));
    }
}
