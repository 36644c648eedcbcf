package dev.ullage.common.protocol;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.JobWish;
import dev.ullage.common.protocol.OperatorRecord.RankWish;
import dev.ullage.common.protocol.ToCoordinator.AccountsQuery;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.AccountOf;
import dev.ullage.common.protocol.ToOperator.Accounts;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Decisions;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.Explanation;
import dev.ullage.common.protocol.ToOperator.History;
import dev.ullage.common.protocol.ToOperator.HistoryRow;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import dev.ullage.common.protocol.ToOperator.RankHistory;
import dev.ullage.common.protocol.ToOperator.RankReason;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToOperator.Wishes;
import dev.ullage.common.protocol.ToWorker.CommitDevice;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.KeepWishes;
import dev.ullage.common.protocol.ToWorker.LearnFrom;
import dev.ullage.common.protocol.ToWorker.RankLimit;
import dev.ullage.common.protocol.ToWorker.ReleaseCache;
import dev.ullage.common.protocol.ToWorker.ReleaseDevice;
import dev.ullage.common.protocol.ToWorker.ReserveDevice;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;

/** Two samples of each message: {@code full} has every part, {@code sparse} only what cannot be left out. */
final class WireSamples {
    private static final NodeId NODE = new NodeId("host-a");
    private static final DeviceId DEVICE = new DeviceId("GPU-5a7c1e2d-0000-4000-8000-0123456789ab");
    private static final CoordinatorToken TOKEN = new CoordinatorToken(7, "c0ffee");
    private static final CoordinatorToken OLDER = new CoordinatorToken(6, "decade");
    private static final RankInstance RANK = RankSamples.RANK;
    private static final PhaseLimits LIMITS = new PhaseLimits(
            MemoryBytes.ofGibibytes(10),
            MemoryBytes.ofGibibytes(12),
            MemoryBytes.ofGibibytes(14),
            MemoryBytes.ofGibibytes(16),
            MemoryBytes.ofGibibytes(18),
            MemoryBytes.ofGibibytes(20),
            MemoryBytes.ofGibibytes(22));
    private static final DeviceInfo INFO = new DeviceInfo(
            DEVICE,
            1,
            "NVIDIA H100 80GB HBM3 MIG 2g.20gb",
            DeviceKind.MIG,
            Optional.of("00000000:3B:00.0"),
            Optional.of(new MigSlice(
                    new DeviceId("GPU-parent"), OptionalInt.of(3), OptionalInt.of(0), Optional.of("2g.20gb"))));
    private static final DeviceInfo SPARSE_INFO =
            new DeviceInfo(DEVICE, 0, "simulated", DeviceKind.SIMULATED, Optional.empty());

    private static final Reservation RESERVATION = new Reservation(
            new ReservationId(new JobId("bert-large"), OLDER, 3),
            Priority.HIGH,
            List.of(
                    new ReservedPart(NODE, DEVICE, MemoryBytes.ofGibibytes(24), 2),
                    new ReservedPart(new NodeId("host-b"), new DeviceId("GPU-b"), MemoryBytes.ofGibibytes(12), 1)));

    private final ActorRef<ToCoordinator> coordinator;
    private final ActorRef<ToWorker> worker;
    private final ActorRef<ToOperator> operator;

    WireSamples(ActorRef<ToCoordinator> coordinator, ActorRef<ToWorker> worker, ActorRef<ToOperator> operator) {
        this.coordinator = coordinator;
        this.worker = worker;
        this.operator = operator;
    }

    List<WireMessage> full() {
        List<WireMessage> all = new ArrayList<>(messages());
        all.addAll(aboutWishes());
        all.addAll(RequestSamples.full(operator));
        return all;
    }

    private List<WireMessage> aboutWishes() {
        return List.of(
                new WishesReported(NODE, wishes()),
                new SetPolicy(new JobId("bert-large"), Optional.of("growth"), operator),
                new SetPriority(new JobId("bert-large"), Optional.of(Priority.HIGH), operator),
                new SetLimit(new JobId("bert-large"), 3, Optional.of(MemoryBytes.ofGibibytes(30)), operator),
                new DrainNode(NODE, Optional.of("fan replaced"), Optional.of("ann"), operator),
                new UndrainNode(NODE, Optional.of("ann"), operator),
                new HistoryQuery(DEVICE, 20, 10, operator),
                new History(List.of(historyRow()), 7),
                new StatusQuery(operator),
                new KeepWishes(TOKEN, wishes()));
    }

