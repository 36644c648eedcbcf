package dev.ullage.common.ledger;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;

/** What can be asked of a {@link DeviceLedger}. Repeating a command changes nothing. */
public sealed interface LedgerCommand {

    /** A coordinator has taken over and wants to learn. */
    record Acknowledge(CoordinatorToken token) implements LedgerCommand {}

    /**
     * What a coordinator wants the device to look like: absolute, so the newest replaces all before it. Ranks that are
     * not named keep what they have.
     *
     * @param reserve the share of the device that is to stay free
     * @param pool what is to be kept for bursts; empty: nothing
     * @param limits in the order in which growth is to be considered
     */
    record Desire(CoordinatorToken token, Share reserve, Optional<MemoryBytes> pool, List<DesiredLimit> limits)
            implements LedgerCommand {
        public Desire {
            limits = List.copyOf(limits);
        }

        /** Without a pool. */
        public Desire(CoordinatorToken token, Share reserve, List<DesiredLimit> limits) {
            this(token, reserve, Optional.empty(), limits);
        }
    }

    /** One rank's part of a {@link Desire}. */
    record DesiredLimit(RankInstance instance, PhaseLimits limits, Share share) {}

    /** What the device and strangers on it measure now. */
    record Measure(MemoryBytes allocatable, MemoryBytes foreign) implements LedgerCommand {}

    /**
     * A process says hello, for the first time or again.
     *
     * @param claimedSequence the newest order it has applied, 0 when none
     * @param claimedLimit the limit it holds in force, zero when it was never given one
     */
    record Join(RankInstance instance, long claimedSequence, MemoryBytes claimedLimit) implements LedgerCommand {}

    /**
     * A rank applied an order.
     *
     * @param inForce the highest limit it may now use in any phase without a further order
     */
    record Confirm(RankInstance instance, long sequence, MemoryBytes inForce) implements LedgerCommand {}

    /** Less of the pool is out than before: what is wanted may fit now. */
    record Reconsider() implements LedgerCommand {}

    /** The process is gone: seen by its pid and start time, not merely silent. */
    record Leave(RankInstance instance) implements LedgerCommand {}

    /** Keep this device's part of the reservation, until it expires or is released. */
    record Reserve(CoordinatorToken token, Reservation reservation) implements LedgerCommand {}

    /** Keep it until it is released. */
    record CommitReservation(CoordinatorToken token, ReservationId id) implements LedgerCommand {}

    /** Give its room back, however far it came. */
    record ReleaseReservation(CoordinatorToken token, ReservationId id) implements LedgerCommand {}

    /** From the ledger's owner: its time is up. Does nothing to one that is committed. */
    record ExpireReservation(ReservationId id) implements LedgerCommand {}
}
