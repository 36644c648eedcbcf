package dev.ullage.coordinator.planning.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedTest {
    private static final DemandPredictor ALWAYS_FIVE = used -> prediction(5);
    private static final DemandPredictor ALWAYS_NINE = used -> prediction(9);

    private static Prediction prediction(long bytes) {
        return new Prediction(MemoryBytes.of(bytes), MemoryBytes.of(bytes));
    }

    private static List<Long> limits(long... values) {
        Guarded guarded = new Guarded(ALWAYS_FIVE, ALWAYS_NINE, new Guarded.Settings(4, 2));
        List<Long> limits = new ArrayList<>();
        for (long value : values) {
            limits.add(guarded.observe(MemoryBytes.of(value)).limit().value());
        }
        return limits;
    }

    // Two misses in four steps hand over; the first predictor answers again when only one of them is left in the
    // window.
    @Test
    void theSecondAnswersWhileTheFirstMissesTooOften() {
        assertThat(limits(1, 6, 1, 6, 1, 1, 1)).containsExactly(5L, 5L, 5L, 9L, 9L, 5L, 5L);
    }

    @Test
    void whatWasThereBeforeTheFirstAnswerIsNoMiss() {
        assertThat(limits(100, 100, 1)).containsExactly(5L, 5L, 5L);
    }

    @Test
    void settingsOutOfRangeAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Guarded.Settings(10, 0))
                .withMessage("misses: 0, in a window of 10: there must be 1 or more, in 1 to 100000");
    }
}
