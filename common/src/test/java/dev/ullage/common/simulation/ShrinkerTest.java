package dev.ullage.common.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShrinkerTest {
    private static final List<Integer> HUNDRED = IntStream.range(0, 100).boxed().toList();

    @Test
    void leavesOnlyWhatTheFailureNeeds() {
        List<Integer> smallest = Shrinker.shrink(HUNDRED, part -> part.containsAll(List.of(3, 57, 58)), 1000);

        assertThat(smallest).containsExactly(3, 57, 58);
    }

    @Test
    void leavesNothingWhereNothingIsNeeded() {
        assertThat(Shrinker.shrink(HUNDRED, part -> true, 1000)).isEmpty();
    }

    @Test
    void keepsWhatFailsWhenTheTriesRunOut() {
        List<Integer> smaller = Shrinker.shrink(HUNDRED, part -> part.contains(99), 3);

        assertThat(smaller).contains(99).hasSizeLessThan(100);
    }
}
