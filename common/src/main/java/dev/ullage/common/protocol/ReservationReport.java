package dev.ullage.common.protocol;

import dev.ullage.common.model.Reservation;

/**
 * A reservation as one device's ledger has it.
 *
 * @param committed whether it stays until it is released; else it expires by itself after a while
 */
public record ReservationReport(Reservation reservation, boolean committed) {}
