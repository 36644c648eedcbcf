package dev.ullage.coordinator.simulation;

import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import java.util.Optional;

/**
 * One job of a trace.
 *
 * @param request in thousandths of a device
 * @param stay when it came and went; empty when the trace does not tell
 */
public record TraceJob(String name, PlacementRequest request, Priority priority, Optional<Stay> stay) {

    /**
     * @param arrivalSeconds from the beginning of the trace, 0 or more
     * @param runSeconds how long it ran once it had been given its devices, 0 or more
     */
    public record Stay(long arrivalSeconds, long runSeconds) {}
}
