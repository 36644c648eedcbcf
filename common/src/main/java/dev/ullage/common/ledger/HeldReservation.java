package dev.ullage.common.ledger;

import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;

/**
 * A reservation in a ledger: {@code RESERVED --commit--> COMMITTED}, and gone after a release or, before the commit
 * only, when it expires.
 *
 * @param committed whether only a release ends it
 */
public record HeldReservation(Reservation reservation, boolean committed) {

    public ReservationId id() {
        return reservation.id();
    }

    HeldReservation kept() {
        return new HeldReservation(reservation, true);
    }
}
