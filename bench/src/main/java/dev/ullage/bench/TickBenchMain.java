package dev.ullage.bench;

import com.sun.management.ThreadMXBean;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.EvennessSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.admission.AdmissionDesk;
import dev.ullage.coordinator.evenness.EvennessDesk;
import dev.ullage.coordinator.events.EventLog;
import dev.ullage.coordinator.events.Seen;
import dev.ullage.coordinator.history.UseHistory;
import dev.ullage.coordinator.http.StatusJson;
import dev.ullage.coordinator.metrics.MetricsPage;
import dev.ullage.coordinator.oom.OomDesk.Standing;
import dev.ullage.coordinator.planning.Explanations;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.OperatorWishes;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.RoomToMake;
import dev.ullage.coordinator.planning.Situation;
import dev.ullage.coordinator.rollout.Rollouts;
import dev.ullage.coordinator.view.ClusterView;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * What the parts of a coordinator's tick cost, by a stopwatch: processor time of the one thread and bytes it allocated,
 * medians, so that what else the machine does is not in the figures. The whole tick is that of the shipped logic; the
 * parts are the shipped parts, fed by themselves. Run by {@code bench/tick.sh}.
 */
public final class TickBenchMain {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration TICK = Duration.ofMillis(250);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int TICKS_A_SAMPLE = 4;

    private final int devices;
    private final int ranks;
    private final int rounds;
    private final BenchFleet fleet;
    private final BenchFleet serving;
    private final ActorRef<ToOperator> nobody;
    private final Map<String, List<long[]>> figures = new LinkedHashMap<>();
    private final LimitSettings limits = LimitSettings.defaults();
    private final RankDemands services = new RankDemands(ObservedPredictor.PRICED);
    private final CoordinatorLogic logic = logic(limits);
    private final CoordinatorLogic queued = logic(limits);
    private final LimitPlanner planner = LimitPlanner.of(CoordinatorSettings.defaults(), limits);
    private final UseHistory history = new UseHistory();
    private final EvennessDesk evenness = new EvennessDesk(EvennessSettings.defaults());
    private final AdmissionDesk queue =
            new AdmissionDesk(CoordinatorSettings.defaults().queue());
    private final EventLog events = new EventLog();
    private final MetricsPage page = new MetricsPage(false);
    private ClusterView view = ClusterView.EMPTY;
    private MemoryBytes budget = MemoryBytes.ofGibibytes(64);
    private Instant now = START;
    /** So that no compiler finds that nobody wants to know. */
    private long answers;

    private TickBenchMain(int devices, int ranks, int rounds, ActorRef<ToWorker> worker, ActorRef<ToOperator> nobody) {
        this.devices = devices;
        this.ranks = ranks;
        this.rounds = rounds;
        this.nobody = nobody;
        this.fleet = new BenchFleet(devices, ranks, 100, worker);
        this.serving = new BenchFleet(devices, ranks, 0, worker);
    }

    private static CoordinatorLogic logic(LimitSettings limits) {
        return new CoordinatorLogic(
                CoordinatorSettings.defaults(),
                limits,
                new RankDemands(ObservedPredictor.PHASE_MAX),
                new NodeId("bench"),
                "bench",
                START);
    }

