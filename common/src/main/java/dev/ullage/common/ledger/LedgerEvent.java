package dev.ullage.common.ledger;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;

/** What happened to a {@link DeviceLedger}: hard state, written before anything is done about it. */
public sealed interface LedgerEvent {

    /** The first event of a ledger. */
    record Opened(DeviceId device, BudgetTerms terms) implements LedgerEvent {}

    record TokenSeen(CoordinatorToken token) implements LedgerEvent {}

    /** The budget is to follow from these terms as soon as the ceilings fit. */
    record TermsWanted(BudgetTerms terms) implements LedgerEvent {}

    /** The ceilings fit the wanted terms; they hold from now on. */
    record TermsInForce() implements LedgerEvent {}

    record RankJoined(RankInstance instance) implements LedgerEvent {}

    /**
     * A rank came with a limit in force that this ledger did not know, or knew lower. The only event that may push the
     * ceilings above the budget: it states a fact about the world instead of making a promise.
     *
     * @param sequence the number its newest order has from now on, so that the next one is new to the rank
     */
    record RankAdopted(RankInstance instance, long sequence, MemoryBytes ceiling) implements LedgerEvent {}

    record LimitOrdered(RankInstance instance, long sequence, PhaseLimits limits, Share share) implements LedgerEvent {}

    /** @param ceiling the highest limit the rank may believe from now on */
    record LimitConfirmed(RankInstance instance, long sequence, MemoryBytes ceiling) implements LedgerEvent {}

    record RankLeft(RankInstance instance) implements LedgerEvent {}

    /** Room is kept for a job, until it expires or is released. */
    record ReservationMade(Reservation reservation) implements LedgerEvent {}

    /** It is kept until it is released. */
    record ReservationCommitted(ReservationId id) implements LedgerEvent {}

    record ReservationReleased(ReservationId id) implements LedgerEvent {}

    /** It was not committed in time, or the worker has started anew since. */
    record ReservationExpired(ReservationId id) implements LedgerEvent {}

    /**
     * The whole state at one point: what compaction leaves of all events before it.
     *
     * @param reservations empty: none, and so is a list of none; a file from before there were any has no such field
     */
    record Snapshot(
            DeviceId device,
            Optional<CoordinatorToken> highestToken,
            BudgetTerms wanted,
            BudgetTerms inForce,
            List<Grant> grants,
            Optional<List<HeldReservation>> reservations)
            implements LedgerEvent {
        public Snapshot {
            grants = List.copyOf(grants);
            reservations = reservations.filter(held -> !held.isEmpty()).map(List::copyOf);
        }

        /** Without reservations. */
        public Snapshot(
                DeviceId device,
                Optional<CoordinatorToken> highestToken,
                BudgetTerms wanted,
                BudgetTerms inForce,
                List<Grant> grants) {
            this(device, highestToken, wanted, inForce, grants, Optional.empty());
        }
    }
}
