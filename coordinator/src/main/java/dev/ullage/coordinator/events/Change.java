package dev.ullage.coordinator.events;

import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.protocol.ClusterEvent.About;

/**
 * An event that has no name and no time yet.
 *
 * @param text one sentence for people, with the numbers
 */
public record Change(EventKind kind, EventSeverity severity, About about, String text) {

    public static Change info(EventKind kind, About about, String text) {
        return new Change(kind, EventSeverity.INFO, about, text);
    }

    public static Change warning(EventKind kind, About about, String text) {
        return new Change(kind, EventSeverity.WARNING, about, text);
    }
}