    private static DeviceSampled sampled() {
        return SampledRounds.device(NODE, DEVICE, memoryUse());
    }

    private List<WireMessage> messages() {
        return List.of(
                RequestSamples.announced(TOKEN, INFO, wishes().stamp(), worker),
                sampled(),
                new DeviceWatched(NODE, DEVICE, new SampleQuality(SampleState.STALE, 4)),
                SampledRounds.of(NODE, sampled()),
                new LimitsReported(
                        NODE,
                        DEVICE,
                        Optional.of(TOKEN),
                        12,
                        ledgerReport(),
                        Optional.of(new ReportNumber(1_767_225_600_000L, 34))),
                new StaleCoordinator(NODE, DEVICE, OLDER, TOKEN),
                new ReservationRefused(NODE, DEVICE, RESERVATION.id(), "refused 24.0 GiB for job bert-large"),
                new JobsReported(NODE, Optional.of(TOKEN), List.of(jobReport()), AccountSamples.told(RANK, DEVICE)),
                new AccountsQuery(new JobId("bert-large"), operator),
                new EventsQuery(Optional.of(new EventId(3, 17)), operator),
                new DecisionsQuery(Optional.of(DEVICE), Optional.of(new JobId("bert-large")), 20, 10, operator),
                new SetReserve(Optional.of(DEVICE), Share.ofPercent(30), operator),
                new SetShare(new JobId("bert-large"), OptionalInt.of(3), Share.ofPercent(50), operator),
                new ReleaseCaches(new JobId("bert-large"), OptionalInt.of(3), operator),
                new LearnFrom(TOKEN, coordinator, Optional.of(new ToWorker.Reads(true))),
                new DesireLimits(
                        TOKEN,
                        12,
                        DEVICE,
                        Share.ofPercent(20),
                        List.of(new RankLimit(RANK, LIMITS, Share.ofPercent(50))),
                        Optional.of(turnPlan()),
                        coordinator),
                new DirectJob(TOKEN, directive(), coordinator),
                new ReleaseCache(TOKEN, List.of(RANK), coordinator),
                new ReserveDevice(TOKEN, DEVICE, RequestSamples.withHosts(RESERVATION), coordinator),
                new CommitDevice(TOKEN, DEVICE, RESERVATION.id(), coordinator),
                new ReleaseDevice(TOKEN, DEVICE, RESERVATION.id(), coordinator),
                clusterStatus(),
                new Events(
                        List.of(new ClusterEvent(
                                new EventId(3, 18),
                                1_767_225_600_000L,
                                "limit-changed",
                                EventSeverity.WARNING,
                                About.device(NODE, DEVICE).withRank(new JobId("bert-large"), 3),
                                "limit of rank bert-large/3: 32.0 GiB -> 16.0 GiB")),
                        false),
                new Decisions(List.of("{\"schema\":1,\"kind\":\"operator\"}"), 7, false),
                new Accounts(
                        List.of(new AccountOf(NODE, AccountSamples.full(RANK, DEVICE), Optional.of(LIMITS))),
                        2,
                        List.of(new JobId("bert-small"))),
                new Accepted("reserve of all devices: 30%"),
                new Refused("no job bert-larg; known: bert-large", Optional.of(new ToOperator.NotKnown("job"))));
    }

    private ClusterStatus clusterStatus() {
        return new ClusterStatus(
                new NodeId("host-c"),
                Optional.of(TOKEN),
                "ACTIVE",
                List.of(new NodeStatus(NODE, 250, List.of(deviceStatus()), Optional.of(RequestSamples.HOST))),
                List.of(new RolloutStatus(DEVICE, 12, RolloutState.SETTLED, 840, "rank bert-large/3 joined")),
                Optional.of(new OomMoves(List.of(new OomMove(directive(), "DONE", 1_500, OptionalLong.of(42))))),
                Optional.of(new ToOperator.Steering(
                        Optional.of(evenness()),
                        Optional.of(new Wishes(wishes().drains(), wishes().jobs())),
                        Optional.of(RequestSamples.queueFigures()))));
    }

