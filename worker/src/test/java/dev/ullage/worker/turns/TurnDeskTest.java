package dev.ullage.worker.turns;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.protocol.TurnReport;
import dev.ullage.common.testing.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two jobs with a rank each on one device, and a pool for one of them at a time. */
class TurnDeskTest {
    private static final DeviceId DEVICE = new DeviceId("GPU-a");
    private static final RankInstance A = rank(0);
    private static final RankInstance B = new RankInstance(new RankId(new JobId("other"), 0), 200, 1);
    private static final MemoryBytes POOL = gib(16);

    private final List<Optional<RankTurn>> offers = new ArrayList<>();
    private int fallen;

    private TurnDesk desk(Duration deadline) {
        TurnDesk desk = new TurnDesk(deadline, new TestClock());
        desk.replayed(DEVICE, MemoryBytes.ZERO, List.of());
        desk.onFell(DEVICE, () -> fallen++);
        desk.said(A, DEVICE, MemoryBytes.ZERO, 0, offers::add);
        desk.said(B, DEVICE, MemoryBytes.ZERO, 0, offer -> {});
        desk.plan(DEVICE, Optional.of(new TurnPlan(POOL, List.of(turn(A), turn(B)))));
        desk.allow(DEVICE, POOL);
        return desk;
    }

    private static RankTurn turn(RankInstance instance) {
        return new RankTurn(instance, List.of(Phase.BACKWARD), POOL);
    }

    @BeforeEach
    void nothingHeard() {
        offers.clear();
        fallen = 0;
    }

    @Test
    void whoWaitsTooLongIsToldWhoHasIt() {
        TurnDesk desk = desk(Duration.ofMillis(20));
        assertThat(desk.ask(A, 1).burst()).contains(POOL);

        TurnAnswer late = desk.ask(B, 1);

        assertThat(late.burst()).isEmpty();
        assertThat(late.reason()).contains("job has it since 0 ms (ranks job/0)");
        assertThat(desk.report(DEVICE).counts().missed()).isEqualTo(1);
    }

    @Test
    void waitsAreCountedByTheirLength() {
        TurnState state = new TurnState();
        Instant now = Instant.EPOCH;
        state.on(new TurnInput.Allowed(DEVICE, POOL), now);
        state.on(new TurnInput.Planned(DEVICE, Optional.of(new TurnPlan(POOL, List.of(turn(A), turn(B))))), now);
        state.on(new TurnInput.Said(A, DEVICE, MemoryBytes.ZERO, 0), now);
        state.on(new TurnInput.Said(B, DEVICE, MemoryBytes.ZERO, 0), now);
        long ask = 0;
        for (long millis : new long[] {0, 1, 10, 11, 1_000, 59_999, 60_001}) {
            ask++;
            state.on(new TurnInput.Asked(A, ask), now);
            state.on(new TurnInput.Asked(B, ask), now);
            now = now.plusMillis(millis);
            state.on(new TurnInput.Released(A, ask), now);
            state.on(new TurnInput.Released(B, ask), now);
        }

        TurnReport.Counts counts = state.report(DEVICE, now).counts();
        assertThat(counts.given()).isEqualTo(14);
        assertThat(counts.waits()).as("one took no time").isEqualTo(6);
        assertThat(counts.waitedMillis()).isEqualTo(121_022);
        TurnReport.WaitLengths lengths = counts.waitsByLength().orElseThrow();
        assertThat(lengths.upTo())
                .extracting(TurnReport.WaitLengths.Length::waits)
                .containsExactly(2L, 1L, 0L, 0L, 1L, 0L, 0L, 0L, 1L);
        assertThat(lengths.longer()).isEqualTo(1);
    }

    @Test
    void aTurnPassesToTheOneThatWaitsWhenItIsReleased() throws Exception {
        TurnDesk desk = desk(Duration.ofMinutes(1));
        assertThat(desk.ask(A, 1).burst()).contains(POOL);
        CompletableFuture<TurnAnswer> waiting = CompletableFuture.supplyAsync(() -> desk.ask(B, 1));

        desk.released(A, 1);

        assertThat(waiting.get(1, TimeUnit.MINUTES).burst()).contains(POOL);
    }

    @Test
    void aSmallerPoolIsBoundByWhatIsOutAndItsKeeperHearsWhenThatFalls() {
        TurnDesk desk = desk(Duration.ofMillis(20));
        assertThat(desk.ask(A, 1).burst()).contains(POOL);

        assertThat(desk.allow(DEVICE, MemoryBytes.ZERO)).isEqualTo(POOL);
        assertThat(fallen).isZero();
        desk.released(A, 1);

        assertThat(fallen).isPositive();
        assertThat(desk.allow(DEVICE, MemoryBytes.ZERO)).isEqualTo(MemoryBytes.ZERO);
        assertThat(desk.ask(B, 1).burst()).as("there is no pool any more").isEmpty();
    }

    @Test
    void aRankHearsWhatItTakesTurnsAtAndWhenThatIsOver() {
        TurnDesk desk = desk(Duration.ofMillis(20));
        desk.plan(DEVICE, Optional.empty());
        desk.plan(DEVICE, Optional.empty());

        assertThat(offers).containsExactly(Optional.of(turn(A)), Optional.empty());
        assertThat(desk.ask(A, 1).reason()).isEqualTo("no turns are planned for it on GPU-a");
    }
}
