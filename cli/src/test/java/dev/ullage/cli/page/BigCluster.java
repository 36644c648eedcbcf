package dev.ullage.cli.page;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ClusterEvent;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.DeviceStatus;
import dev.ullage.common.protocol.ToOperator.Events;
import dev.ullage.common.protocol.ToOperator.NodeStatus;
import dev.ullage.common.protocol.ToOperator.OomMove;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import dev.ullage.common.protocol.ToOperator.SampleStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A cluster of any size that never was: hosts with eight devices of 80 GiB and a rank on each but every fifth. What its
 * ranks hold changes with the moment it is asked for, and some of its devices are in each kind of trouble.
 */
public final class BigCluster {
    private static final int DEVICES_ON_A_NODE = 8;
    private static final int RANKS_IN_A_JOB = 64;
    private static final int LEAKING = 3;
    private static final RankWatch.Leak LEAK = new RankWatch.Leak(
            RankWatch.LeakState.SUSPECTED,
            OptionalLong.of(3 * MemoryBytes.MEBIBYTE / 2),
            Optional.of(Share.ofPercent(99)),
            100);
    private static final RankWatch.Leak NO_LEAK =
            new RankWatch.Leak(RankWatch.LeakState.NONE, OptionalLong.empty(), Optional.empty(), 100);
    private static final List<Phase> TURN = List.of(Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER);
    private static final MemoryBytes ALLOCATABLE = MemoryBytes.ofGibibytes(80);
    private static final BudgetTerms TERMS = new BudgetTerms(ALLOCATABLE, Share.ofPercent(20), MemoryBytes.ZERO);

    private BigCluster() {}

    /** @param moment any number; each gives other figures */
    public static ClusterStatus of(int devices, int moment) {
        return of(devices, moment, 0);
    }

    /** @param waiting how many jobs wait for room; 0: the coordinator is of before there was a queue */
    public static ClusterStatus of(int devices, int moment, int waiting) {
        List<NodeStatus> nodes = new ArrayList<>();
        for (int first = 0; first < devices; first += DEVICES_ON_A_NODE) {
            List<DeviceStatus> onNode = new ArrayList<>();
            for (int number = first; number < Math.min(devices, first + DEVICES_ON_A_NODE); number++) {
                onNode.add(device(number, moment));
            }
            nodes.add(new NodeStatus(
                    new NodeId("gpu-%03d".formatted(first / DEVICES_ON_A_NODE)), (moment * 37L) % 900, onNode));
        }
        return new ClusterStatus(
                new NodeId("gpu-000"),
                Optional.of(new CoordinatorToken(3, "bench")),
                "ACTIVE",
                nodes,
                List.of(),
                Optional.of(new OomMoves(List.of(new OomMove(halved(), "DONE", 90_000)))),
                Optional.of(new Steering(
                        Optional.of(BigLoad.of(nodes)),
                        Optional.empty(),
                        waiting == 0 ? Optional.empty() : Optional.of(BigQueue.figures(waiting)))));
    }

    private static JobDirective halved() {
        return new JobDirective(
                new JobId("train-0"),
                1,
                17,
                OomLevel.MICRO_BATCH,
                new JobDirective.Sizes(OptionalInt.of(8), OptionalInt.of(4)),
                false,
                new JobDirective.Cause(
                        LEAKING, Optional.empty(), List.of(), "rank 3 ran out of memory in BACKWARD of step 17"));
    }

    /** Some of what could have happened in it. */
    public static Events events(Optional<EventId> after, Instant now) {
        About device = About.device(new NodeId("gpu-012"), new DeviceId("GPU-00000064-0000-4000-8000-000000000064"));
        List<ClusterEvent> all = List.of(
                event(
                        1,
                        now,
                        "coordinator-active",
                        EventSeverity.INFO,
                        About.node(new NodeId("gpu-000")),
                        "the coordinator on gpu-000 plans, as number 3, for 1000 devices of 125 nodes with 800 ranks;"
                                + " events from before it are not known"),
                event(
                        2,
                        now,
                        "operator-write",
                        EventSeverity.INFO,
                        About.CLUSTER,
                        "operator: reserve of all devices: 20%"),
                event(
                        3,
                        now,
                        "limit-changed",
                        EventSeverity.INFO,
                        device.withRank(new JobId("train-1"), 36),
                        "limit of rank train-1/36 on GPU 4 of gpu-012: 80.0 GiB -> 64.0 GiB; reserve 20%; 1 rank,"
                                + " budget 64.0 GiB (allocatable 80.0 GiB, reserve 20%, foreign 0 B)"),
                event(
                        4,
                        now,
                        "over-budget",
                        EventSeverity.WARNING,
                        device,
                        "GPU 4 of gpu-012 is over its budget: 80.0 GiB promised, budget 64.0 GiB"));
        return new Events(
                all.stream()
                        .filter(event -> after.isEmpty() || event.id().compareTo(after.get()) > 0)
                        .toList(),
                true);
    }

