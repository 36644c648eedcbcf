package dev.ullage.worker.enforcement;

import dev.ullage.common.model.MemoryBytes;

/**
 * Whether a rank's processes are above its ceiling: raised after some readings in a row, so that one reading made while
 * a limit changes raises nothing; cleared by the first that is not above. A round without a reading changes nothing.
 * Immutable, pure.
 *
 * @param above how many readings in a row were above, counted no further than the alarm needs
 */
public record CeilingAlarm(int above, boolean isRaised) {
    public static final CeilingAlarm QUIET = new CeilingAlarm(0, false);

    /**
     * @param tolerance how far above a ceiling is not yet above it: what comes and goes in a moment, and what a
     *     mechanism that works in pages or segments rounds up
     * @param after readings in a row, 1 or more
     */
    public record Terms(MemoryBytes tolerance, int after) {}

    /** Whether readings were above and an alarm needs more of them. */
    boolean isCounting() {
        return above > 0 && !isRaised;
    }

    /** After a reading of what the rank's processes use. */
    public CeilingAlarm next(MemoryBytes used, MemoryBytes ceiling, Terms terms) {
        if (!used.isMoreThan(ceiling.plus(terms.tolerance()))) {
            return QUIET;
        }
        int now = Math.min(above + 1, terms.after());
        return new CeilingAlarm(now, isRaised || now >= terms.after());
    }
}
