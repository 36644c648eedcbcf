package dev.ullage.common.ledger;

/**
 * Something asked of a ledger that it did not do.
 *
 * @param reason the rule that stood in the way
 * @param message who, what, which bound, both numbers, what it waits for
 */
public record Refusal(Reason reason, String message) {

    public enum Reason {
        /** An older coordinator than the highest this ledger has seen. */
        STALE_COORDINATOR,
        /** The rank is not, or no longer, on this device. */
        UNKNOWN_RANK,
        /** Growing, or keeping room for a job, would exceed what the budget leaves free. */
        NO_ROOM,
        /** A commit of a reservation that is not, or no longer, in this ledger. */
        UNKNOWN_RESERVATION,
        /** A reservation without a part on this device, or another than the one that has its name. */
        IMPOSSIBLE_RESERVATION,
        /** The reservations of this ledger would have more parts than a report can carry. */
        TOO_MANY_PARTS,
        /** A confirmation of an order that was replaced; the newest one's will follow. */
        SUPERSEDED_CONFIRMATION,
        /** A confirmation of an order that was never given, or of more than was ever allowed. */
        IMPOSSIBLE_CONFIRMATION
    }
}