    private static ClusterEvent event(
            long sequence, Instant now, String kind, EventSeverity severity, About about, String text) {
        return new ClusterEvent(
                new EventId(3, sequence), now.minusSeconds(400 / sequence).toEpochMilli(), kind, severity, about, text);
    }

    private static DeviceStatus device(int number, int moment) {
        OptionalInt rank = BigLoad.rankOf(number, RANKS_IN_A_JOB);
        boolean hasRank = rank.isPresent();
        boolean isOver = number % 211 == 100;
        MemoryBytes limit = MemoryBytes.ofGibibytes(number % 3 == 0 ? 40 : 64);
        MemoryBytes used = MemoryBytes.ofMebibytes(hasRank ? 20_000 + (number * 97L + moment * 613L) % 18_000 : 300);
        MemoryBytes foreign = MemoryBytes.ofGibibytes(number % 89 == 7 ? 9 : 0);
        RankInstance instance = new RankInstance(
                new RankId(new JobId("train-" + number / RANKS_IN_A_JOB), rank.orElse(0)), 1000L + number, 1);
        BudgetTerms terms = TERMS.withMeasured(ALLOCATABLE, foreign);
        List<GrantReport> grants = hasRank
                ? List.of(new GrantReport(
                        instance,
                        Share.ALL,
                        Optional.of(PhaseLimits.uniform(limit)),
                        1,
                        1,
                        isOver ? ALLOCATABLE : limit))
                : List.of();
        SampleState state =
                number % 331 == 30 ? SampleState.LOST : number % 149 == 70 ? SampleState.STALE : SampleState.FRESH;
        return new DeviceStatus(
                new DeviceInfo(
                        new DeviceId("GPU-%08x-0000-4000-8000-%012x".formatted(number, number)),
                        number % DEVICES_ON_A_NODE,
                        "NVIDIA H100 80GB HBM3",
                        DeviceKind.DISCRETE,
                        Optional.empty()),
                Optional.of(new SampleStatus(
                        (moment * 91L + number) % 1000,
                        Optional.of(new MemoryUse(
                                ALLOCATABLE, Optional.of(MemoryBytes.ZERO), used, ALLOCATABLE.minusOrZero(used))),
                        Optional.of(foreign),
                        hasRank ? List.of(sample(instance, used, number, moment)) : List.of(),
                        List.of(),
                        Optional.of(new SampleQuality(state, 0)))),
                Optional.of(new LedgerReport(terms, terms, isOver, grants, KeeperCounts.NONE)),
                Optional.of(number % 173 == 12 ? RolloutState.STALLED : RolloutState.SETTLED),
                Optional.empty());
    }

    private static RankSample sample(RankInstance instance, MemoryBytes used, int number, int moment) {
        int turn = number + moment;
        return new RankSample(
                instance,
                new RankFacts(
                        OptionalInt.of(BigLoad.worldOf(number, RANKS_IN_A_JOB)),
                        OptionalInt.of(instance.rank().rank() % DEVICES_ON_A_NODE),
                        "torchrun",
                        0,
                        Optional.of("torch 2.10.0"),
                        List.of(EnforcedBy.TORCH)),
                new RankSample.Activity(TURN.get(Math.floorMod(turn, TURN.size())), OptionalLong.of(turn)),
                new RankUse(Optional.of(used), Optional.of(used), Optional.of(used), Optional.of(used), 0),
                EnforcedBy.TORCH,
                true,
                100,
                Optional.empty(),
                Optional.of(BigLoad.watch(number, number == LEAKING ? LEAK : NO_LEAK)),
                Optional.empty());
    }
}
