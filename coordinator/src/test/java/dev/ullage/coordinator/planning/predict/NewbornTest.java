package dev.ullage.coordinator.planning.predict;

import static dev.ullage.common.testing.Fixtures.gib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The first steps of a series. */
class NewbornTest {
    private static final MemoryBytes OTHERS = gib(20);

    @Test
    void whatOthersReachedCountsForTheFirstStepsAndThenWhatItReachedItself() {
        Newborn newborn = new Newborn(OTHERS, new LastValue(new Share(0)));
        for (int step = 1; step <= Newborn.STEPS_BY_OTHERS; step++) {
            assertThat(newborn.observe(gib(5)).limit()).as("step %d", step).isEqualTo(OTHERS);
        }
        for (int step = Newborn.STEPS_BY_OTHERS + 1; step < Newborn.STEPS; step++) {
            assertThat(newborn.observe(gib(5)).limit())
                    .as("step %d", step)
                    .isEqualTo(Room.over(gib(5), Share.ofPercent(10)));
        }
        assertThat(newborn.observe(gib(5)).limit()).isEqualTo(gib(5));
    }

    @Test
    void oneThatReachesMoreThanOthersHasRoomAboveThat() {
        Newborn newborn = new Newborn(OTHERS, new LastValue(new Share(0)));
        newborn.observe(gib(30));

        assertThat(newborn.observe(gib(1)).limit()).isEqualTo(gib(33));
    }

    @Test
    void theMiddleOneOfOthers() {
        assertThat(Newborn.middle(List.of())).isEmpty();
        assertThat(Newborn.middle(List.of(gib(9), gib(1), gib(5)))).contains(gib(5));
        assertThat(Newborn.middle(List.of(gib(9), gib(1)))).contains(gib(9));
    }
}
