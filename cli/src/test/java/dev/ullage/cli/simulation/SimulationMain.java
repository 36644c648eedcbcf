package dev.ullage.cli.simulation;

import dev.ullage.cli.simulation.LedgerSimulation.Outcome;
import dev.ullage.cli.simulation.Violation.Kind;
import dev.ullage.common.simulation.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Runs seeds and prints one JSON line; what {@code dev/checks/simulate.sh} calls. Exit status 1: a rule was broken.
 *
 * <pre>
 *   SEEDS [FIRST]                    that many seeds
 *   --replay SEED [SCRIPT]           one seed, with the last events and the script shrunk; SCRIPT: all, or 0,4,7
 *   --mutants SEEDS                  in how many seeds each mutant is noticed, as a Markdown table
 *   --gangs SEEDS [FIRST]            that many seeds of the reservations of whole jobs
 *   --gangs 1 SEED --trace           one of them, with all that is sent, lost, heard and decided, and all that fails
 *   --gang-mutants SEEDS             in how many seeds each mutant of theirs is noticed
 * </pre>
 */
public final class SimulationMain {
    private static final String TRACE = "--trace";
    private static final int SHOWN_FAILURES = 3;
    private static final double NANOS_PER_SECOND = 1e9;

    private SimulationMain() {}

    public static void main(String[] args) {
        List<String> arguments = List.of(args);
        boolean isOk;
        if (!arguments.isEmpty() && arguments.get(0).equals("--replay")) {
            isOk = replay(
                    Long.parseLong(arguments.get(1)), arguments.size() > 2 ? arguments.get(2) : Replay.WHOLE_SCRIPT);
        } else if (!arguments.isEmpty() && arguments.get(0).equals("--mutants")) {
            isOk = mutants(Integer.parseInt(arguments.get(1)));
        } else if (!arguments.isEmpty() && arguments.get(0).equals("--gangs")) {
            isOk = gangs(arguments.subList(1, arguments.size()));
        } else if (!arguments.isEmpty() && arguments.get(0).equals("--gang-mutants")) {
            isOk = gangMutants(Integer.parseInt(arguments.get(1)));
        } else {
            isOk = seeds(
                    arguments.isEmpty() ? 2000 : Integer.parseInt(arguments.get(0)),
                    arguments.size() > 1 ? Long.parseLong(arguments.get(1)) : 1);
        }
        System.exit(isOk ? 0 : 1);
    }

