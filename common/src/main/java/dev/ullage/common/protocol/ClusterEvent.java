package dev.ullage.common.protocol;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Something that was decided or that changed.
 *
 * @param epochMillis when the coordinator noticed, by its own clock
 * @param kind such as {@code limit-changed}; a text, so that an older node can pass on what it does not know
 * @param about what it concerns
 * @param text one sentence for people, with the numbers
 */
public record ClusterEvent(
        EventId id, long epochMillis, String kind, EventSeverity severity, About about, String text) {

    /** What an event concerns, each where it applies. */
    public record About(Optional<NodeId> node, Optional<DeviceId> device, Optional<JobId> job, OptionalInt rank) {
        public static final About CLUSTER =
                new About(Optional.empty(), Optional.empty(), Optional.empty(), OptionalInt.empty());

        public static About node(NodeId node) {
            return new About(Optional.of(node), Optional.empty(), Optional.empty(), OptionalInt.empty());
        }

        public static About device(NodeId node, DeviceId device) {
            return new About(Optional.of(node), Optional.of(device), Optional.empty(), OptionalInt.empty());
        }

        /** A rank wherever it is. */
        public static About rank(JobId job, int rank) {
            return new About(Optional.empty(), Optional.empty(), Optional.of(job), OptionalInt.of(rank));
        }

        /** A rank on the device this is about. */
        public About withRank(JobId newJob, int newRank) {
            return new About(node, device, Optional.of(newJob), OptionalInt.of(newRank));
        }
    }
}
