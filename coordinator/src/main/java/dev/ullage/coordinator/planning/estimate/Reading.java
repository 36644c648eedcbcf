package dev.ullage.coordinator.planning.estimate;

import java.util.List;

/**
 * A setup as read from fields.
 *
 * @param likely with the usual value where a field is missing
 * @param alternatives with the other values that a missing field may have
 * @param assumptions which fields were missing and what was taken, for people
 */
public record Reading(Setup likely, List<Setup> alternatives, List<String> assumptions) {
    public Reading {
        alternatives = List.copyOf(alternatives);
        assumptions = List.copyOf(assumptions);
    }

    /** Nothing that decides the amount was missing. */
    public boolean isComplete() {
        return alternatives.isEmpty();
    }
}