    List<WireMessage> sparse() {
        return Stream.concat(sparseButRequests().stream(), RequestSamples.sparse(operator).stream())
                .toList();
    }

    private List<WireMessage> sparseButRequests() {
        return List.of(
                new WorkerAnnounced(NODE, Protocol.VERSION, Optional.empty(), List.of(), worker),
                new WishesReported(NODE, sparseWishes()),
                new SetPolicy(new JobId("bert-large"), Optional.empty(), operator),
                new SetPriority(new JobId("bert-large"), Optional.empty(), operator),
                new SetLimit(new JobId("bert-large"), 0, Optional.empty(), operator),
                new DrainNode(NODE, Optional.empty(), Optional.empty(), operator),
                new UndrainNode(NODE, Optional.empty(), operator),
                new KeepWishes(TOKEN, sparseWishes()),
                new HistoryQuery(DEVICE, 0, 1, operator),
                new History(
                        List.of(new HistoryRow(0, Optional.empty(), Optional.empty(), Optional.empty(), List.of())), 0),
                new DeviceSampled(NODE, DEVICE, 0, Optional.empty(), Optional.empty(), List.of(), List.of()),
                new DeviceWatched(NODE, DEVICE, new SampleQuality(SampleState.FRESH, 0)),
                SampledRounds.empty(NODE),
                new LimitsReported(NODE, DEVICE, Optional.empty(), 0, sparseLedgerReport()),
                new StaleCoordinator(NODE, DEVICE, OLDER, TOKEN),
                new ReservationRefused(NODE, DEVICE, RESERVATION.id(), ""),
                new JobsReported(
                        NODE,
                        Optional.empty(),
                        List.of(sparseJobReport()),
                        Optional.of(new RankAccounts(List.of(AccountSamples.sparse(RANK, DEVICE))))),
                new AccountsQuery(new JobId("bert-large"), operator),
                new StatusQuery(operator),
                new EventsQuery(Optional.empty(), operator),
                new DecisionsQuery(Optional.empty(), Optional.empty(), 0, 1, operator),
                new SetReserve(Optional.empty(), Share.NONE, operator),
                new SetShare(new JobId("bert-large"), OptionalInt.empty(), Share.ALL, operator),
                new LearnFrom(TOKEN, coordinator),
                new DesireLimits(TOKEN, 1, DEVICE, Share.NONE, List.of(), Optional.empty(), coordinator),
                new ReleaseCaches(new JobId("bert-large"), OptionalInt.empty(), operator),
                new DirectJob(TOKEN, sparseDirective(), coordinator),
                new ReleaseCache(TOKEN, List.of(), coordinator),
                new ReserveDevice(TOKEN, DEVICE, RESERVATION, coordinator),
                new CommitDevice(TOKEN, DEVICE, RESERVATION.id(), coordinator),
                new ReleaseDevice(TOKEN, DEVICE, RESERVATION.id(), coordinator),
                new ClusterStatus(
                        NODE,
                        Optional.empty(),
                        "CLAIMING",
                        List.of(new NodeStatus(NODE, 0, List.of(sparseDeviceStatus()))),
                        List.of()),
                new Events(List.of(), true),
                new Decisions(List.of(), 0, true),
                new Accounts(
                        List.of(new AccountOf(NODE, AccountSamples.sparse(RANK, DEVICE), Optional.empty())),
                        0,
                        List.of()),
                new Accepted(""),
                new Refused(""));
    }

    private static HistoryRow historyRow() {
        RankHistory rank = new RankHistory(
                RANK,
                Optional.of(Phase.BACKWARD),
                Optional.of(MemoryBytes.ofGibibytes(10)),
                Optional.of(MemoryBytes.ofGibibytes(14)),
                Optional.of(MemoryBytes.ofGibibytes(64)));
        return new HistoryRow(
                1_767_225_600_000L,
                Optional.of(MemoryBytes.ofGibibytes(12)),
                Optional.of(MemoryBytes.ofGibibytes(64)),
                Optional.of(MemoryBytes.ofGibibytes(60)),
                List.of(rank));
    }