    /** @param args rounds to warm up and to measure, then pairs {@code DEVICESxRANKS} */
    public static void main(String[] args) {
        int warmUp = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 100;
        List<String> sizes = args.length > 2
                ? Arrays.asList(args).subList(2, args.length)
                : List.of("100x1", "1000x1", "4000x1", "100x8", "1000x8", "4000x8");
        ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), "bench");
        try {
            // What the compiler learns of the first size must not be what the others are measured with.
            new TickBenchMain(200, 2, warmUp, system.ignoreRef(), system.ignoreRef()).run();
            for (String size : sizes) {
                int cross = size.indexOf('x');
                TickBenchMain bench = new TickBenchMain(
                        Integer.parseInt(size.substring(0, cross)),
                        Integer.parseInt(size.substring(cross + 1)),
                        rounds,
                        system.ignoreRef(),
                        system.ignoreRef());
                bench.run();
                bench.print();
            }
        } finally {
            system.terminate();
        }
    }

    private void run() {
        for (int moment = 0; moment < 20; moment++) {
            tell(moment, List.of(logic, queued));
            now = now.plus(TICK);
            logic.onTick(now);
            queued.onTick(now);
        }
        submit();
        figures.clear();
        for (int moment = 0; moment < 4 * TICKS_A_SAMPLE; moment += TICKS_A_SAMPLE) {
            predict(moment);
        }
        for (int moment = 20; moment < 20 + rounds; moment++) {
            now = now.plus(TICK);
            tell(moment, List.of(logic, queued));
            tick(moment);
            parts(moment);
        }
        for (int moment = 20 + rounds; moment < 20 + rounds + Math.max(10, rounds / 5); moment++) {
            now = now.plus(TICK);
            changeEverything(moment);
        }
    }

    /** What the workers say in a quarter of a second; with the first of four also what they measured. */
    private void tell(int moment, List<CoordinatorLogic> logics) {
        Optional<CoordinatorToken> token = logic.leadership().token();
        List<WorkerAnnounced> announcements = fleet.announcements(token);
        List<LimitsReported> reports = fleet.reports(token, 0, budget, moment, 10);
        boolean areSampled = moment % TICKS_A_SAMPLE == 0;
        List<DeviceSampled> samples = areSampled ? fleet.samples(moment) : List.of();
        List<DeviceWatched> qualities = areSampled ? fleet.qualities() : List.of();
        for (int i = 0; i < logics.size(); i++) {
            CoordinatorLogic each = logics.get(i);
            String which = i == 0 ? "" : "(again) ";
            time("", () -> {
                announcements.forEach(announced -> each.onAnnounced(announced, false, now));
                return true;
            });
            time(i == 0 ? "reports: a message each, logic" : which, () -> {
                reports.forEach(report -> each.onReported(report, now));
                return true;
            });
            time(i == 0 && areSampled ? "samples: a message each, logic" : which, () -> {
                samples.forEach(sample -> each.onSampled(sample, now));
                qualities.forEach(quality -> each.onWatched(quality, now));
                return true;
            });
        }
        announcements.forEach(announced -> view = view.with(announced, now));
        samples.forEach(sample -> view = view.with(sample, now));
        qualities.forEach(quality -> view = view.with(quality, now));
        time("view: with every report", () -> {
            reports.forEach(report -> view = view.with(report, now));
            return true;
        });
    }

    private void tick(int moment) {
        boolean isSampled = moment % TICKS_A_SAMPLE == 0;
        time(isSampled ? "TICK, after new samples" : "TICK, reports alone", () -> {
            logic.onTick(now);
            return !logic.takeEffects().isEmpty();
        });
        time(isSampled ? "TICK with 20 jobs waiting, after new samples" : "TICK with 20 jobs waiting", () -> {
            queued.onTick(now);
            return !queued.takeEffects().isEmpty();
        });
    }

    private void parts(int moment) {
        CoordinatorToken token = logic.leadership().token().orElseThrow();
        Situation situation =
                new Situation(logic.view(), logic.rollouts().onTheirWay(), OperatorWishes.NONE, token, now, Map.of());
        List<Decided> decided = new ArrayList<>();
        time("planning, as if for the first time", () -> decided.addAll(planner.decide(situation)));
        time("explanations, as if for the first time", () -> !Explanations.of(
                        decided.stream().map(Decided::outcome).toList(), limits.policies(), situation)
                .isEmpty());
        ClusterView known = logic.view();
        Rollouts rollouts = logic.rollouts();
        time("rollouts: tick and what is due", () -> rollouts.onTick(now, Duration.ofSeconds(10))
                .due(now, Duration.ofSeconds(2))
                .isEmpty());
        if (moment % TICKS_A_SAMPLE == 0) {
            time("history: a row, once a second", () -> {
                history.observe(known, now);
                return true;
            });
            Instant look = START.plusSeconds(1_000_000L + moment * 5L);
            Standing standing = new Standing(true, Optional.empty());
            time(
                    "evenness: a look, once in 5 s",
                    () -> !evenness.look(known, job -> standing, look).orders().isEmpty());
        }
        AdmissionDesk.Cluster cluster = new AdmissionDesk.Cluster(
                known,
                token,
                Set.of(),
                (device, than) -> RoomToMake.on(device, than, known, limits, OperatorWishes.NONE));
        time("queue, nobody waits", () -> queue.tick(cluster, now).sends().isEmpty());
        time("events: what changed", () -> {
            events.observe(new Seen(new NodeId("bench"), logic.leadership(), known, rollouts), now);
            return true;
        });
        if (moment % TICKS_A_SAMPLE == 0) {
            shown();
        }
    }

    /** Of services, all of them new: before they were followed for a while, each is compared with all others. */
    private void predict(int moment) {
        List<DeviceSampled> samples = serving.samples(moment);
        Instant then = START.plusSeconds(moment);
        time("prediction: observe services, once a second", () -> {
            samples.forEach(sample -> services.observe(sample.ranks(), then));
            return true;
        });
        time(
                "prediction: ask for each service",
                () -> samples.stream()
                                .flatMap(sample -> sample.ranks().stream())
                                .filter(rank -> services.of(rank.instance()).isPresent())
                                .count()
                        > 0);
    }

    /** What is made when somebody asks. */
    private void shown() {
        List<ClusterStatus> status = new ArrayList<>();
        time("status", () -> status.add(logic.status(now)));
        time(
                "status as JSON text",
                () -> StatusJson.of(status.get(0), now).toString().getBytes(StandardCharsets.UTF_8).length > 0);
        time("/metrics", () -> page.render(status.get(0), Duration.ofMillis(1)).length > 0);
    }

    /** An operator sets another reserve for all devices: every plan is new, and sent. */
    private void changeEverything(int moment) {
        int percent = moment % 2 == 0 ? 20 : 30;
        logic.onWrite(new SetReserve(Optional.empty(), Share.ofPercent(percent), nobody), now);
        time("TICK in which every plan changes", () -> {
            logic.onTick(now);
            return !logic.takeEffects().isEmpty();
        });
        budget = MemoryBytes.ofGibibytes(80).times(Share.ofPercent(100 - percent));
    }

    private void submit() {
        for (int i = 0; i < 20; i++) {
            JobRequest request = new JobRequest(
                    new JobId("waits-" + i),
                    "bench",
                    Priority.MEDIUM,
                    List.of(RankGroup.ofMemory(16, MemoryBytes.ofGibibytes(60))),
                    1,
                    JobRequest.Wanted.ANY,
                    OptionalLong.empty());
            queued.onRequest(new SubmitRequest(request, 0, false, nobody), now);
        }
    }

    /** @param part empty or in brackets: not shown */
    private void time(String part, BooleanSupplier what) {
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long start = THREADS.getCurrentThreadCpuTime();
        answers += what.getAsBoolean() ? 1 : 0;
        long took = THREADS.getCurrentThreadCpuTime() - start;
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - bytes;
        if (!part.isEmpty() && !part.startsWith("(")) {
            figures.computeIfAbsent(part, name -> new ArrayList<>()).add(new long[] {took, allocated});
        }
    }

    private void print() {
        System.out.printf(
                "%ndevices: %d, ranks of each: %d, answers: %d%30s%12s%n",
                devices, ranks, answers, "ms, median", "MB, median");
        figures.forEach((part, values) ->
                System.out.printf("  %-50s %16.3f %11.3f%n", part, median(values, 0) / 1e6, median(values, 1) / 1e6));
    }

    private static double median(List<long[]> values, int index) {
        long[] sorted =
                values.stream().mapToLong(value -> value[index]).sorted().toArray();
        return sorted[sorted.length / 2];
    }
}
