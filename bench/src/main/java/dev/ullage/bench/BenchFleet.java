package dev.ullage.bench;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.Allocator;
import dev.ullage.common.model.RankWatch.Leak;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.Protocol;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * A cluster that never was, by what its workers say: hosts with eight devices of 80 GiB, on each so many ranks of jobs
 * of 64, all of which train within the limits they have. What a worker says is made anew each time, as if it came off
 * the wire.
 */
final class BenchFleet {
    private static final int DEVICES_ON_A_NODE = 8;
    private static final int RANKS_IN_A_JOB = 64;
    private static final MemoryBytes ALLOCATABLE = MemoryBytes.ofGibibytes(80);
    private static final BudgetTerms TERMS =
            new BudgetTerms(ALLOCATABLE, Share.ofPercent(20), MemoryBytes.ZERO, Optional.empty());

    private final int devices;
    private final int ranksOnADevice;
    private final long steps;
    private final ActorRef<ToWorker> worker;

    /** @param steps that each rank has done when it is looked at first; 0: it counts none, like a service */
    BenchFleet(int devices, int ranksOnADevice, long steps, ActorRef<ToWorker> worker) {
        this.devices = devices;
        this.ranksOnADevice = ranksOnADevice;
        this.steps = steps;
        this.worker = worker;
    }

    List<WorkerAnnounced> announcements(Optional<CoordinatorToken> token) {
        List<WorkerAnnounced> all = new ArrayList<>();
        for (int first = 0; first < devices; first += DEVICES_ON_A_NODE) {
            List<DeviceInfo> infos = IntStream.range(first, Math.min(devices, first + DEVICES_ON_A_NODE))
                    .mapToObj(BenchFleet::info)
                    .toList();
            all.add(new WorkerAnnounced(node(first), Protocol.VERSION, token, infos, worker));
        }
        return all;
    }

    /**
     * Of every device.
     *
     * @param revision the plan that all ledgers have worked on
     * @param budget what its ranks share by what was last ordered
     * @param changing of so many devices in a thousand the foreign memory is another than the moment before
     */
    List<LimitsReported> reports(
            Optional<CoordinatorToken> token, long revision, MemoryBytes budget, int moment, int changing) {
        List<LimitsReported> all = new ArrayList<>();
        for (int number = 0; number < devices; number++) {
            boolean isOther = (number * 7 + moment * 31) % 1000 < changing;
            MemoryBytes foreign = MemoryBytes.ofMebibytes(isOther ? 64 : 0);
            BudgetTerms terms = TERMS.withMeasured(ALLOCATABLE, foreign);
            PhaseLimits limits = PhaseLimits.uniform(budget.dividedBy(ranksOnADevice));
            List<GrantReport> grants = new ArrayList<>();
            for (int i = 0; i < ranksOnADevice; i++) {
                grants.add(new GrantReport(instance(number, i), Share.ALL, Optional.of(limits), 1, 1, limits.max()));
            }
            LedgerReport ledger = new LedgerReport(
                    terms, terms, false, grants, KeeperCounts.NONE, Optional.empty(), Optional.of(List.of()));
            all.add(new LimitsReported(node(number), info(number).id(), token, revision, ledger));
        }
        return all;
    }

    /** Of every device; each rank holds another amount than the moment before. */
    List<DeviceSampled> samples(int moment) {
        List<DeviceSampled> all = new ArrayList<>();
        for (int number = 0; number < devices; number++) {
            List<RankSample> ranks = new ArrayList<>();
            for (int i = 0; i < ranksOnADevice; i++) {
                ranks.add(sample(instance(number, i), number + i, moment));
            }
            MemoryBytes used = MemoryBytes.ofMebibytes(20_000 + (number * 97L + moment * 613L) % 18_000);
            all.add(new DeviceSampled(
                    node(number),
                    info(number).id(),
                    0,
                    Optional.of(new MemoryUse(
                            ALLOCATABLE, Optional.of(MemoryBytes.ZERO), used, ALLOCATABLE.minusOrZero(used))),
                    Optional.of(MemoryBytes.ZERO),
                    ranks,
                    List.of()));
        }
        return all;
    }

    List<DeviceWatched> qualities() {
        return IntStream.range(0, devices)
                .mapToObj(number ->
                        new DeviceWatched(node(number), info(number).id(), new SampleQuality(SampleState.FRESH, 0)))
                .toList();
    }

    private RankSample sample(RankInstance instance, int turn, int moment) {
        MemoryBytes held = MemoryBytes.ofMebibytes((20_000 + (turn * 97L + moment * 613L) % 18_000) / ranksOnADevice);
        return new RankSample(
                instance,
                new RankFacts(
                        OptionalInt.of(RANKS_IN_A_JOB),
                        OptionalInt.of(instance.rank().rank() % DEVICES_ON_A_NODE),
                        "torchrun",
                        0,
                        Optional.of("torch 2.10.0"),
                        List.of(EnforcedBy.TORCH)),
                new RankSample.Activity(
                        Phase.FORWARD, steps == 0 ? OptionalLong.empty() : OptionalLong.of(steps + moment / 4)),
                new RankUse(Optional.of(held), Optional.of(held), Optional.of(held), Optional.of(held), 0),
                EnforcedBy.TORCH,
                true,
                100,
                Optional.empty(),
                steps == 0 ? Optional.empty() : Optional.of(watch(turn, moment)),
                Optional.empty());
    }

    private RankWatch watch(int turn, int moment) {
        MemoryBytes peak = MemoryBytes.ofMebibytes((38_000 + turn % 500) / ranksOnADevice);
        return new RankWatch(
                new RankWatch.Progress(OptionalLong.of(steps + moment / 4), OptionalLong.empty(), 50),
                List.of(
                        new PhasePeak(Phase.FORWARD, Optional.of(peak), Optional.of(peak)),
                        new PhasePeak(Phase.BACKWARD, Optional.of(peak), Optional.of(peak)),
                        new PhasePeak(Phase.OPTIMIZER, Optional.of(peak), Optional.of(peak))),
                new Allocator(
                        OptionalLong.of(moment),
                        OptionalLong.of(100),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalLong.of(0),
                        OptionalLong.of(0)),
                Leak.UNKNOWN,
                List.of(),
                Optional.empty());
    }

    private RankInstance instance(int device, int onDevice) {
        int number = device * ranksOnADevice + onDevice;
        return new RankInstance(
                new RankId(new JobId("train-" + number / RANKS_IN_A_JOB), number % RANKS_IN_A_JOB), 1000L + number, 1);
    }

    private static NodeId node(int device) {
        return new NodeId("gpu-%04d".formatted(device / DEVICES_ON_A_NODE));
    }

    private static DeviceInfo info(int number) {
        return new DeviceInfo(
                new DeviceId("GPU-%08x-0000-4000-8000-%012x".formatted(number, number)),
                number % DEVICES_ON_A_NODE,
                "NVIDIA H100 80GB HBM3",
                DeviceKind.DISCRETE,
                Optional.empty());
    }
}
