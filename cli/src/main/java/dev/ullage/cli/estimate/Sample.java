package dev.ullage.cli.estimate;

import java.util.OptionalDouble;

/**
 * A measurement beside what was estimated for it, in bytes.
 *
 * @param group where it comes from
 * @param isComplete the row states all that decides the amount
 * @param upper the upper end of the estimate's interval
 * @param afterOne what is estimated once the first iteration's peak is known
 */
record Sample(
        String group,
        String id,
        boolean isComplete,
        double measured,
        double point,
        double upper,
        OptionalDouble afterOne) {

    /** @param reason why a row could not be used */
    record Skipped(String group, String id, String reason) {}

    /** Relative: -0.1 is a tenth too low. */
    double error() {
        return point / measured - 1;
    }
}
