package dev.ullage.common.ledger;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.gib;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.common.testing.Fixtures.token;
import static dev.ullage.common.testing.Fixtures.want;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.ledger.LedgerCommand.Acknowledge;
import dev.ullage.common.ledger.LedgerCommand.Confirm;
import dev.ullage.common.ledger.LedgerCommand.Desire;
import dev.ullage.common.ledger.LedgerCommand.DesiredLimit;
import dev.ullage.common.ledger.LedgerCommand.Join;
import dev.ullage.common.ledger.LedgerCommand.Leave;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import dev.ullage.common.ledger.Refusal.Reason;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.testing.LedgerOwner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Promises to ranks on one device of 100 GiB with a budget of 80 GiB. Terms: LedgerTermsTest. */
class DeviceLedgerTest {
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);

    private final LedgerOwner owner = LedgerOwner.of(aDevice());

    private static Join hello(RankInstance rank) {
        return new Join(rank, 0, MemoryBytes.ZERO);
    }

    private static Desire desire(DesiredLimit... limits) {
        return new Desire(token(1), Share.ofPercent(20), List.of(limits));
    }

    private static Confirm confirm(RankInstance rank, long sequence, long gibibytes) {
        return new Confirm(rank, sequence, gib(gibibytes));
    }

    private MemoryBytes ceiling(RankInstance rank) {
        return owner.ledger().grant(rank).orElseThrow().ceiling();
    }

    @Test
    void aRankThatSaysHelloForTheFirstTimeIsPromisedNothing() {
        LedgerDecision decision = owner.on(hello(A));

        assertThat(decision).isEqualTo(new LedgerDecision(List.of(new RankJoined(A)), List.of(), List.of()));
        Grant grant = owner.ledger().grant(A).orElseThrow();
        assertThat(grant).isEqualTo(new Grant(A, Share.ALL, Optional.empty(), 0, 0, MemoryBytes.ZERO));
        assertThat(grant.isSettled()).isTrue();
        assertThat(owner.ledger().outstandingOrders()).isEmpty();
    }

    @Test
    void growthRaisesTheCeilingAtOnceAndIsOutstandingUntilConfirmed() {
        owner.after(hello(A));

        LedgerDecision decision = owner.on(desire(want(A, gib(30))));

        assertThat(decision.events())
                .containsExactly(new TokenSeen(token(1)), new LimitOrdered(A, 1, limits(gib(30)), Share.ALL));
        assertThat(decision.orders()).containsExactly(new Order(A, 1, limits(gib(30))));
        assertThat(ceiling(A)).isEqualTo(gib(30));
        assertThat(owner.ledger().free()).isEqualTo(gib(50));
        assertThat(owner.ledger().outstandingOrders()).isEqualTo(decision.orders());

        owner.after(confirm(A, 1, 30));

        assertThat(owner.ledger().outstandingOrders()).isEmpty();
        assertThat(owner.ledger().grant(A).orElseThrow().isSettled()).isTrue();
    }

    @Test
    void aShrinkLeavesTheCeilingUntilTheRankConfirms() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30));

        owner.after(desire(want(A, gib(10))));

        assertThat(ceiling(A)).isEqualTo(gib(30));
        assertThat(owner.ledger().grant(A).orElseThrow().targetMax()).isEqualTo(gib(10));
        assertThat(owner.ledger().free()).isEqualTo(gib(50));

        LedgerDecision decision = owner.on(confirm(A, 2, 10));

        assertThat(decision.events()).containsExactly(new LimitConfirmed(A, 2, gib(10)));
        assertThat(owner.ledger().free()).isEqualTo(gib(70));
    }

    @Test
    void aRankThatStillHoldsMoreKeepsThatMuchOfItsCeilingUntilItConfirmsLess() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30), desire(want(A, gib(10))));

        owner.after(confirm(A, 2, 25));

        assertThat(ceiling(A)).isEqualTo(gib(25));
        assertThat(owner.ledger().grant(A).orElseThrow().isSettled()).isFalse();

        owner.after(confirm(A, 2, 10));

        assertThat(ceiling(A)).isEqualTo(gib(10));
        assertThat(owner.ledger().grant(A).orElseThrow().isSettled()).isTrue();
    }

    @Test
    void aConfirmationBelowTheTargetLeavesTheCeilingAtTheTarget() {
        owner.after(hello(A), desire(want(A, gib(30))));

        owner.after(confirm(A, 1, 5));

        assertThat(ceiling(A)).isEqualTo(gib(30));
    }

    @Test
    void onlyTheNewestSequencesConfirmationLowersTheCeiling() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30));
        owner.after(desire(want(A, gib(10))), desire(want(A, gib(20))));

        LedgerDecision late = owner.on(confirm(A, 2, 10));

        assertThat(late)
                .isEqualTo(new LedgerDecision(
                        List.of(),
                        List.of(),
                        List.of(new Refusal(
                                Reason.SUPERSEDED_CONFIRMATION,
                                "ignored confirmation 2 of rank job/0@100:700: the newest order is 3"))));
        assertThat(ceiling(A)).isEqualTo(gib(30));

        owner.after(confirm(A, 3, 20));

        assertThat(ceiling(A)).isEqualTo(gib(20));
    }

    @Test
    void aTargetThatMovesUpAgainBelowTheCeilingNeedsNoRoom() {
        owner.after(hello(A), hello(B), desire(want(A, gib(50)), want(B, gib(30))));
        owner.after(confirm(A, 1, 50), desire(want(A, gib(10))));

        LedgerDecision decision = owner.on(desire(want(A, gib(40))));

        assertThat(decision.orders()).containsExactly(new Order(A, 3, limits(gib(40))));
        assertThat(ceiling(A)).isEqualTo(gib(50));
    }

    @Test
    void growthIsRefusedWithTheNumbersAndTheShrinkItWaitsFor() {
        owner.after(hello(A), hello(B), desire(want(A, gib(60)), want(B, gib(12))));
        owner.after(confirm(A, 1, 60), confirm(B, 1, 12), desire(want(A, gib(20))));

        LedgerDecision decision = owner.on(desire(want(B, gib(24))));

        assertThat(decision)
                .isEqualTo(new LedgerDecision(
                        List.of(),
                        List.of(),
                        List.of(new Refusal(
                                Reason.NO_ROOM,
                                "refused grow of rank job/1@101:707 on GPU-a: wants 24.0 GiB, has 12.0 GiB, free 8.0 GiB"
                                        + " (budget 80.0 GiB, ceilings 72.0 GiB); waiting for rank job/0@100:700"
                                        + " (sequence 2)"))));

        owner.after(confirm(A, 2, 20));

        assertThat(owner.on(desire(want(B, gib(24)))).orders()).containsExactly(new Order(B, 2, limits(gib(24))));
    }

    @Test
    void growthThatNothingWillMakeRoomForNamesNobody() {
        // A has not confirmed its growth yet, but that confirmation frees nothing.
        owner.after(hello(A), hello(B), desire(want(A, gib(70))));

        LedgerDecision decision = owner.on(desire(want(B, gib(20))));

        assertThat(decision.refusals())
                .containsExactly(new Refusal(
                        Reason.NO_ROOM,
                        "refused grow of rank job/1@101:707 on GPU-a: wants 20.0 GiB, has 0 B, free 10.0 GiB"
                                + " (budget 80.0 GiB, ceilings 70.0 GiB)"));
    }

    @Test
    void theLastByteOfTheBudgetCanBePromisedAndNotOneMore() {
        owner.after(hello(A), hello(B), desire(want(A, gib(60))));

        assertThat(owner.on(desire(want(B, gib(20).plus(MemoryBytes.of(1))))).orders())
                .isEmpty();
        assertThat(owner.on(desire(want(B, gib(20)))).orders()).hasSize(1);
        assertThat(owner.ledger().free()).isEqualTo(MemoryBytes.ZERO);
    }

    @Test
    void shrinksAreOrderedBeforeGrowthAndGrowthInTheOrderOfTheDesire() {
        RankInstance c = rank(2);
        owner.after(hello(A), hello(B), hello(c), desire(want(A, gib(40))), confirm(A, 1, 40));

        LedgerDecision decision = owner.on(desire(want(c, gib(30)), want(B, gib(20)), want(A, gib(20))));

        assertThat(decision.orders()).extracting(Order::instance).containsExactly(A, c);
        assertThat(decision.refusals()).extracting(Refusal::reason).containsExactly(Reason.NO_ROOM);
    }

    @Test
    void theHighestPhaseIsWhatCountsAgainstTheBudget() {
        owner.after(hello(A), hello(B));

        owner.after(desire(new DesiredLimit(A, limits(gib(1), gib(70)), Share.ALL)));

        assertThat(owner.ledger().ceilings()).isEqualTo(gib(70));
        assertThat(owner.on(desire(want(B, gib(11)))).refusals()).hasSize(1);
    }

    @Test
    void aChangeOfAPhaseBelowTheHighestIsOrderedWithoutRoom() {
        owner.after(hello(A), desire(new DesiredLimit(A, limits(gib(1), gib(80)), Share.ALL)));

        LedgerDecision decision = owner.on(desire(new DesiredLimit(A, limits(gib(2), gib(80)), Share.ALL)));

        assertThat(decision.orders()).containsExactly(new Order(A, 2, limits(gib(2), gib(80))));
    }

    @Test
    void theOperatorsShareIsKeptForTheNextCoordinator() {
        owner.after(hello(A), desire(new DesiredLimit(A, limits(gib(8)), Share.ofPercent(50))));

        assertThat(owner.ledger().grant(A).orElseThrow().share()).isEqualTo(Share.ofPercent(50));
    }

    @Test
    void aDesireThatNamesUnknownRanksIsFollowedForTheOthers() {
        owner.after(hello(A));

        LedgerDecision decision = owner.on(desire(want(B, gib(3)), want(A, gib(30))));

        assertThat(decision.orders()).extracting(Order::instance).containsExactly(A);
        assertThat(decision.refusals())
                .containsExactly(new Refusal(
                        Reason.UNKNOWN_RANK, "refused a limit of 3.0 GiB for rank job/1@101:707: not on GPU-a"));
    }

    @Test
    void ranksThatADesireDoesNotNameKeepWhatTheyHave() {
        owner.after(hello(A), hello(B), desire(want(A, gib(30)), want(B, gib(20))));

        owner.after(desire(want(B, gib(10))));

        assertThat(owner.ledger().grant(A).orElseThrow().target()).contains(limits(gib(30)));
    }

    @Test
    void ofTwoLimitsForOneRankInOneDesireTheLastCountsHoweverOftenItIsSaid() {
        owner.after(hello(A));
        Desire twice = desire(want(A, gib(10)), want(A, gib(20)));

        assertThat(owner.on(twice).orders()).containsExactly(new Order(A, 1, limits(gib(20))));
        assertThat(owner.on(twice)).isEqualTo(new LedgerDecision(List.of(), List.of(), List.of()));
    }

    @Test
    void anOlderCoordinatorIsRefusedAndChangesNothing() {
        owner.after(hello(A), new Acknowledge(token(7)));
        DeviceLedger before = owner.ledger();

        LedgerDecision decision = owner.on(new Desire(token(6), Share.NONE, List.of(want(A, gib(10)))));

        Refusal refusal =
                new Refusal(Reason.STALE_COORDINATOR, "refused coordinator 6:c6 on GPU-a: already obeys 7:c7");
        assertThat(decision).isEqualTo(new LedgerDecision(List.of(), List.of(), List.of(refusal)));
        assertThat(owner.on(new Acknowledge(token(6))).refusals()).containsExactly(refusal);
        assertThat(owner.ledger().snapshot()).isEqualTo(before.snapshot());
    }

    @Test
    void aNewerCoordinatorIsRememberedWithItsFirstWord() {
        owner.after(new Acknowledge(token(2)));

        assertThat(owner.on(new Acknowledge(token(3))).events()).containsExactly(new TokenSeen(token(3)));
        assertThat(owner.ledger().highestToken()).contains(token(3));
    }

    @Test
    void aRankThatLeavesFreesItsCeilingAndIsUnknownAfterwards() {
        owner.after(hello(A), desire(want(A, gib(80))));

        assertThat(owner.on(new Leave(A)).events()).containsExactly(new RankLeft(A));
        assertThat(owner.ledger().free()).isEqualTo(gib(80));
        assertThat(owner.on(confirm(A, 1, 80)).refusals())
                .containsExactly(
                        new Refusal(Reason.UNKNOWN_RANK, "ignored a confirmation of rank job/0@100:700: not on GPU-a"));
    }

    @Test
    void aRestartedRankIsAnotherProcessAndDoesNotInheritThePromise() {
        owner.after(hello(A), desire(want(A, gib(80))));

        owner.after(hello(rank(0, 999)));

        assertThat(owner.ledger().grant(rank(0, 999)).orElseThrow().ceiling()).isEqualTo(MemoryBytes.ZERO);
        assertThat(ceiling(A)).isEqualTo(gib(80));
    }

    @Test
    void aConfirmationOfAnOrderNeverGivenIsRefusedWithTheNumbers() {
        owner.after(hello(A), desire(want(A, gib(30))));

        assertThat(owner.on(confirm(A, 2, 1)).refusals())
                .containsExactly(new Refusal(
                        Reason.IMPOSSIBLE_CONFIRMATION,
                        "refused confirmation 2 of 1.0 GiB by rank job/0@100:700: the newest order is 1, its ceiling"
                                + " 30.0 GiB"));
    }

    @Test
    void aRankThatHoldsMoreThanItsFirstOrderIsCountedAndOrderedAgain() {
        owner.after(hello(A), desire(want(A, gib(30))));

        assertThat(owner.on(confirm(A, 1, 31)).events()).containsExactly(new RankAdopted(A, 2, gib(31)));

        assertThat(ceiling(A)).isEqualTo(gib(31));
        assertThat(owner.ledger().outstandingOrders()).containsExactly(new Order(A, 2, PhaseLimits.uniform(gib(30))));
        owner.after(confirm(A, 2, 30));
        assertThat(ceiling(A)).isEqualTo(gib(30));
    }

    @Test
    void withinOneSequenceALateHigherConfirmationDoesNotRaiseTheCeilingAgain() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30), desire(want(A, gib(10))));
        owner.after(confirm(A, 2, 12));

        assertThat(owner.on(confirm(A, 2, 25)).events()).isEmpty();
        assertThat(ceiling(A)).isEqualTo(gib(12));
    }

    @Test
    void aHelloWithTheNewestOrderInForceConfirmsIt() {
        owner.after(hello(A), desire(want(A, gib(30))));

        assertThat(owner.on(new Join(A, 1, gib(30))).events()).containsExactly(new LimitConfirmed(A, 1, gib(30)));
    }

    @Test
    void aHelloWithAnOlderOrderInForceLeavesTheNewestOutstanding() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30), desire(want(A, gib(10))));

        assertThat(owner.on(new Join(A, 1, gib(30))).events()).isEmpty();
        assertThat(owner.ledger().outstandingOrders()).containsExactly(new Order(A, 2, limits(gib(10))));
    }

    @Test
    void aLimitTheLedgerDidNotKnowIsAdoptedEvenOverTheBudget() {
        LedgerDecision decision = owner.on(new Join(A, 41, gib(90)));

        assertThat(decision.events()).containsExactly(new RankAdopted(A, 41, gib(90)));
        assertThat(owner.ledger().excess()).isEqualTo(gib(10));
        assertThat(owner.ledger().isOverBudget()).isTrue();
        assertThat(owner.ledger().free()).isEqualTo(MemoryBytes.ZERO);
        assertThat(owner.on(desire(want(A, gib(40)))).orders()).containsExactly(new Order(A, 42, limits(gib(40))));
        owner.after(confirm(A, 42, 40));
        assertThat(owner.ledger().isOverBudget()).isFalse();
    }

    @Test
    void aRankThatKnowsANewerOrderThanItsLedgerIsOrderedAnewUnderANumberItHasNotSeen() {
        // The ledger file was put back from a copy: order 5 with 60 GiB is in force, the ledger knows order 1.
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30));

        owner.after(new Join(A, 5, gib(60)));

        assertThat(ceiling(A)).isEqualTo(gib(60));
        assertThat(owner.ledger().outstandingOrders()).containsExactly(new Order(A, 6, limits(gib(30))));
        owner.after(confirm(A, 6, 30));
        assertThat(owner.ledger().grant(A).orElseThrow().isSettled()).isTrue();
    }

    @Test
    void aRankThatCameWithMoreThanItHadConfirmedIsOrderedUntilItConfirmsAgain() {
        owner.after(hello(A), desire(want(A, gib(30))), confirm(A, 1, 30), desire(want(A, gib(10))));
        owner.after(confirm(A, 2, 10));

        owner.after(new Join(A, 1, gib(30)));

        assertThat(ceiling(A)).isEqualTo(gib(30));
        assertThat(owner.ledger().outstandingOrders()).containsExactly(new Order(A, 2, limits(gib(10))));
    }

    @Test
    void repeatingAnyCommandChangesNothing() {
        List<LedgerCommand> commands = List.of(
                new Acknowledge(token(1)),
                hello(A),
                new Join(B, 3, gib(5)),
                desire(want(A, gib(30)), want(B, gib(10))),
                new LedgerCommand.Measure(gib(90), gib(2)),
                confirm(A, 1, 30),
                new Desire(token(1), Share.ofPercent(50), List.of(want(A, gib(10)))),
                confirm(A, 2, 20),
                new Leave(B));
        for (LedgerCommand command : commands) {
            assertThat(owner.on(command).events()).as("first %s", command).isNotEmpty();
            assertThat(owner.on(command).events()).as("second %s", command).isEmpty();
        }
    }

    @Test
    void aSnapshotIsTheWholeState() {
        owner.after(hello(A), new Join(B, 3, gib(5)), desire(want(A, gib(30)), want(B, gib(10))));
        owner.after(confirm(A, 1, 30), new Desire(token(4), Share.ofPercent(90), List.of(want(A, gib(1)))));
        DeviceLedger before = owner.ledger();

        DeviceLedger after = DeviceLedger.open(before.snapshot());

        assertThat(after.snapshot()).isEqualTo(before.snapshot());
        assertThat(after.ceilings()).isEqualTo(before.ceilings());
        assertThat(before.apply(before.snapshot()).snapshot()).isEqualTo(before.snapshot());
    }

    @Test
    void aLedgerOpensWithItsOpeningOrASnapshotAndOnlyOnce() {
        assertThatThrownBy(() -> DeviceLedger.open(new RankJoined(A)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a ledger starts with Opened or Snapshot, not with RankJoined");
        assertThatThrownBy(() -> owner.ledger().apply(aDevice().opened())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anEventThatWouldBreakTheInvariantStopsTheOwner() {
        owner.after(hello(A), desire(want(A, gib(80))));

        assertThatThrownBy(() -> owner.ledger().apply(new LimitOrdered(A, 2, limits(gib(81)), Share.ALL)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("ledger of GPU-a would exceed its budget: promised 86973087744 B, ceilings"
                        + " 86973087744 B, budget in force 85899345920 B, after LimitOrdered");
        assertThatThrownBy(() -> owner.ledger().apply(new LimitConfirmed(A, 9, gib(80))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("inconsistent grant");
        assertThatThrownBy(() -> owner.ledger().apply(new LimitConfirmed(B, 1, gib(1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no grant of job/1@101:707 on GPU-a");
    }
}