    private static OperatorRecord wishes() {
        JobWish job = new JobWish(
                new JobId("bert-large"),
                Optional.of(Share.ofPercent(50)),
                Optional.of("growth"),
                Optional.of(Priority.HIGH),
                List.of(new RankWish(3, Optional.of(Share.ofPercent(25)), Optional.of(MemoryBytes.ofGibibytes(30)))));
        Drain drain = new Drain(NODE, 1_767_225_600_000L, Optional.of("fan replaced"), Optional.of("ann"));
        return new OperatorRecord(new OperatorRecord.Stamp(TOKEN, 4), List.of(drain), List.of(job));
    }

    private static OperatorRecord sparseWishes() {
        JobWish job = new JobWish(
                new JobId("bert-large"),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(new RankWish(0, Optional.empty(), Optional.empty())));
        Drain drain = new Drain(NODE, 0, Optional.empty(), Optional.empty());
        return new OperatorRecord(new OperatorRecord.Stamp(OLDER, 1), List.of(drain), List.of(job));
    }

    private static JobDirective directive() {
        return new JobDirective(
                new JobId("bert-large"),
                2,
                17,
                OomLevel.MICRO_BATCH,
                new JobDirective.Sizes(OptionalInt.of(8), OptionalInt.of(4)),
                true,
                new JobDirective.Cause(
                        3,
                        Optional.of(MemoryBytes.ofGibibytes(60)),
                        List.of(OomLevel.LIMIT),
                        "rank 3 ran out of memory in BACKWARD of step 17"),
                Optional.of(new BatchShares(1, 1, 2, List.of(40, 24, 32))));
    }

    private static Evenness evenness() {
        return new Evenness(
                "on",
                List.of(new Evenness.JobEvenness(
                        new JobId("bert-large"),
                        true,
                        List.of(new Evenness.PhaseSkew(
                                Phase.BACKWARD, 150, 3, MemoryBytes.ofGibibytes(60), MemoryBytes.ofGibibytes(40))),
                        List.of(32, 32, 32),
                        Optional.of(new Evenness.ShareProposal(List.of(40, 24, 32), 2, 9_500, 7_600)),
                        "batch 96 as 40, 24, 32")),
                List.of(new Evenness.FarDevice(NODE, DEVICE, 9_000, 5_000)),
                List.of(new Evenness.MoveSuggestion(
                        RANK.rank(),
                        DEVICE,
                        new DeviceId("GPU-b"),
                        MemoryBytes.ofGibibytes(20),
                        9_000,
                        6_000,
                        5_000,
                        4_800,
                        "rank bert-large/3 to the other device")));
    }

    private static JobDirective sparseDirective() {
        return new JobDirective(
                new JobId("bert-large"),
                1,
                0,
                OomLevel.STOP,
                JobDirective.Sizes.AS_SET,
                false,
                new JobDirective.Cause(0, Optional.empty(), List.of(), ""));
    }

    private static JobReport jobReport() {
        OomReport.Figures figures = new OomReport.Figures(
                Optional.of(MemoryBytes.of(1)),
                Optional.of(MemoryBytes.of(2)),
                Optional.of(MemoryBytes.of(3)),
                Optional.of(MemoryBytes.of(4)),
                Optional.of(MemoryBytes.of(5)),
                Optional.of(MemoryBytes.of(6)));
        OomReport.Means means =
                new OomReport.Means(OptionalInt.of(16), OptionalInt.of(32), List.of(OomLevel.SIMPLIFY), true);
        return new JobReport(
                new JobId("bert-large"),
                OptionalInt.of(8),
                List.of(RANK),
                Optional.of(directive()),
                List.of(new OomReport(RANK, 2, 17, Phase.BACKWARD, OomKind.FRAGMENTATION, figures, means)),
                List.of(new JobReport.Applied(RANK, 2, Optional.of(MemoryBytes.ofGibibytes(20)))));
    }

