package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Fixtures.want;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerCommand.Measure;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.TermsInForce;
import dev.ullage.common.ledger.LedgerEvent.TermsWanted;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reserve, capacity and foreign memory: wanted first, in force when the ceilings fit. Two ranks with 30 GiB each. */
class LedgerTermsTest {
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);

    private final LedgerOwner owner = LedgerOwner.of(aDevice());

    @BeforeEach
    void twoRanksWithThirtyGibibytesEach() {
        owner.after(new Join(A, 0, MemoryBytes.ZERO), new Join(B, 0, MemoryBytes.ZERO));
        owner.after(reserve(20, 30), new Confirm(A, 1, gib(30)), new Confirm(B, 1, gib(30)));
    }

    private static Desire reserve(int percent, long gibibytesEach) {
        return new Desire(
                token(1), Share.ofPercent(percent), List.of(want(A, gib(gibibytesEach)), want(B, gib(gibibytesEach))));
    }

    private MemoryBytes wanted() {
        return owner.ledger().wanted().budget();
    }

    private MemoryBytes inForce() {
        return owner.ledger().inForce().budget();
    }

    @Test
    void aReserveRaisedIntoFreeRoomHoldsAtOnce() {
        LedgerDecision decision = owner.on(reserve(40, 30));

        assertThat(decision.events())
                .containsExactly(
                        new TermsWanted(
                                aDevice().withReserve(Share.ofPercent(40)).terms()),
                        new TermsInForce());
        assertThat(inForce()).isEqualTo(gib(60));
    }

    @Test
    void aReserveRaisedOverTheCeilingsIsWantedUntilTheyFit() {
        owner.after(reserve(50, 25));

        assertThat(wanted()).isEqualTo(gib(50));
        assertThat(inForce()).isEqualTo(gib(80));
        assertThat(owner.ledger().isOverBudget()).isTrue();
        assertThat(owner.ledger().excess()).isEqualTo(MemoryBytes.ZERO);

        owner.after(new Confirm(A, 2, gib(25)));

        assertThat(inForce()).isEqualTo(gib(80));

        assertThat(owner.on(new Confirm(B, 2, gib(25))).events())
                .containsExactly(new LimitConfirmed(B, 2, gib(25)), new TermsInForce());
        assertThat(inForce()).isEqualTo(gib(50));
        assertThat(owner.ledger().isOverBudget()).isFalse();
    }

    @Test
    void nothingMayGrowWhileTheCeilingsAreOverTheWantedBudget() {
        owner.after(reserve(50, 25), new Join(rank(2), 0, MemoryBytes.ZERO));

        LedgerDecision decision =
                owner.on(new Desire(token(1), Share.ofPercent(50), List.of(want(rank(2), MemoryBytes.of(1)))));

        assertThat(owner.ledger().free()).isEqualTo(MemoryBytes.ZERO);
        assertThat(decision.orders()).isEmpty();
        assertThat(decision.refusals())
                .extracting(Refusal::message)
                .containsExactly("refused grow of rank job/2@102:714 on GPU-a: wants 1 B, has 0 B, free 0 B (budget"
                        + " 50.0 GiB, ceilings 60.0 GiB); waiting for rank job/0@100:700 (sequence 2), rank"
                        + " job/1@101:707 (sequence 2)");
    }

    @Test
    void aReserveLoweredHoldsAtOnceAndItsRoomIsGivenInTheSameDecision() {
        LedgerDecision decision = owner.on(reserve(0, 50));

        assertThat(decision.events().subList(0, 2))
                .containsExactly(
                        new TermsWanted(aDevice().withReserve(Share.NONE).terms()), new TermsInForce());
        assertThat(decision.orders()).hasSize(2);
        assertThat(owner.ledger().ceilings()).isEqualTo(gib(100));
    }

    @Test
    void aRaisedReserveThatIsTakenBackBeforeItHeldLeavesNoTrace() {
        owner.after(reserve(50, 30));

        owner.after(reserve(20, 30));

        assertThat(wanted()).isEqualTo(gib(80));
        assertThat(inForce()).isEqualTo(gib(80));
        assertThat(owner.ledger().isOverBudget()).isFalse();
    }

    @Test
    void capacityThatDropsBelowTheCeilingsIsOverBudgetUntilTheRanksHaveShrunk() {
        owner.after(new Measure(gib(50), MemoryBytes.ZERO));

        assertThat(wanted()).isEqualTo(gib(40));
        assertThat(inForce()).isEqualTo(gib(80));
        assertThat(owner.ledger().isOverBudget()).isTrue();

        owner.after(reserve(20, 20), new Confirm(A, 2, gib(20)), new Confirm(B, 2, gib(20)));

        assertThat(inForce()).isEqualTo(gib(40));
        assertThat(owner.ledger().isOverBudget()).isFalse();
    }

    @Test
    void foreignMemoryTakesFromTheBudgetAndGivesItBack() {
        owner.after(new Measure(gib(100), gib(15)));

        assertThat(inForce()).isEqualTo(gib(65));

        owner.after(new Measure(gib(100), gib(90)));

        assertThat(wanted()).isEqualTo(MemoryBytes.ZERO);
        assertThat(inForce()).isEqualTo(gib(65));

        owner.after(new Measure(gib(100), MemoryBytes.ZERO));

        assertThat(inForce()).isEqualTo(gib(80));
    }

    @Test
    void aRankThatLeavesMayBringTheWantedTermsInForce() {
        owner.after(reserve(50, 25));

        assertThat(owner.on(new Leave(A)).events()).containsExactly(new RankLeft(A), new TermsInForce());
    }

    @Test
    void afterAnAdoptionOverTheBudgetWiderTermsHoldAtOnceAndNarrowerOnesWait() {
        owner.after(new Join(rank(2), 9, gib(60)));
        assertThat(owner.ledger().excess()).isEqualTo(gib(40));

        owner.after(new Measure(gib(110), MemoryBytes.ZERO));
        assertThat(inForce()).isEqualTo(gib(88));

        owner.after(new Measure(gib(100), MemoryBytes.ZERO));
        assertThat(inForce()).isEqualTo(gib(88));
        assertThat(wanted()).isEqualTo(gib(80));
    }

    @Test
    void aStaleCoordinatorDoesNotChangeTheReserve() {
        owner.after(new LedgerCommand.Acknowledge(token(2)));

        owner.after(reserve(90, 30));

        assertThat(wanted()).isEqualTo(gib(80));
        assertThat(owner.events()).last().isEqualTo(new TokenSeen(token(2)));
    }

    @Test
    void aLedgerReplaysToTheSameTerms() {
        owner.after(reserve(50, 25), new Measure(gib(90), gib(3)), new Confirm(A, 2, gib(25)));

        assertThat(LedgerOwner.replayed(owner.events()).snapshot())
                .isEqualTo(owner.ledger().snapshot());
    }

    private static Desire pool(long gibibytes, long gibibytesEach) {
        return new Desire(
                token(1),
                Share.ofPercent(20),
                Optional.of(gib(gibibytes)),
                List.of(want(A, gib(gibibytesEach)), want(B, gib(gibibytesEach))));
    }

    @Test
    void aPoolIsInForceOnceTheCeilingsHaveMadeRoomForIt() {
        owner.after(pool(40, 20));

        assertThat(wanted()).isEqualTo(gib(40));
        assertThat(owner.ledger().inForce().usablePool()).isEqualTo(MemoryBytes.ZERO);

        owner.after(new Confirm(A, 2, gib(20)), new Confirm(B, 2, gib(20)));

        assertThat(inForce()).isEqualTo(gib(40));
        assertThat(owner.ledger().inForce().usablePool()).isEqualTo(gib(40));
    }

    @Test
    void aPoolIsNotMadeSmallerThanWhatIsOut() {
        owner.after(pool(20, 20), new Confirm(A, 2, gib(20)), new Confirm(B, 2, gib(20)));
        Desire none = reserve(20, 20);

        LedgerDecision whileOut = owner.ledger().decide(none, gib(1));
        LedgerDecision whileNobodyKnows = owner.ledger().decide(none);
        LedgerDecision later = owner.ledger().decide(none, MemoryBytes.ZERO);

        assertThat(whileOut.events()).doesNotContain(new TermsInForce());
        assertThat(whileNobodyKnows.events()).doesNotContain(new TermsInForce());
        assertThat(later.events()).contains(new TermsInForce());
    }

    // Goal: a burst that no pool was kept for, of a ledger that was lost, takes from the room for limits.
    @Test
    void whatIsOutBeyondThePoolIsNotPromisedAgain() {
        Desire more = reserve(20, 40);

        assertThat(owner.ledger().decide(more, MemoryBytes.ZERO).orders()).hasSize(2);
        assertThat(owner.ledger().decide(more, gib(10)).orders()).hasSize(1);
        assertThat(owner.ledger().decide(more, gib(11)).orders()).isEmpty();
    }

    @Test
    void capacityThatFallsBelowThePoolLeavesThatMuchForBursts() {
        owner.after(pool(20, 20), new Confirm(A, 2, gib(20)), new Confirm(B, 2, gib(20)));
        owner.after(new Measure(gib(100), gib(70)));

        assertThat(owner.ledger().wanted().usablePool()).isEqualTo(gib(10));
        assertThat(owner.ledger().wanted().budget()).isEqualTo(MemoryBytes.ZERO);
        assertThat(owner.ledger().inForce().usablePool()).isEqualTo(gib(20));
    }
}
