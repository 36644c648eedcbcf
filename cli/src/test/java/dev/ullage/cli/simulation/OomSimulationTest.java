package dev.ullage.cli.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.simulation.OomSimulation.Outcome;
import dev.ullage.common.simulation.Seeds;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Goal: every rank follows the same directive at the same step, once, and there are no more moves than steps that
 * failed, whatever is lost, doubled, overtaken or started anew; and when the weather is calm the job goes on. Method:
 * production desk and board under seeds. {@code -Dullage.oom.seeds=N} and {@code -Dullage.oom.first=SEED} run others.
 */
class OomSimulationTest {
    private static final int SEEDS = Integer.getInteger("ullage.oom.seeds", 300);
    private static final long FIRST = Long.getLong("ullage.oom.first", 1);

    @Test
    void everyRankFollowsTheSameDirectiveOnceAndTheJobGoesOn() {
        List<Outcome> outcomes = Seeds.run(FIRST, SEEDS, OomSimulation::run);

        assertThat(outcomes.stream()
                        .map(Outcome::violation)
                        .flatMap(Optional::stream)
                        .map(text -> text + "; alone: dev/checks/unit.sh -pl cli -am -Dtest=OomSimulationTest"
                                + " -Dullage.oom.seeds=1 -Dullage.oom.first=" + text.replaceAll("seed (\\d+).*", "$1"))
                        .limit(3))
                .isEmpty();
        assertThat(outcomes.stream().mapToInt(Outcome::moves).sum())
                .as("there were moves")
                .isGreaterThan(SEEDS);
        System.out.printf(
                "%d seeds: %d steps failed, %d moves; %d times every holder of a directive was gone%n",
                SEEDS,
                outcomes.stream().mapToInt(Outcome::rounds).sum(),
                outcomes.stream().mapToInt(Outcome::moves).sum(),
                outcomes.stream().mapToInt(Outcome::losses).sum());
    }

    @Test
    void theSameSeedIsTheSameRun() {
        assertThat(OomSimulation.run(7)).isEqualTo(OomSimulation.run(7));
    }
}
