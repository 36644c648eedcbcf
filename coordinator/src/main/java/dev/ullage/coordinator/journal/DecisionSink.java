package dev.ullage.coordinator.journal;

import dev.ullage.coordinator.decisions.Decision;

/** Takes decisions as they are made. Returns at once, whatever becomes of them: the coordinator never waits for it. */
@FunctionalInterface
public interface DecisionSink {
    /** For a coordinator that keeps no file. */
    DecisionSink NONE = decision -> {};

    void accept(Decision decision);
}
