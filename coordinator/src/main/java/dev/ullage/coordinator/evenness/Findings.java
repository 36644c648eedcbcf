package dev.ullage.coordinator.evenness;

import dev.ullage.common.protocol.JobDirective;
import dev.ullage.coordinator.events.Change;
import java.util.List;

/**
 * What a look came to.
 *
 * @param orders of batch shares, at most one for a job; none unless they may be sent
 * @param changes to be told as events
 */
public record Findings(List<JobDirective> orders, List<Change> changes) {
    public static final Findings NONE = new Findings(List.of(), List.of());

    public Findings {
        orders = List.copyOf(orders);
        changes = List.copyOf(changes);
    }
}
