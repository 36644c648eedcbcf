package dev.ullage.coordinator.planning.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which layers a stage has and how many micro-batches it holds. */
class LayoutTest {
    private static Layout layout(int stages, int virtual, List<Integer> chunks) {
        return new Layout(1, false, stages, virtual, stages, chunks, 1, 1, 1, 1);
    }

    @Test
    void oneForwardOneBackwardHoldsFewerTowardsTheEnd() {
        Layout layout = layout(4, 1, Layout.even(32, 4));
        assertThat(List.of(0, 1, 2, 3))
                .extracting(stage -> layout.inFlight(stage, 16))
                .containsExactly(List.of(4), List.of(3), List.of(2), List.of(1));
        assertThat(layout.inFlight(0, 2)).containsExactly(2);
    }

    // 4 stages of 8 chunks: the last stage runs 7 x 4 + 1 = 29 of its 32 chunk passes before the first backward pass.
    @Test
    void interleavedTheLastStageHoldsAlmostEverything() {
        Layout layout = layout(4, 8, Layout.even(32, 32));
        assertThat(layout.inFlight(3, 4)).containsExactly(4, 4, 4, 4, 4, 4, 4, 1);
        assertThat(layout.inFlight(0, 4)).containsExactly(4, 4, 4, 4, 4, 4, 4, 4);
    }

    @Test
    void chunksLieOnStagesInTurn() {
        Layout layout = layout(2, 2, List.of(1, 2, 3, 2));
        assertThat(layout.layersOf(0)).containsExactly(0, 3, 4, 5);
        assertThat(layout.layersOf(1)).containsExactly(1, 2, 6, 7);
    }

    @Test
    void aRemainderMakesTheFirstChunksLonger() {
        assertThat(Layout.even(15, 2)).containsExactly(8, 7);
        assertThat(Layout.even(126, 8)).containsExactly(16, 16, 16, 16, 16, 16, 15, 15);
    }
}
