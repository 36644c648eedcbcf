package dev.ullage.coordinator.oom;

import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.TOKEN;
import static dev.ullage.coordinator.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobDirective.Cause;
import dev.ullage.common.protocol.JobDirective.Sizes;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.JobReport.Applied;
import dev.ullage.common.protocol.OomReport;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToOperator.OomMove;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Orders of batch shares among the moves after out-of-memory errors: one sequence of both. */
class ShareOrdersTest {
    private static final List<RankInstance> RANKS = List.of(rank(0), rank(1));
    private static final Duration RESEND = Duration.ofSeconds(1);

    private static JobDirective shares(long sequence, int orders) {
        return new JobDirective(
                JOB,
                sequence,
                0,
                OomLevel.LIMIT,
                Sizes.AS_SET,
                false,
                new Cause(0, Optional.empty(), List.of(), "uneven"),
                Optional.of(new BatchShares(sequence, orders, 1, List.of(40, 24))));
    }

    private static OomReport oom(int rank, long sequence, int microBatch) {
        Means means = new Means(OptionalInt.of(microBatch), OptionalInt.of(40), List.of(), true);
        return new OomReport(rank(rank), sequence, 7, Phase.FORWARD, OomKind.DEVICE_FULL, Figures.UNKNOWN, means);
    }

    private static List<Applied> appliedBy(long sequence, int... ranks) {
        return IntStream.of(ranks)
                .mapToObj(rank -> new Applied(rank(rank), sequence, Optional.empty()))
                .toList();
    }

    private static OomDesk heard(
            OomDesk desk,
            Optional<CoordinatorToken> token,
            Optional<JobDirective> newest,
            List<OomReport> pending,
            List<Applied> applied) {
        JobReport report = new JobReport(JOB, OptionalInt.of(2), RANKS, newest, pending, applied);
        return desk.with(new JobsReported(NODE, token, List.of(report)), T0);
    }

    private static boolean isQuiet(
            Optional<CoordinatorToken> token,
            Optional<JobDirective> newest,
            List<OomReport> pending,
            List<Applied> applied) {
        return heard(OomDesk.EMPTY, token, newest, pending, applied)
                .standing(JOB, TOKEN)
                .isQuiet();
    }

    @Test
    void aJobIsQuietWhenNothingOfItIsOpen() {
        Optional<CoordinatorToken> mine = Optional.of(TOKEN);
        Optional<JobDirective> newest = Optional.of(shares(3, 1));
        assertThat(isQuiet(mine, Optional.empty(), List.of(), List.of())).isTrue();
        assertThat(isQuiet(mine, newest, List.of(), appliedBy(3, 0, 1))).isTrue();

        assertThat(isQuiet(mine, newest, List.of(), appliedBy(3, 0)))
                .as("rank 1 has not done it")
                .isFalse();
        assertThat(isQuiet(mine, newest, List.of(), appliedBy(2, 0, 1)))
                .as("it did an older one")
                .isFalse();
        assertThat(isQuiet(mine, newest, List.of(oom(1, 3, 8)), appliedBy(3, 0, 1)))
                .as("rank 1 waits for a move")
                .isFalse();
        assertThat(isQuiet(Optional.empty(), newest, List.of(), appliedBy(3, 0, 1)))
                .as("another coordinator may order something else")
                .isFalse();
        assertThat(OomDesk.EMPTY.standing(JOB, TOKEN).isQuiet()).as("not known").isFalse();
    }

    @Test
    void anOrderIsSentLikeAMoveAndIsNone() {
        OomDesk desk = heard(OomDesk.EMPTY, Optional.of(TOKEN), Optional.empty(), List.of(), List.of());

        OomDesk.Turn turn = desk.ordered(shares(1, 1), T0).turn(TOKEN, RESEND, T0);

        assertThat(turn.sends()).containsExactly(new OomDesk.Send(NODE, shares(1, 1)));
        assertThat(turn.decided()).as("nobody ran out of memory").isEmpty();
        assertThat(turn.desk().status(T0)).isEmpty();
        assertThat(turn.desk().turn(TOKEN, RESEND, T0.plusMillis(999)).sends()).isEmpty();
        assertThat(turn.desk().turn(TOKEN, RESEND, T0.plusMillis(1000)).sends())
                .as("again until its worker has it")
                .hasSize(1);
        assertThatThrownBy(() -> turn.desk().ordered(shares(3, 2), T0))
                .hasMessage("directive 3 of job cannot follow 1");
    }

    // Goal: who runs out under a smaller number than the newest is answered with that; then it counts.
    @Test
    void whoRanOutBeforeTheOrderReportsAgainUnderIt() {
        OomDesk desk = heard(OomDesk.EMPTY, Optional.of(TOKEN), Optional.empty(), List.of(), List.of())
                .ordered(shares(1, 1), T0);
        desk = heard(desk, Optional.of(TOKEN), Optional.empty(), List.of(oom(1, 0, 24)), List.of());
        assertThat(desk.turn(TOKEN, RESEND, T0).decided()).isEmpty();

        desk = heard(desk, Optional.of(TOKEN), Optional.of(shares(1, 1)), List.of(oom(1, 1, 24)), appliedBy(1, 0, 1));
        OomDesk.Turn turn = desk.turn(TOKEN, RESEND, T0);

        assertThat(turn.decided()).singleElement().satisfies(move -> {
            assertThat(move.sequence()).isEqualTo(2);
            assertThat(move.level()).isEqualTo(OomLevel.MICRO_BATCH);
            assertThat(move.sizes().microBatch()).hasValue(12);
            assertThat(move.shares())
                    .as("the shares stay")
                    .isEqualTo(shares(1, 1).shares());
            assertThat(move.isShareOrder()).isFalse();
        });
        assertThat(turn.desk().status(T0)).extracting(OomMove::state).containsExactly("ORDERED");
    }

    @Test
    void ordersDoNotCountAmongTheMovesThatAJobHas() {
        JobDirective late = shares(OomLadder.MAX_MOVES + 3L, 4);
        assertThat(late.moves()).isEqualTo(OomLadder.MAX_MOVES - 1L);

        JobDirective last = OomLadder.next(JOB, Optional.of(late), Optional.empty(), oom(0, late.sequence(), 8));
        JobDirective end = OomLadder.next(JOB, Optional.of(last), Optional.empty(), oom(0, last.sequence(), 4));

        assertThat(last.level()).isEqualTo(OomLevel.MICRO_BATCH);
        assertThat(end.level()).isEqualTo(OomLevel.STOP);
    }

    @Test
    void afterTheEndThereIsNoOrder() {
        JobDirective stop = new JobDirective(
                JOB, 4, 0, OomLevel.STOP, Sizes.AS_SET, false, new Cause(0, Optional.empty(), List.of(), ""));

        assertThat(isQuiet(Optional.of(TOKEN), Optional.of(stop), List.of(), appliedBy(4, 0, 1)))
                .isFalse();
    }
}
