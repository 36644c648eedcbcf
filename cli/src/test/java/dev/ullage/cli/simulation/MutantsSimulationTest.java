package dev.ullage.cli.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Goal: the simulation would notice if a rule of the protocol were not kept. Method: switch off one at a time; how
 * often each is noticed stands in docs/protocol.md, section 4.
 */
class MutantsSimulationTest {
    private static final int SEEDS = 2000;

    @ParameterizedTest
    @EnumSource
    void isNoticed(Mutant mutant) {
        Optional<LedgerSimulation.Broken> broken = LongStream.rangeClosed(1, SEEDS)
                .mapToObj(seed -> LedgerSimulation.run(Scenario.of(seed), mutant.rules(), 0))
                .flatMap(outcome -> outcome.broken().stream())
                .findFirst();

        assertThat(broken).as(mutant.title()).isPresent();
    }
}
