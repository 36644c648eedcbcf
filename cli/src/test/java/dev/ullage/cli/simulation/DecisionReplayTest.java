package dev.ullage.cli.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Rerun;
import dev.ullage.coordinator.journal.DecisionJson;
import dev.ullage.coordinator.journal.DecisionJson.Line;
import dev.ullage.coordinator.journal.DecisionJson.UnreadableException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Goal: a record has everything that a decision followed from, whatever went wrong around it. Method: the coordinators
 * of seeded runs with crashes, losses and two of them at once record; every record is written as text, read back and
 * decided again.
 */
class DecisionReplayTest {
    private static final int SEEDS = 60;

    @Test
    void everyDecisionOfARunIsDecidedTheSameAgain() throws UnreadableException {
        Map<Kind, Integer> seen = new EnumMap<>(Kind.class);
        for (long seed = 1; seed <= SEEDS; seed++) {
            for (Decision decision : LedgerSimulation.decisions(Scenario.of(seed))) {
                seen.merge(decision.kind(), 1, Integer::sum);
                assertThat(DecisionJson.parse(DecisionJson.line(decision)))
                        .as("seed %d: dev/checks/simulate.sh --replay %d", seed, seed)
                        .isEqualTo(new Line.Of(decision));
                assertThat(decision.planning()
                                .map(planning -> Rerun.of(planning, Optional.empty()))
                                .orElse(new Rerun(List.of(), false)))
                        .as("seed %d, number %d", seed, decision.stamp().number())
                        .isEqualTo(new Rerun(List.of(), false));
            }
        }

        assertThat(seen).containsKeys(Kind.PLAN, Kind.OPERATOR);
        assertThat(seen.get(Kind.PLAN)).isGreaterThan(SEEDS);
    }
}
