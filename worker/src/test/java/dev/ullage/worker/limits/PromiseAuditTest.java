package dev.ullage.worker.limits;

import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Reservations.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import org.junit.jupiter.api.Test;

/** The audit adds up what each rank may believe from what it was sent and what it said alone. */
class PromiseAuditTest {
    private static final MemoryBytes BUDGET = gib(80);
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);

    private final PromiseAudit audit = new PromiseAudit();

    private void sent(RankInstance rank, long sequence, long gibibytes) {
        audit.sent(new Order(rank, sequence, limits(gib(gibibytes))), BUDGET);
    }

    @Test
    void ordersWithinTheBudgetAreNoOverCommit() {
        sent(A, 1, 50);
        sent(B, 1, 30);

        assertThat(audit.highest()).isEqualTo(gib(80));
        assertThat(audit.overCommits()).isZero();
    }

    @Test
    void growthThatWasSentBeforeTheShrinkWasConfirmedIsFound() {
        sent(A, 1, 50);
        audit.said(A, 1, gib(50), BUDGET);
        sent(A, 2, 20);
        sent(B, 1, 40);

        assertThat(audit.overCommits()).isEqualTo(1);
        assertThat(audit.highest()).isEqualTo(gib(90));
    }

    @Test
    void aConfirmedShrinkMakesRoom() {
        sent(A, 1, 50);
        sent(A, 2, 20);
        audit.said(A, 2, gib(20), BUDGET);
        sent(B, 1, 60);

        assertThat(audit.overCommits()).isZero();
    }

    @Test
    void aLateConfirmationDoesNotHideTheNewerOrder() {
        sent(A, 1, 10);
        sent(A, 2, 50);
        audit.said(A, 1, gib(10), BUDGET);
        sent(B, 1, 40);

        assertThat(audit.overCommits()).isEqualTo(1);
    }

    @Test
    void aRankThatLeftBelievesNothing() {
        sent(A, 1, 80);
        audit.left(A);
        sent(B, 1, 80);

        assertThat(audit.overCommits()).isZero();
    }

    @Test
    void aBudgetThatShrankUnderThePromisesIsFound() {
        sent(A, 1, 80);
        audit.said(A, 1, gib(80), gib(79));

        assertThat(audit.overCommits()).isEqualTo(1);
    }

    @Test
    void afterARestartARankMayStillBelieveAnOrderItHasNotConfirmed() {
        audit.replayed(A, 4, gib(50), BUDGET);
        audit.said(A, 3, gib(10), BUDGET);
        sent(B, 1, 40);

        assertThat(audit.overCommits()).isEqualTo(1);

        audit.said(A, 4, gib(20), BUDGET);
        sent(B, 2, 60);

        assertThat(audit.overCommits()).isEqualTo(1);
    }

    @Test
    void whatIsKeptForAJobCountsWhereItsRanksHaveLess() {
        audit.reserved(id("job", 1), gib(50), BUDGET);
        sent(A, 1, 30);
        assertThat(audit.highest()).isEqualTo(gib(50));

        sent(B, 1, 40);
        assertThat(audit.highest()).isEqualTo(gib(70));
        audit.reserved(id("other", 1), gib(11), BUDGET);

        assertThat(audit.overCommits()).isEqualTo(1);
        audit.released(id("other", 1));
        sent(B, 2, 50);
        assertThat(audit.overCommits()).isEqualTo(1);
    }
}
