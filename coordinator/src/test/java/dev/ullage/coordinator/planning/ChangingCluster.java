package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.limits;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.PhasePeak;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.ReservedPart;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.KeeperCounts;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ReservationReport;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.Fixtures;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanOutcome.Planned;
import dev.ullage.coordinator.planning.predict.Newborn;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Four devices on two hosts with ranks of a job for each policy, and one thing after the other that happens to them.
 * Whatever is said again is said in new objects, as if it came off the wire.
 */
final class ChangingCluster {
    private static final ActorRef<ToWorker> WORKER =
            TestInbox.<ToWorker>create().getRef();
    private static final List<String> HOSTS = List.of("host-a", "host-a", "host-b", "host-b");
    private static final long[] AMOUNTS = {0, 1, 5, 20, 30, 64, 80};

    private final Random random;
    private final RankDemands demands;
    private final int[] ranksOn = new int[HOSTS.size()];
    /** Allocatable, foreign, what is reserved for a job, the limit of each rank, and whether they have it, in GiB. */
    private final long[][] told = new long[HOSTS.size()][];

    private final NavigableMap<DeviceId, DevicePlan> onTheirWay = new TreeMap<>();
    private final NavigableMap<DeviceId, WantedRoom> wanted = new TreeMap<>();
    private ClusterView view = ClusterView.EMPTY;
    private OperatorWishes wishes = OperatorWishes.NONE;
    private Instant now = Fixtures.T0;

    /** @param demands are shown the samples */
    ChangingCluster(long seed, RankDemands demands) {
        this.random = new Random(seed);
        this.demands = demands;
        view = view.with(announced(new NodeId("host-a"), Optional.empty(), WORKER, device(0), device(1)), now)
                .with(announced(new NodeId("host-b"), Optional.empty(), WORKER, device(2), device(3)), now);
        for (int i = 0; i < HOSTS.size(); i++) {
            ranksOn[i] = 1 + random.nextInt(3);
            told[i] = new long[] {80, 0, 0, 40, 0};
            report(i);
        }
    }

    private static DeviceId device(int number) {
        return new DeviceId("GPU-" + number);
    }

    Situation situation() {
        return new Situation(view, new TreeMap<>(onTheirWay), wishes, TOKEN, now, new TreeMap<>(wanted));
    }

    /** What was decided is carried out, or some of it. */
    void decided(List<Decided> all) {
        for (Decided one : all) {
            if (one.outcome() instanceof Planned planned && random.nextInt(3) > 0) {
                onTheirWay.put(planned.device(), planned.plan());
            }
        }
    }

    /** Something happens, or nothing but that time passes and devices report again. */
    void next() {
        now = now.plusMillis(random.nextInt(20) == 0 ? 6_000 : 250);
        int device = random.nextInt(HOSTS.size());
        if (random.nextInt(10) == 0) {
            followForLong(device);
        }
        JobId job = job(random.nextInt(6));
        RankId rank = new RankId(job, random.nextInt(3));
        switch (random.nextInt(16)) {
            case 0 -> ranksOn[device] = random.nextInt(4);
            case 1 -> told[device][random.nextInt(5)] = AMOUNTS[random.nextInt(AMOUNTS.length)];
            case 2 -> wishes = wishes.withReserve(List.of(device(device)), Share.ofPercent(10 * random.nextInt(5)));
            case 3 -> wishes = wishes.withShare(rank, Share.ofPercent(25 * random.nextInt(5)), now);
            case 4 -> wishes = wishes.withLimit(rank, amount(), now);
            case 5 ->
                wishes = wishes.withPolicy(
                        job, Optional.of(any(PolicyName.values())).map(PolicyName::label), now);
            case 6 -> wishes = wishes.withPriority(job, Optional.of(any(Priority.values())), now);
            case 7 -> wishes = wishes.withoutReserve(device(device));
            case 8 -> onTheirWay.remove(device(device));
            case 9 -> wanted.put(device(device), new WantedRoom(job, Priority.HIGH, gib(30)));
            case 10 -> wanted.remove(device(device));
            case 11 -> watch(device, any(SampleState.values()));
            case 12 -> sample(device);
            case 13 -> sample(device);
            default -> {}
        }
        wishes = wishes.remembering(new TreeSet<>(view.jobs()), now).stamped(TOKEN);
        for (int i = 0; i < HOSTS.size(); i++) {
            if (random.nextInt(4) > 0) {
                report(i);
            }
        }
    }