    private static JobReport sparseJobReport() {
        OomReport.Means means = new OomReport.Means(OptionalInt.empty(), OptionalInt.empty(), List.of(), false);
        return new JobReport(
                new JobId("bert-large"),
                OptionalInt.empty(),
                List.of(),
                Optional.empty(),
                List.of(new OomReport(RANK, 0, 0, Phase.INIT, OomKind.UNKNOWN, OomReport.Figures.UNKNOWN, means)),
                List.of(new JobReport.Applied(RANK, 1, Optional.empty())));
    }

    private static MemoryUse memoryUse() {
        return new MemoryUse(
                MemoryBytes.ofGibibytes(80),
                Optional.of(MemoryBytes.ofGibibytes(1)),
                MemoryBytes.ofGibibytes(30),
                MemoryBytes.ofGibibytes(49));
    }

    private static LedgerReport ledgerReport() {
        BudgetTerms wanted = new BudgetTerms(
                MemoryBytes.ofGibibytes(79),
                Share.ofPercent(30),
                MemoryBytes.ofMebibytes(512),
                Optional.of(turnPlan().pool()));
        GrantReport grant = new GrantReport(
                RANK,
                Share.ofPercent(50),
                Optional.of(LIMITS),
                42,
                41,
                MemoryBytes.ofGibibytes(64),
                Optional.of("priority-pool"),
                Optional.of(RankSamples.plannedNeeds()));
        KeeperCounts counts = LedgerSamples.counts();
        TurnReport turns = new TurnReport(
                Optional.of(turnPlan()),
                MemoryBytes.ofGibibytes(16),
                List.of(new TurnReport.Holder(RANK.rank().job(), 750)),
                List.of(new TurnReport.Waiter(RANK, 120)),
                new TurnReport.Counts(
                        9,
                        4,
                        2_300,
                        1,
                        Optional.of(
                                new TurnReport.WaitLengths(List.of(new TurnReport.WaitLengths.Length(100, 3)), 1))));
        return new LedgerReport(
                wanted,
                wanted.withReserve(Share.ofPercent(20)),
                true,
                List.of(grant),
                counts,
                Optional.of(turns),
                Optional.of(List.of(new ReservationReport(RequestSamples.withHosts(RESERVATION), true))));
    }

    private static TurnPlan turnPlan() {
        return new TurnPlan(
                MemoryBytes.ofGibibytes(16),
                List.of(new RankTurn(RANK, List.of(Phase.FORWARD, Phase.BACKWARD), MemoryBytes.ofGibibytes(16))));
    }

    private static LedgerReport sparseLedgerReport() {
        BudgetTerms terms = new BudgetTerms(MemoryBytes.ofGibibytes(80), Share.NONE, MemoryBytes.ZERO);
        GrantReport grant = new GrantReport(RANK, Share.ALL, Optional.empty(), 0, 0, MemoryBytes.ZERO);
        return new LedgerReport(terms, terms, false, List.of(grant), KeeperCounts.NONE);
    }

    private static DeviceStatus deviceStatus() {
        SampleStatus sample = new SampleStatus(
                120,
                Optional.of(memoryUse()),
                Optional.of(MemoryBytes.ofMebibytes(512)),
                List.of(RankSamples.full()),
                List.of("nvmlDeviceGetComputeRunningProcesses: not supported; foreign memory is not known"),
                Optional.of(new SampleQuality(SampleState.STALE, 4)));
        return new DeviceStatus(
                INFO,
                Optional.of(sample),
                Optional.of(ledgerReport()),
                Optional.of(RolloutState.SHRINKING),
                Optional.of(new Explanation(
                        List.of(new RankReason(
                                RANK,
                                "rank-share",
                                "79.0 GiB less reserve 30% over 1 rank is 55.3 GiB",
                                Optional.of(Priority.LOW),
                                Optional.of(RankSamples.rankNeeds()))),
                        Optional.of("no plan: its ledger's report is 6000 ms old, more than 5000 ms"))));
    }

    private static DeviceStatus sparseDeviceStatus() {
        SampleStatus sample = new SampleStatus(
                0, Optional.empty(), Optional.empty(), List.of(RankSamples.sparse()), List.of(), Optional.empty());
        return new DeviceStatus(SPARSE_INFO, Optional.of(sample), Optional.empty(), Optional.empty(), Optional.empty());
    }
}
