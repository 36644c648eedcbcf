package dev.ullage.coordinator.planning.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class BaselinesTest {

    private static List<Long> limits(DemandPredictor predictor, long... values) {
        List<Long> limits = new ArrayList<>();
        for (long value : values) {
            limits.add(predictor.observe(MemoryBytes.of(value)).limit().value());
        }
        return limits;
    }

    private static DemandPredictor of(String name) {
        return PredictorCatalog.find(name, OptionalInt.of(3)).orElseThrow().get();
    }

    @Test
    void lastAndLastOverItsShare() {
        assertThat(limits(of("last"), 8, 4)).containsExactly(8L, 4L);
        assertThat(limits(of("last/0.8"), 8, 4)).containsExactly(10L, 5L);
        assertThat(limits(of("last/0.8"), Long.MAX_VALUE)).containsExactly(Long.MAX_VALUE);
    }

    @Test
    void theMovingAverageReachesAValueThatStays() {
        assertThat(limits(of("ewma-0.5"), 0, 100, 100, 100, 100, 100, 100, 100, 100))
                .startsWith(0L, 50L, 75L)
                .endsWith(100L);
        assertThat(limits(of("ewma-0.5"), 100, 0, 0, 0, 0, 0, 0, 0, 0)).endsWith(0L);
    }

    @Test
    void theLargestOfAWindowLeavesIt() {
        assertThat(limits(of("rolling-max-2"), 5, 3, 1, 1)).containsExactly(5L, 5L, 3L, 1L);
    }

    @Test
    void aCalmStepGetsTheLastValue() {
        assertThat(limits(of("calm-max-3"), 500, 300, 300, 100)).containsExactly(525L, 525L, 300L, 315L);
    }

    @Test
    void aQuantileLeavesOutTheLargest() {
        assertThat(limits(of("rolling-q75-4"), 9, 1, 2, 3, 1)).containsExactly(9L, 9L, 9L, 3L, 2L);
    }

    @Test
    void trainingRepeatsItself() {
        assertThat(limits(of("periodic"), 100, 900, 500, 100, 900, 500))
                // One period of three: each place has the others on both sides.
                .containsExactly(101L, 909L, 909L, 909L, 909L, 909L);
        DemandPredictor longer = new Periodic(new Periodic.Settings(6, 2, Share.ofPercent(1)));
        assertThat(limits(longer, 100, 100, 100, 900, 100, 100, 100, 100))
                .endsWith(909L)
                .contains(101L);
        assertThat(longer.observe(MemoryBytes.of(100)).forecast().value()).isEqualTo(900);
    }

    @Test
    void periodicNeedsAPeriod() {
        assertThat(PredictorCatalog.find("periodic", OptionalInt.empty())).isEmpty();
    }

    @Test
    void everyUsualNameIsKnown() {
        assertThat(PredictorCatalog.USUAL)
                .allSatisfy(name -> assertThat(of(name)).isNotNull());
    }

    @Test
    void aNameThatIsNotKnownGetsTheForms() {
        for (String name : List.of(
                "lstn",
                "rolling-max",
                "rolling-max-5-5",
                "rolling-q95",
                "ewma-1.5",
                "rolling-max-0",
                "rolling-max-1.5",
                "priced-1001",
                "rolling-q0-5")) {
            assertThatIllegalArgumentException()
                    .as(name)
                    .isThrownBy(() -> PredictorCatalog.find(name, OptionalInt.empty()));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PredictorCatalog.find("lstn", OptionalInt.empty()))
                .withMessage("there is no predictor 'lstn': " + PredictorCatalog.FORMS);
    }
}
