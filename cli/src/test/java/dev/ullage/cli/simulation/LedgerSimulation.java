package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.Violation.Kind;
import dev.ullage.common.simulation.VirtualTime.EventBudgetExceededException;
import dev.ullage.coordinator.decisions.Decision;
import java.util.List;
import java.util.Optional;

/** One run: the script's faults, then calm, then rest. */
final class LedgerSimulation {
    /** Liveness: everything has settled this many ticks of the coordinator after the last fault. */
    static final int SETTLED_WITHIN_TICKS = 60;

    /** How long what has settled is watched. */
    private static final int WATCHED_TICKS = 4;

    private static final long FIRST_CALM_MILLIS = 1000;
    private static final long TICK_MILLIS = SimulatedCoordinator.SETTINGS.tick().toMillis();

    private final Scenario scenario;
    private final World world;
    private final Invariants invariants;
    private final Settlement settlement;

    private LedgerSimulation(Scenario scenario, Rules rules, int traceLines) {
        this.scenario = scenario;
        this.world = new World(scenario, rules, traceLines);
        this.invariants = new Invariants(world);
        this.settlement = new Settlement(world);
    }

    /**
     * How a run ended.
     *
     * @param settledAfterTicks of the coordinator, from the last fault; meaningless after a violation
     * @param lines the last lines of the trace, where they were asked for
     */
    record Outcome(long events, long traceHash, Optional<Broken> broken, int settledAfterTicks, List<String> lines) {
        boolean isOk() {
            return broken.isEmpty();
        }
    }

    /** A violation, as a value. */
    record Broken(Kind kind, String message) {}

    static Outcome run(Scenario scenario, Rules rules, int traceLines) {
        LedgerSimulation simulation = new LedgerSimulation(scenario, rules, traceLines);
        int ticks = 0;
        Optional<Broken> broken = Optional.empty();
        try {
            ticks = simulation.run();
        } catch (Violation violation) {
            broken = Optional.of(new Broken(violation.kind(), String.valueOf(violation.getMessage())));
        } catch (EventBudgetExceededException flood) {
            broken = Optional.of(new Broken(Kind.MESSAGES, String.valueOf(flood.getMessage())));
        } catch (RuntimeException defect) {
            // An invariant of production code, or a bug in it: either way the seed is what a person needs.
            broken = Optional.of(new Broken(Kind.SAFETY, defect.toString()));
        }
        World world = simulation.world;
        return new Outcome(
                world.time().events(),
                world.trace().hash(),
                broken,
                ticks,
                world.trace().lines());
    }

    /** What the coordinators decided in a run that is as it should be. */
    static List<Decision> decisions(Scenario scenario) {
        LedgerSimulation simulation = new LedgerSimulation(scenario, new Rules(), 0);
        simulation.run();
        return simulation.world.decisions();
    }

    private int run() {
        new Disturber(world).plan(scenario.script());
        long calmAt = calmAtMillis();
        runUntil(calmAt);
        world.calmDown();
        int ticks = 0;
        int restful = 0;
        Optional<String> missing = Optional.of("");
        while (restful < WATCHED_TICKS) {
            ticks++;
            runUntil(calmAt + ticks * TICK_MILLIS);
            missing = settlement.missing();
            restful = missing.isEmpty() ? restful + 1 : 0;
            if (ticks >= SETTLED_WITHIN_TICKS && missing.isPresent()) {
                throw new Violation(
                        Kind.LIVENESS, "not settled after %d ticks: %s".formatted(ticks, missing.orElseThrow()));
            }
        }
        return ticks - WATCHED_TICKS;
    }

    /** Soon after the last disturbance, while most of what it did still lasts; a shrunk script is a shorter run. */
    private long calmAtMillis() {
        List<Disturbance> script = scenario.script();
        if (script.isEmpty()) {
            return FIRST_CALM_MILLIS;
        }
        Disturbance last = script.get(script.size() - 1);
        return last.atMillis() + last.b();
    }

    private void runUntil(long millis) {
        boolean[] reached = new boolean[1];
        world.time().after(millis - world.time().nowMillis(), () -> reached[0] = true);
        while (!reached[0]) {
            world.time().step();
            invariants.check();
        }
    }
}
