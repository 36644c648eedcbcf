package dev.ullage.worker.probe.smi;

import java.util.List;

/**
 * The memory of one device; each part may be unknown by itself. The tables have only {@code used} and {@code total}.
 *
 * @param reserved what the driver keeps for itself; drivers before 510 do not print it and count it as used
 */
public record SmiMemory(SmiAmount total, SmiAmount reserved, SmiAmount used, SmiAmount free) {
    static final SmiMemory NOT_PRINTED = unknown(SmiAmount.NOT_PRINTED);

    static SmiMemory unknown(SmiAmount why) {
        return new SmiMemory(why, why, why, why);
    }

    static SmiMemory ofTable(SmiAmount used, SmiAmount total) {
        return new SmiMemory(total, SmiAmount.NOT_PRINTED, used, SmiAmount.NOT_PRINTED);
    }

    SmiMemory or(SmiMemory other) {
        return new SmiMemory(
                total.or(other.total), reserved.or(other.reserved), used.or(other.used), free.or(other.free));
    }

    /** Whether the tool was asked for the memory and has no number for any part of it. */
    boolean isWithoutAnyNumber() {
        List<SmiAmount> parts = List.of(total, reserved, used, free);
        return parts.stream().noneMatch(SmiAmount::isKnown) && !total.equals(SmiAmount.NOT_PRINTED);
    }
}
