package dev.ullage.coordinator.planning;

/** Why a limit is what it is, with the numbers it came from; one line, for people. */
public record PlanReason(String text) {

    @Override
    public String toString() {
        return text;
    }
}
