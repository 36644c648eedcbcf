package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.Disturbance.Kind;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.common.simulation.Dice;
import dev.ullage.common.simulation.Network.Weather;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.PhaseShares;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

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
        LimitSettings limits =
                new LimitSettings(Share.ofPercent(10 + dice.below(30)), MemoryBytes.of(1), new Share(50), phases);
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
