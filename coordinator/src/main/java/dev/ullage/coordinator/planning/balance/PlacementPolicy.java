package dev.ullage.coordinator.planning.balance;

/**
 * Chooses where a request goes. The choice follows from the board (rooms, and what has arrived there), the request and
 * what the policy was made with; it changes nothing on the board. A policy may remember what it worked out, so it has a
 * single owner.
 */
@FunctionalInterface
public interface PlacementPolicy {
    Placement place(PlacementBoard board, PlacementRequest request);
}
