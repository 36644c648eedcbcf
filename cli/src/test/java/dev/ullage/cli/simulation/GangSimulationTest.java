package dev.ullage.cli.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.simulation.GangSimulation.Outcome;
import dev.ullage.common.simulation.Seeds;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Goal: a job gets all of its room or none, whatever fails: nobody is told that a job is placed unless every part is
 * committed, and stays so until it is released; once the weather is calm no job that is not placed holds a part; and no
 * device ever promises more than it has. Method: production ledgers, keepers and desks, with submitters, under seeds;
 * {@code dev/checks/simulate.sh --gangs} runs more of them.
 */
class GangSimulationTest {
    private static final int SEEDS = 200;
    private static final int MUTANT_SEEDS = 600;

    @Test
    void aJobHasAllOfItsRoomOrNone() {
        List<Outcome> outcomes = Seeds.run(1, SEEDS, seed -> GangSimulation.run(seed, GangMutant.NONE));

        assertThat(outcomes.stream()
                        .flatMap(outcome -> outcome.violation().stream())
                        .limit(3))
                .isEmpty();
        assertThat(outcomes.stream().mapToInt(Outcome::told).sum())
                .as("jobs were placed")
                .isGreaterThan(SEEDS);
        assertThat(outcomes.stream().mapToInt(Outcome::found).sum())
                .as("new coordinators found some")
                .isGreaterThan(SEEDS / 10);
    }

    // 15351, 12558, 75 and 130 did so before the simulation was made harsher, and are other runs now. What was wrong:
    // GangRecoveryTest.whatACoordinatorThatWasReplacedGivesBackStaysWithItsSuccessor, and in AdmissionTakeoverTest
    // roomThatWasGivenBack..., ofTwoRooms... and theRoomOfAnEarlierRun... (102242).
    @ParameterizedTest
    @ValueSource(longs = {15_351, 12_558, 75, 130, 102_242})
    void seedsThatOnceBrokeARuleDoSoNoMore(long seed) {
        assertThat(GangSimulation.run(seed, GangMutant.NONE).violation()).isEmpty();
    }

    @Test
    void theSameSeedIsTheSameRun() {
        for (long seed = 1; seed <= 5; seed++) {
            assertThat(GangSimulation.run(seed, GangMutant.NONE)).isEqualTo(GangSimulation.run(seed, GangMutant.NONE));
        }
    }

    @Test
    void theTraceShowsAllThatHappenedAndChangesNothing() {
        Outcome plain = GangSimulation.run(3, GangMutant.NONE);
        Outcome traced = GangSimulation.run(3, GangMutant.NONE, Integer.MAX_VALUE);

        assertThat(traced.traceHash()).isEqualTo(plain.traceHash());
        assertThat(plain.lines()).isEmpty();
        assertThat(traced.lines())
                .anyMatch(line -> line.contains(": reserve gang-"))
                .anyMatch(line -> line.endsWith(": lost"))
                .anyMatch(line -> line.contains("its submitter is told that it is placed"))
                .anyMatch(line -> line.contains("all faults are over"))
                .hasSizeGreaterThan(500);
    }

    @Test
    void aFailingSeedNamesTheCommandThatReplaysIt() {
        assertThat(firstNoticed(GangMutant.COMMITTED_EXPIRES).orElseThrow())
                .containsPattern("^seed (\\d+), \\d+ ms: .*; replay: dev/checks/simulate.sh --gangs 1 \\1 --trace$");
    }

    // How often each is noticed stands in docs/protocol.md, section 4.
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aRuleThatIsSwitchedOffIsNoticed(GangMutant mutant) {
        assertThat(firstNoticed(mutant)).as(mutant.title()).isPresent();
    }

    private static Optional<String> firstNoticed(GangMutant mutant) {
        return LongStream.rangeClosed(1, MUTANT_SEEDS)
                .mapToObj(seed -> GangSimulation.run(seed, mutant))
                .flatMap(outcome -> outcome.violation().stream())
                .findFirst();
    }
}
