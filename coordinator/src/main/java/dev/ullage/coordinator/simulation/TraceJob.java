package dev.ullage.coordinator.simulation;

import dev.ullage.coordinator.planning.balance.PlacementRequest;

/**
 * One job of a trace.
 *
 * @param request in thousandths of a device
 */
public record TraceJob(String name, PlacementRequest request) {}
