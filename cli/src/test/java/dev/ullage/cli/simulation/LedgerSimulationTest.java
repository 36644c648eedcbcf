package dev.ullage.cli.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.simulation.LedgerSimulation.Outcome;
import dev.ullage.common.simulation.Seeds;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Goal: no promise is broken and everything comes to rest, whatever fails. Method: the production code under seeds;
 * {@code dev/checks/simulate.sh} runs more of them.
 */
class LedgerSimulationTest {
    private static final int SEEDS = 500;

    private static Outcome run(long seed, Rules rules) {
        return LedgerSimulation.run(Scenario.of(seed), rules, 0);
    }

    @Test
    void noPromiseIsBrokenAndEverythingComesToRest() {
        List<Outcome> outcomes = Seeds.run(1, SEEDS, seed -> run(seed, new Rules()));

        assertThat(LongStream.rangeClosed(1, SEEDS)
                        .filter(seed -> !outcomes.get((int) seed - 1).isOk())
                        .mapToObj(seed -> Replay.explain(seed, new Rules()))
                        .limit(1))
                .isEmpty();
    }

    @Test
    void theSameSeedIsTheSameRun() {
        for (long seed = 1; seed <= 20; seed++) {
            Outcome first = run(seed, new Rules());
            Outcome traced = LedgerSimulation.run(Scenario.of(seed), new Rules(), 10);
            assertThat(traced.traceHash()).as("seed %d", seed).isEqualTo(first.traceHash());
            assertThat(traced.events()).isEqualTo(first.events());
        }
        assertThat(run(1, new Rules()).traceHash())
                .isNotEqualTo(run(2, new Rules()).traceHash());
    }

    // The failure comes from a mutant: there is none to be had from the rules as they are.
    @Test
    void aFailingSeedIsShrunkAndNamesTheCommandThatReplaysIt() {
        Mutant mutant = Mutant.SHRINK_COUNTED_BEFORE_ITS_ACK;
        long seed = LongStream.rangeClosed(1, SEEDS)
                .filter(one -> Scenario.of(one).script().size() > 8
                        && !run(one, mutant.rules()).isOk())
                .findFirst()
                .orElseThrow();

        String explained = Replay.explain(seed, mutant.rules());

        assertThat(explained)
                .containsPattern("seed \\d+: [0-4] of \\d+ disturbances are enough")
                .contains("SAFETY: ")
                .containsPattern("ms +GPU-\\d orders Order")
                .contains("replay: dev/checks/simulate.sh --replay " + seed + " ");
    }
}
