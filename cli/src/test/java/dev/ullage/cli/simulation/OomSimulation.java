package dev.ullage.cli.simulation;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.coordinator.oom.OomDesk;
import dev.ullage.worker.ranks.JobBoard;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A job that runs out of memory, in virtual time: the production {@link OomDesk} and {@link JobBoard}, and the rank
 * client's rules ({@code python/ullage/steps.py}) in Java. Everything follows from the seed.
 *
 * <p>Until {@link #CALM_AT}: messages between coordinators and workers are lost, doubled and overtaken; links of ranks
 * break; workers are started anew without their memory; coordinators die and others take over, two at a time; the job
 * is started again; in some steps one or two ranks run out.
 */
final class OomSimulation {
    static final int CALM_AT = 20_000;
    private static final int END_AT = 40_000;
    private static final JobId JOB = new JobId("job");
    private static final Instant T0 = Instant.EPOCH;

    /** What went wrong, or nothing; and how much happened. */
    record Outcome(Optional<String> violation, int moves, int rounds, int steps, int losses) {}

    /** What a rank holds. */
    private record Held(JobDirective directive, boolean resumed) {}

    private final Random random;
    private final VirtualTime time = new VirtualTime();
    private final List<Host> hosts = new ArrayList<>();
    private final List<Rank> ranks = new ArrayList<>();
    private final List<Coordinator> coordinators = new ArrayList<>();
    private final NavigableMap<Long, JobDirective> followed = new TreeMap<>();
    private long highestEpoch;
    private int rounds;
    private int losses;
    private int steps;
    private int stepsAtCalm = -1;
    private boolean waiting;
    private long target;
    private long nextPid = 100;

    private OomSimulation(long seed) {
        random = new Random(seed);
    }

    static Outcome run(long seed) {
        OomSimulation simulation = new OomSimulation(seed);
        Optional<String> violation = Optional.empty();
        try {
            simulation.play();
        } catch (IllegalStateException e) {
            violation = Optional.of("seed " + seed + ", " + simulation.time.now() + " ms: " + e.getMessage());
        }
        return new Outcome(
                violation, simulation.followed.size(), simulation.rounds, simulation.steps, simulation.losses);
    }

    private void play() {
        int hostCount = 1 + random.nextInt(3);
        for (int host = 0; host < hostCount; host++) {
            hosts.add(new Host(new NodeId("host-" + host)));
        }
        int rankCount = Math.max(2, hostCount) + random.nextInt(4);
        for (int rank = 0; rank < rankCount; rank++) {
            ranks.add(new Rank(rank, hosts.get(rank % hostCount)));
        }
        ranks.forEach(Rank::reconnect);
        coordinators.add(new Coordinator());
        time.every(250, () -> coordinators.forEach(Coordinator::tick));
        time.every(1_000, () -> hosts.forEach(Host::report));
        time.every(20, this::train);
        time.every(500, this::disturb);
        time.runUntil(END_AT);
        check(steps > stepsAtCalm + 10, "the job did not go on: step " + steps + ", at the calm " + stepsAtCalm);
        for (Host host : hosts) {
            check(
                    host.holds() == (followed.isEmpty() ? 0 : followed.lastKey()),
                    host.node + " does not hold the newest directive");
        }
    }

    // ---- time and weather

    private boolean isCalm() {
        return time.now() >= CALM_AT;
    }

    private Instant instant() {
        return T0.plusMillis(time.now());
    }

    private boolean chance(double probability) {
        return !isCalm() && random.nextDouble() < probability;
    }

    /** Between coordinator and worker: lost, doubled, overtaken. */
    private void overTheNetwork(Runnable arrival) {
        if (chance(0.2)) {
            return;
        }
        time.after(1 + random.nextInt(isCalm() ? 20 : 400), arrival);
        if (chance(0.2)) {
            time.after(1 + random.nextInt(2_000), arrival);
        }
    }

    private void disturb() {
        if (isCalm()) {
            if (stepsAtCalm < 0) {
                stepsAtCalm = steps;
                coordinators.subList(0, coordinators.size() - 1).clear();
            }
            return;
        }
        if (chance(0.08)) {
            coordinators.add(new Coordinator());
        }
        if (coordinators.size() > 1 && chance(0.5)) {
            coordinators.remove(random.nextInt(coordinators.size()));
        }
        if (chance(0.08)) {
            hosts.get(random.nextInt(hosts.size())).restart();
        }
        if (chance(0.15)) {
            ranks.get(random.nextInt(ranks.size())).reconnect();
        }
        if (chance(0.05)) {
            restartJob();
        }
        forgetWhatNobodyHolds();
    }

    /**
     * When every process that held a directive is gone (all ranks, workers and coordinators; one that lost its
     * leadership has forgotten it as well), it never was.
     */
    private void forgetWhatNobodyHolds() {
        long last = followed.isEmpty() ? 0 : followed.lastKey();
        boolean isHeld = ranks.stream().anyMatch(rank -> rank.sequence() >= last)
                || hosts.stream().anyMatch(host -> host.holds() >= last)
                || coordinators.stream().anyMatch(coordinator -> coordinator.knows() >= last);
        if (!isHeld) {
            followed.clear();
            losses++;
        }
    }

    private static void check(boolean condition, String violation) {
        if (!condition) {
            throw new IllegalStateException(violation);
        }
    }

    // ---- the job: all ranks agree at the end of each step, as Steps.run does

    private void train() {
        forgetWhatNobodyHolds();
        if (waiting) {
            follow();
            return;
        }
        List<Rank> out = new ArrayList<>();
        if (chance(0.05)) {
            out.add(ranks.get(random.nextInt(ranks.size())));
            out.add(ranks.get(random.nextInt(ranks.size())));
        }
        long applied = ranks.get(0).applied;
        long newest = ranks.stream().mapToLong(Rank::sequence).max().orElse(0);
        if (!out.isEmpty()) {
            rounds++;
            waiting = true;
            target = applied + 1;
            out.forEach(rank -> time.after(random.nextInt(100), rank.runOut(steps)));
        } else if (newest > applied) {
            waiting = true;
            target = newest;
        } else {
            steps++;
        }
    }

    private void follow() {
        if (ranks.stream().anyMatch(rank -> rank.sequence() < target)) {
            return;
        }
        long most = ranks.stream().mapToLong(Rank::sequence).max().orElse(0);
        if (ranks.stream().anyMatch(rank -> rank.sequence() != most)) {
            target = most;
            return;
        }
        JobDirective directive = ranks.get(0).holding().directive();
        for (Rank rank : ranks) {
            check(directive.equals(rank.holding().directive()), "ranks hold different directives " + most);
            check(rank.applied < most, "rank " + rank.id + " would follow directive " + most + " twice");
        }
        JobDirective before = followed.putIfAbsent(most, directive);
        check(before == null || before.equals(directive), "directive " + most + " was another one before");
        check(most <= rounds, "more moves (" + most + ") than steps that failed (" + rounds + ")");
        boolean isNew = ranks.stream().anyMatch(rank -> !rank.holding().resumed());
        waiting = false;
        ranks.forEach(rank -> rank.apply(directive));
        if (isNew && (directive.restart() || directive.level() == OomLevel.STOP)) {
            restartJob();
        }
    }

    private void restartJob() {
        waiting = false;
        ranks.forEach(Rank::restart);
    }

    /** A rank's process, by the rules of its client. */
    private final class Rank {
        private final int id;
        private final Host host;
        private RankInstance instance;
        private long applied;
        private @Nullable Held held;
        private @Nullable OomReport report;
        private @Nullable Applied answer;
        private int link;

        Rank(int id, Host host) {
            this.id = id;
            this.host = host;
            this.instance = new RankInstance(new RankId(JOB, id), nextPid++, 1);
        }

        long sequence() {
            Held known = held;
            return known == null ? 0 : known.directive().sequence();
        }

        Held holding() {
            Held known = held;
            if (known == null) {
                throw new IllegalStateException("rank " + id + " holds nothing");
            }
            return known;
        }

        /** Another process; the worker notices that the old one is gone a while later. */
        void restart() {
            RankInstance old = instance;
            time.after(random.nextInt(1_000), () -> host.gone(old));
            instance = new RankInstance(new RankId(JOB, id), nextPid++, 1);
            applied = 0;
            held = null;
            report = null;
            answer = null;
            reconnect();
        }

        void reconnect() {
            int mine = ++link;
            time.after(1 + random.nextInt(isCalm() ? 20 : 500), () -> {
                if (mine == link) {
                    host.hello(this);
                    say(this::sayAll);
                }
            });
        }

        private void sayAll() {
            OomReport out = report;
            Applied done = answer;
            if (done != null) {
                host.applied(done, holding().directive());
            }
            if (out != null) {
                host.ranOut(out);
            }
        }

        /** A line arrives unless the connection breaks before. */
        void say(Runnable arrival) {
            int mine = link;
            time.after(1 + random.nextInt(20), () -> {
                if (mine == link) {
                    arrival.run();
                }
            });
        }

        Runnable runOut(int step) {
            RankInstance process = instance;
            long under = applied;
            return () -> {
                if (!process.equals(instance) || applied != under) {
                    return;
                }
                Means means = new Means(OptionalInt.of(64), OptionalInt.of(64), List.of(), random.nextInt(5) > 0);
                OomReport out = new OomReport(
                        instance, applied, step, Phase.BACKWARD, OomKind.DEVICE_FULL, Figures.UNKNOWN, means);
                report = out;
                say(() -> host.ranOut(out));
            };
        }

        void hear(JobDirective directive, boolean resumed) {
            if (directive.sequence() > sequence()) {
                held = new Held(directive, resumed);
            }
        }

        void apply(JobDirective directive) {
            applied = directive.sequence();
            report = null;
            Applied done = new Applied(instance, applied, Optional.empty());
            answer = done;
            say(() -> host.applied(done, directive));
        }
    }

    /** A worker, as its hub, sessions and board act together. */
    private final class Host {
        private final NodeId node;
        private final NavigableMap<RankInstance, Rank> sessions = new TreeMap<>();
        private final NavigableMap<RankInstance, Held> told = new TreeMap<>();
        private JobBoard board = new JobBoard();
        private Optional<CoordinatorToken> persisted = Optional.empty();

        Host(NodeId node) {
            this.node = node;
        }

        long holds() {
            return board.newest(JOB).map(JobDirective::sequence).orElse(0L);
        }

        void restart() {
            board = new JobBoard();
            persisted.ifPresent(board::learn);
            List<Rank> mine = new ArrayList<>(sessions.values());
            sessions.clear();
            told.clear();
            mine.forEach(Rank::reconnect);
        }

        void hello(Rank rank) {
            boolean isNew = sessions.put(rank.instance, rank) == null;
            Optional<JobDirective> holds = Optional.ofNullable(rank.held).map(Held::directive);
            board.joined(rank.instance, OptionalInt.of(ranks.size()), holds, instant())
                    .ifPresent(this::tellAll);
            Held before = told.get(rank.instance);
            if (before != null) {
                tell(rank, before);
            }
            board.newest(JOB).filter(newest -> isNew).ifPresent(newest -> tell(rank, new Held(newest, true)));
            reportChanges();
        }

        void gone(RankInstance instance) {
            sessions.remove(instance);
            told.remove(instance);
            board.left(instance, instant());
            reportChanges();
        }

        void ranOut(OomReport report) {
            Rank rank = sessions.get(report.instance());
            if (rank != null) {
                board.ranOut(report, instant()).ifPresent(newest -> tell(rank, new Held(newest, false)));
                reportChanges();
            }
        }

        void applied(Applied applied, JobDirective directive) {
            if (sessions.containsKey(applied.instance())) {
                board.applied(applied, directive, instant()).ifPresent(this::tellAll);
                reportChanges();
            }
        }

        void learn(CoordinatorToken token) {
            board.learn(token);
            persist(token);
            report();
        }

        void direct(CoordinatorToken token, JobDirective directive) {
            persist(token);
            board.direct(token, directive, instant()).ifPresent(this::tellAll);
            report();
        }

        private void persist(CoordinatorToken token) {
            if (persisted.isEmpty() || persisted.get().isOlderThan(token)) {
                persisted = Optional.of(token);
            }
        }

        private void tellAll(JobDirective directive) {
            new ArrayList<>(sessions.values()).forEach(rank -> tell(rank, new Held(directive, false)));
        }

        private void tell(Rank rank, Held what) {
            told.put(rank.instance, what);
            RankInstance process = rank.instance;
            rank.say(() -> {
                if (process.equals(rank.instance)) {
                    rank.hear(what.directive(), what.resumed());
                }
            });
        }

        private void reportChanges() {
            if (board.takeChanged()) {
                report();
            }
        }

        /** To whoever this worker takes for the coordinator now. */
        void report() {
            JobsReported report = board.report(node);
            Coordinator to = coordinators.get(random.nextInt(coordinators.size()));
            overTheNetwork(() -> to.hear(report));
        }
    }

    /** A coordinator's leadership in short: claims, is active once every worker has answered, claims again. */
    private final class Coordinator {
        private final String uid = "c-" + random.nextInt(1_000_000);
        private CoordinatorToken token = new CoordinatorToken(++highestEpoch, uid);
        private OomDesk desk = OomDesk.EMPTY;
        private final NavigableMap<NodeId, CoordinatorToken> answered = new TreeMap<>();
        private long claimAt;

        void hear(JobsReported report) {
            if (!coordinators.contains(this)) {
                return;
            }
            if (report.token().filter(token::isOlderThan).isPresent()) {
                token = new CoordinatorToken(report.token().get().epoch() + 1, uid);
                desk = OomDesk.EMPTY;
                answered.clear();
                claimAt = time.now() + 500 + random.nextInt(1_500);
                forgetWhatNobodyHolds();
                return;
            }
            report.token().ifPresent(said -> answered.put(report.node(), said));
            desk = desk.with(report, instant());
            turn();
        }

        long knows() {
            return desk.status(instant()).stream()
                    .mapToLong(move -> move.directive().sequence())
                    .max()
                    .orElse(0);
        }

        void tick() {
            if (time.now() >= claimAt) {
                CoordinatorToken mine = token;
                hosts.stream()
                        .filter(host -> !mine.equals(answered.get(host.node)))
                        .forEach(host -> overTheNetwork(() -> host.learn(mine)));
            }
            turn();
        }

        private void turn() {
            // After a time without an answer a coordinator goes ahead with the workers it knows; the desk must not.
            boolean isActive = answered.containsValue(token) || time.now() > claimAt + 5_000;
            if (time.now() < claimAt || !isActive) {
                return;
            }
            CoordinatorToken mine = token;
            OomDesk.Turn turn = desk.turn(mine, Duration.ofSeconds(1), instant());
            desk = turn.desk();
            turn.sends().forEach(send -> hosts.stream()
                    .filter(host -> host.node.equals(send.worker()))
                    .forEach(host -> overTheNetwork(() -> host.direct(mine, send.directive()))));
        }
    }
}
