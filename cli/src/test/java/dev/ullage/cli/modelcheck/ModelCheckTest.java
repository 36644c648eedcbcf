package dev.ullage.cli.modelcheck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.modelcheck.ModelCheck.Result;
import dev.ullage.cli.modelcheck.SmallWorld.Bounds;
import dev.ullage.cli.modelcheck.TurnWorld.Without;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Goal: no state of a small world breaks a promise, and from every one of them the last plan can still come in force.
 * Method: all of them are visited. {@link ModelCheckMain} does the same for a larger world, which takes minutes.
 */
class ModelCheckTest {
    private static final int STATES = 257_735;

    @Test
    void noStateOfASmallWorldBreaksAPromiseAndEachCanComeToRest() {
        Result result = ModelCheck.run(new Bounds(1, 1, 1, 1, false));

        assertThat(result.broken()).isEmpty();
        assertThat(result.stuck()).isEmpty();
        assertThat(result.atRest()).isPositive();
        assertThat(result.states())
                .as("docs/protocol.md, section 4, names this number")
                .isEqualTo(STATES);
    }

    /** From halves over a pool to a smaller pool; and from the pool on, with a crash of the worker at any point. */
    @ParameterizedTest
    @CsvSource({"0, 0, 17293", "1, 1, 14171"})
    void noStateOfAWorldWithTurnsBreaksAPromiseAndEachCanComeToRest(int firstPlan, int crashes, int states) {
        Result result = ModelCheck.run(turns(firstPlan, crashes, Without.NOTHING));

        assertThat(result.broken()).isEmpty();
        assertThat(result.stuck()).isEmpty();
        assertThat(result.atRest()).isPositive();
        assertThat(result.states())
                .as("docs/protocol.md, section 4, names this number")
                .isEqualTo(states);
    }

    @ParameterizedTest
    @EnumSource(value = Without.class, mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void aRuleOfTheTurnsThatIsMissingIsFound(Without rule) {
        int crashes = rule == Without.SILENCE_AFTER_A_RESTART ? 1 : 0;

        assertThat(ModelCheck.run(turns(crashes, crashes, rule)).broken()).isPresent();
    }

    private static TurnWorld turns(int firstPlan, int crashes, Without rule) {
        return TurnWorld.initial(new TurnWorld.Bounds(firstPlan, crashes, 1, rule));
    }

    @Test
    void aShrinkCountedBeforeItsConfirmationIsFound() {
        Result result = ModelCheck.run(new Bounds(1, 0, 0, 0, true));

        assertThat(result.broken()).hasValueSatisfying(why -> assertThat(why).contains("in force"));
    }
}