    private static boolean seeds(int count, long first) {
        long start = System.nanoTime();
        List<Outcome> outcomes =
                Seeds.run(first, count, seed -> LedgerSimulation.run(Scenario.of(seed), new Rules(), 0));
        double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
        List<Long> failed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (!outcomes.get(i).isOk()) {
                failed.add(first + i);
            }
        }
        failed.stream().limit(SHOWN_FAILURES).forEach(seed -> System.err.print(Replay.explain(seed, new Rules())));
        int[] ticks = outcomes.stream()
                .filter(Outcome::isOk)
                .mapToInt(Outcome::settledAfterTicks)
                .sorted()
                .toArray();
        System.err.printf(
                Locale.ROOT,
                "settled after %d ticks at the median, %d at most; %d allowed%n",
                ticks.length == 0 ? 0 : ticks[ticks.length / 2],
                ticks.length == 0 ? 0 : ticks[ticks.length - 1],
                LedgerSimulation.SETTLED_WITHIN_TICKS);
        long liveness = count(outcomes, Kind.LIVENESS);
        System.out.printf(
                Locale.ROOT,
                "{\"seeds\":%d,\"events\":%d,\"safetyViolations\":%d,\"livenessFailures\":%d,\"seconds\":%.1f}%n",
                count,
                outcomes.stream().mapToLong(Outcome::events).sum(),
                failed.size() - liveness,
                liveness,
                seconds);
        return failed.isEmpty();
    }

    private static boolean replay(long seed, String script) {
        Outcome outcome = Replay.run(seed, script, new Rules());
        System.out.print(Replay.report(seed, script, outcome));
        if (!outcome.isOk() && script.equals(Replay.WHOLE_SCRIPT)) {
            System.out.print(Replay.explain(seed, new Rules()));
        }
        return outcome.isOk();
    }

    private static boolean gangs(List<String> arguments) {
        List<String> numbers =
                arguments.stream().filter(one -> !one.equals(TRACE)).toList();
        int count = Integer.parseInt(numbers.get(0));
        long first = numbers.size() > 1 ? Long.parseLong(numbers.get(1)) : 1;
        if (numbers.size() == arguments.size()) {
            return gangs(count, first);
        }
        if (count != 1) {
            System.err.println(TRACE + " shows one seed: --gangs 1 SEED " + TRACE + ", not " + count + " seeds");
            return false;
        }
        GangSimulation.Outcome outcome = GangSimulation.run(first, GangMutant.NONE, Integer.MAX_VALUE);
        outcome.lines().forEach(System.out::println);
        System.out.printf(
                "seed %d, %d events, hash %016x: %s%n",
                first,
                outcome.events(),
                outcome.traceHash(),
                outcome.violation().orElse("no rule broken"));
        return outcome.violation().isEmpty();
    }

    private static boolean gangs(int count, long first) {
        long start = System.nanoTime();
        List<GangSimulation.Outcome> outcomes =
                Seeds.run(first, count, seed -> GangSimulation.run(seed, GangMutant.NONE));
        List<String> violations = outcomes.stream()
                .flatMap(outcome -> outcome.violation().stream())
                .toList();
        violations.stream().limit(SHOWN_FAILURES).forEach(System.err::println);
        System.out.printf(
                Locale.ROOT,
                "{\"seeds\":%d,\"events\":%d,\"attempts\":%d,\"told\":%d,\"found\":%d,\"violations\":%d,"
                        + "\"seconds\":%.1f}%n",
                count,
                outcomes.stream().mapToLong(GangSimulation.Outcome::events).sum(),
                outcomes.stream().mapToInt(GangSimulation.Outcome::submitted).sum(),
                outcomes.stream().mapToInt(GangSimulation.Outcome::told).sum(),
                outcomes.stream().mapToInt(GangSimulation.Outcome::found).sum(),
                violations.size(),
                (System.nanoTime() - start) / NANOS_PER_SECOND);
        return violations.isEmpty();
    }

    private static boolean gangMutants(int count) {
        System.out.printf("| rule switched off | noticed in seeds of %d |%n|---|---|%n", count);
        boolean allNoticed = true;
        for (GangMutant mutant : GangMutant.values()) {
            if (mutant != GangMutant.NONE) {
                long noticed = Seeds.run(1, count, seed -> GangSimulation.run(seed, mutant)).stream()
                        .filter(outcome -> outcome.violation().isPresent())
                        .count();
                allNoticed &= noticed > 0;
                System.out.printf("| %s | %d |%n", mutant.title(), noticed);
            }
        }
        return allNoticed;
    }

    private static boolean mutants(int count) {
        System.out.printf("| rule switched off | noticed in seeds of %d | unsafe | never settles | floods |%n", count);
        System.out.println("|---|---|---|---|---|");
        boolean allNoticed = true;
        for (Mutant mutant : Mutant.values()) {
            List<Outcome> outcomes =
                    Seeds.run(1, count, seed -> LedgerSimulation.run(Scenario.of(seed), mutant.rules(), 0));
            long noticed = outcomes.stream().filter(outcome -> !outcome.isOk()).count();
            allNoticed &= noticed > 0;
            System.out.printf(
                    "| %s | %d | %s |%n",
                    mutant.title(),
                    noticed,
                    Arrays.stream(Kind.values())
                            .map(kind -> Long.toString(count(outcomes, kind)))
                            .collect(Collectors.joining(" | ")));
        }
        return allNoticed;
    }

    private static long count(List<Outcome> outcomes, Kind kind) {
        return outcomes.stream()
                .flatMap(outcome -> outcome.broken().stream())
                .filter(broken -> broken.kind() == kind)
                .count();
    }
}
