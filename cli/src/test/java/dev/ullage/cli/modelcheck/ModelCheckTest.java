package dev.ullage.cli.modelcheck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.modelcheck.ModelCheck.Result;
import dev.ullage.cli.modelcheck.SmallWorld.Bounds;
import org.junit.jupiter.api.Test;

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

    @Test
    void aShrinkCountedBeforeItsConfirmationIsFound() {
        Result result = ModelCheck.run(new Bounds(1, 0, 0, 0, true));

        assertThat(result.broken()).hasValueSatisfying(why -> assertThat(why).contains("in force"));
    }
}
