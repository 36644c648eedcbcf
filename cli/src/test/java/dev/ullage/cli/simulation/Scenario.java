package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.Disturbance.Kind;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.Share;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicySettings;
import dev.ullage.config.TurnMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a seed stands for: the cluster, its weather, and the script of what happens to it.
 *
 * @param isDuelLeftAlive whether two coordinators stay alive after the faults have stopped
 */
record Scenario(
        long seed,
        Size size,
        Weather weather,
        boolean isDuelLeftAlive,
        LimitSettings limits,
        List<Disturbance> script) {
    /** Disturbances happen only before this. */
    static final long FAULTS_UNTIL_MILLIS = 10_000;

    private static final long FIRST_FAULT_MILLIS = 800;
    private static final List<Kind> KINDS = List.of(Kind.values());

    /** What moves limits; the faults are only interesting while they move. */
    private static final List<Kind> OFTEN = List.of(
            Kind.RANK_JOINS,
            Kind.RANK_JOINS,
            Kind.RANK_RESTARTS,
            Kind.RESERVE_IS_SET,
            Kind.SHARE_IS_SET,
            Kind.FOREIGN_MEMORY_CHANGES,
            Kind.CAPACITY_CHANGES);

    private static final int MAX_DISTURBANCES = 28;
    private static final long TURNS = 0x7475726e73L;

    Scenario {
        script = List.copyOf(script);
    }

    /** How many there are at the start. */
    record Size(int hosts, int devicesPerHost, int ranksPerDevice) {}

    static Scenario of(long seed) {
        Dice dice = new Dice(seed);
        Size size = new Size(1 + dice.below(2), 1 + dice.below(2), 1 + dice.below(3));
        Weather weather =
                new Weather(dice.below(4) * 50, dice.below(3) * 60, dice.below(3) * 80, 1, 1 + dice.below(60), 400);
        Share all = Share.ALL;
        PhaseShares phases = dice.chance(300)
                ? new PhaseShares(all, all, all, Share.ofPercent(80), Share.ofPercent(60), all, Share.ofPercent(50))
                : PhaseShares.uniform(all);
        Share reserve = Share.ofPercent(10 + dice.below(30));
        LimitSettings limits =
                new LimitSettings(reserve, MemoryBytes.of(1), new Share(50), phases, policies(seed), turnMode(seed));
        boolean isDuelLeftAlive = dice.chance(250);
        List<Disturbance> script = new ArrayList<>();
        int count = 3 + dice.below(MAX_DISTURBANCES - 2);
        for (int i = 0; i < count; i++) {
            script.add(disturbance(dice));
        }
        script.sort(Comparator.comparingLong(Disturbance::atMillis));
        List<Disturbance> numbered = new ArrayList<>();
        for (Disturbance one : script) {
            numbered.add(new Disturbance(numbered.size(), one.atMillis(), one.kind(), one.a(), one.b()));
        }
        return new Scenario(seed, size, weather, isDuelLeftAlive, limits, numbered);
    }

    private static TurnMode turnMode(long seed) {
        return turnDice(seed).chance(500) ? TurnMode.AUTO : TurnMode.OFF;
    }

    /** Dice of their own: what they fall on changes nothing else. */
    private static Dice turnDice(long seed) {
        return new Dice(seed ^ TURNS);
    }

    /** Each job says what it needs, small enough that taking turns is often possible and large enough to want it. */
    private static PolicySettings policies(long seed) {
        Dice dice = turnDice(seed).split();
        PolicySettings shipped = PolicySettings.defaults();
        JobTerms any = shipped.anyJob();
        NavigableMap<JobId, JobTerms> jobs = new TreeMap<>();
        for (JobId job : World.JOBS) {
            MemoryBytes persistent = MemoryBytes.ofMebibytes(dice.between(256, 2048));
            BurstNeed need = new BurstNeed(
                    persistent,
                    persistent.plus(MemoryBytes.ofMebibytes(dice.between(1024, 24_000))),
                    dice.chance(500) ? List.of(Phase.BACKWARD) : BurstNeed.DEFAULT_PHASES);
            jobs.put(job, new JobTerms(any.policy(), any.priority(), any.modelSize(), any.limit(), Optional.of(need)));
        }
        return new PolicySettings(
                any, jobs, shipped.priorityPool(), shipped.hybrid(), shipped.observed(), shipped.planned());
    }

    boolean takesTurns() {
        return limits.turns() == TurnMode.AUTO;
    }

    private static Disturbance disturbance(Dice dice) {
        Kind kind = dice.pick(dice.chance(400) ? OFTEN : KINDS);
        if (kind == Kind.WORKER_LOSES_ITS_DISK && dice.chance(600)) {
            kind = Kind.WORKER_CRASHES_AT_NEXT_WRITE;
        }
        long at = dice.between(FIRST_FAULT_MILLIS, FAULTS_UNTIL_MILLIS - 1);
        return new Disturbance(0, at, kind, dice.below(1000), dice.below(1000));
    }

    Scenario with(List<Disturbance> other) {
        return new Scenario(seed, size, weather, isDuelLeftAlive, limits, other);
    }
}
