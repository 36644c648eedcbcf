package dev.ullage.coordinator.simulation;

import dev.ullage.common.model.Priority;
import dev.ullage.coordinator.planning.balance.PlacementRequest;
import java.util.OptionalLong;

/**
 * One job of a trace.
 *
 * @param request in thousandths of a device
 * @param priority by its class of service
 * @param ranFor seconds from its start to its end, more than 0; empty when it never started or the trace does not say
 */
public record TraceJob(String name, PlacementRequest request, Priority priority, OptionalLong ranFor) {}
