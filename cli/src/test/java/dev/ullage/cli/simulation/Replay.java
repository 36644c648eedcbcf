package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.LedgerSimulation.Broken;
import dev.ullage.cli.simulation.LedgerSimulation.Outcome;
import dev.ullage.common.simulation.Shrinker;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Runs a seed again so that a person can see what happened, with as little of its script as still fails. */
final class Replay {
    static final String WHOLE_SCRIPT = "all";
    private static final int TRACE_LINES = 40;
    private static final int MAX_LINE_LENGTH = 240;
    private static final int MAX_SHRINK_TRIES = 400;

    private Replay() {}

    /** @param script {@value #WHOLE_SCRIPT}, or the ids of the disturbances to keep: {@code 0,4,7} */
    static Outcome run(long seed, String script, Rules rules) {
        return LedgerSimulation.run(scenario(seed, script), rules, TRACE_LINES);
    }

    private static Scenario scenario(long seed, String script) {
        Scenario whole = Scenario.of(seed);
        if (script.equals(WHOLE_SCRIPT)) {
            return whole;
        }
        Set<Integer> kept = Arrays.stream(script.split(",", -1))
                .filter(id -> !id.isBlank())
                .map(Integer::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
        return whole.with(
                whole.script().stream().filter(one -> kept.contains(one.id())).toList());
    }

    /** The smallest script found that fails in the same way, its last events, and how to see it again. */
    static String explain(long seed, Rules rules) {
        Scenario whole = Scenario.of(seed);
        Optional<Broken> broken = LedgerSimulation.run(whole, rules, 0).broken();
        if (broken.isEmpty()) {
            return "seed %d breaks no rule%n".formatted(seed);
        }
        List<Disturbance> smallest = Shrinker.shrink(
                whole.script(),
                script -> LedgerSimulation.run(whole.with(script), rules, 0)
                        .broken()
                        .filter(other -> other.kind() == broken.get().kind())
                        .isPresent(),
                MAX_SHRINK_TRIES);
        String ids = smallest.stream().map(one -> Integer.toString(one.id())).collect(Collectors.joining(","));
        String script = ids.isEmpty() ? "," : ids;
        return "seed %d: %d of %d disturbances are enough%n"
                        .formatted(seed, smallest.size(), whole.script().size())
                + report(seed, script, run(seed, script, rules));
    }

    static String report(long seed, String script, Outcome outcome) {
        StringBuilder text = new StringBuilder();
        outcome.lines().forEach(line -> text.append(shortened(line)).append(System.lineSeparator()));
        scenario(seed, script)
                .script()
                .forEach(one -> text.append("script ").append(one).append(System.lineSeparator()));
        text.append("seed %d, %d events, hash %016x: %s%n"
                .formatted(
                        seed,
                        outcome.events(),
                        outcome.traceHash(),
                        outcome.broken().map(Replay::describe).orElse("no rule broken")));
        text.append("replay: dev/checks/simulate.sh --replay %d %s%n".formatted(seed, script));
        return text.toString();
    }

    private static String describe(Broken broken) {
        return broken.kind() + ": " + broken.message();
    }

    private static String shortened(String line) {
        return line.length() <= MAX_LINE_LENGTH ? line : line.substring(0, MAX_LINE_LENGTH) + " ...";
    }
}
