package dev.ullage.worker.sampling;

import dev.ullage.common.model.MemoryBytes;

/**
 * An amount that follows what is measured at once where that is the cautious side, and late where it is not: each
 * change is written to the disk, and one that swings around a step would be every second. Immutable, pure.
 *
 * @param held the amount that counts
 * @param waited for how many samples in a row the other side was measured
 */
record SteadyAmount(MemoryBytes held, int waited) {
    /** A minute at the usual pace is too long for somebody who waits for memory, a second too short to be steady. */
    static final int PATIENCE = 10;

    static SteadyAmount of(MemoryBytes measured) {
        return new SteadyAmount(measured, 0);
    }

    /** Whether another amount was measured and is not yet believed. */
    boolean isCounting() {
        return waited > 0;
    }

    /** For what takes room away: up at once; down by two steps or more, or after some samples. */
    SteadyAmount slowToFall(MemoryBytes measured, MemoryBytes step) {
        return next(measured, measured.isMoreThan(held), step);
    }

    /** For what gives room: down at once; up by two steps or more, or after some samples. */
    SteadyAmount slowToRise(MemoryBytes measured, MemoryBytes step) {
        return next(measured, held.isMoreThan(measured), step);
    }

    private SteadyAmount next(MemoryBytes measured, boolean isCautious, MemoryBytes step) {
        if (measured.equals(held)) {
            return of(held);
        }
        MemoryBytes change = measured.max(held).minus(measured.min(held));
        boolean isLarge = !step.plus(step).isMoreThan(change);
        return isCautious || isLarge || waited + 1 >= PATIENCE ? of(measured) : new SteadyAmount(held, waited + 1);
    }
}