    @SafeVarargs
    private final <T> T any(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private Optional<MemoryBytes> amount() {
        return Optional.of(AMOUNTS[random.nextInt(AMOUNTS.length)])
                .filter(gibibytes -> gibibytes > 0)
                .map(Fixtures::gib);
    }

    private static JobId job(int number) {
        return new JobId("job-" + number);
    }

    private List<RankInstance> ranks(int device) {
        List<RankInstance> ranks = new ArrayList<>();
        for (int i = 0; i < ranksOn[device]; i++) {
            ranks.add(new RankInstance(new RankId(job((device + i) % 6), device), 100L + device * 10L + i, 1));
        }
        return ranks;
    }

    private void report(int device) {
        long[] says = told[device];
        BudgetTerms terms = new BudgetTerms(gib(says[0]), Share.ofPercent(20), gib(says[1]));
        List<GrantReport> grants = new ArrayList<>();
        for (RankInstance rank : ranks(device)) {
            grants.add(new GrantReport(
                    rank, Share.ALL, Optional.of(limits(gib(says[3]))), 2, says[4] == 0 ? 2 : 1, gib(says[3])));
        }
        List<ReservationReport> reserved = says[2] == 0
                ? List.of()
                : List.of(new ReservationReport(
                        new Reservation(
                                new ReservationId(job(0), new CoordinatorToken(1, "me"), 1),
                                Priority.MEDIUM,
                                List.of(new ReservedPart(
                                        new NodeId(HOSTS.get(device)), device(device), gib(says[2]), 1))),
                        true));
        LedgerReport ledger = new LedgerReport(
                terms,
                terms,
                says[4] == 80,
                grants,
                KeeperCounts.NONE,
                Optional.of(TurnReport.NONE),
                Optional.of(reserved));
        view = view.with(
                new LimitsReported(
                        new NodeId(HOSTS.get(device)),
                        device(device),
                        random.nextInt(40) == 0 ? Optional.empty() : Optional.of(TOKEN),
                        0,
                        ledger),
                now);
    }

    /** Long enough for services to be no newborns, by which those of other devices are then measured. */
    private void followForLong(int device) {
        for (int i = 0; i < 2 * Newborn.STEPS; i++) {
            now = now.plus(RankDemands.STEP);
            sample(device);
        }
    }

    private void watch(int device, SampleState state) {
        view = view.with(
                new DeviceWatched(new NodeId(HOSTS.get(device)), device(device), new SampleQuality(state, 0)), now);
    }

    private void sample(int device) {
        List<RankSample> samples = new ArrayList<>();
        for (RankInstance rank : ranks(device)) {
            if (random.nextInt(4) > 0) {
                samples.add(sample(rank));
            }
        }
        DeviceSampled sampled = new DeviceSampled(
                new NodeId(HOSTS.get(device)),
                device(device),
                0,
                Optional.empty(),
                Optional.of(MemoryBytes.ZERO),
                samples,
                List.of());
        demands.observe(samples, now);
        view = view.with(sampled, now);
    }

    private RankSample sample(RankInstance rank) {
        // Jobs 4 and 5 are services: they count no steps, and what they will need is predicted where that is wanted.
        boolean isService = rank.rank().job().compareTo(job(4)) >= 0;
        long step = isService ? 0 : random.nextInt(3) * 20L;
        return new RankSample(
                rank,
                new RankFacts(
                        OptionalInt.of(1 + random.nextInt(3)),
                        OptionalInt.of(0),
                        "test",
                        0,
                        Optional.empty(),
                        List.of()),
                new RankSample.Activity(Phase.FORWARD, OptionalLong.of(step)),
                new RankUse(amount(), amount(), amount(), amount(), random.nextInt(2)),
                EnforcedBy.ADVISORY,
                true,
                0,
                Optional.empty(),
                random.nextBoolean() ? Optional.of(watched(step)) : Optional.empty(),
                Optional.empty());
    }

    private RankWatch watched(long step) {
        Optional<MemoryBytes> peak = amount();
        return new RankWatch(
                new RankWatch.Progress(OptionalLong.of(step), OptionalLong.empty(), step),
                List.of(
                        new PhasePeak(Phase.FORWARD, peak, peak),
                        new PhasePeak(Phase.OPTIMIZER, amount(), Optional.empty())),
                new RankWatch.Allocator(
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        OptionalLong.empty(),
                        OptionalLong.of(0)),
                RankWatch.Leak.UNKNOWN,
                List.of(),
                Optional.empty());
    }
}
