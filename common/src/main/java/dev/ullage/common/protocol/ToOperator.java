package dev.ullage.common.protocol;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Answers of the coordinator to whoever looks or steers. */
public sealed interface ToOperator extends WireMessage {

    /**
     * Everything the coordinator knows, at one moment.
     *
     * @param token its token; empty while it is still claiming one
     * @param state its state of leadership: {@code CLAIMING}, {@code LEARNING}, {@code ACTIVE}
     * @param ooms what was done about jobs that ran out of memory; an older coordinator does not say
     * @param queue the queue in figures; an older coordinator does not say
     */
    record ClusterStatus(
            NodeId coordinator,
            Optional<CoordinatorToken> token,
            String state,
            List<NodeStatus> nodes,
            List<RolloutStatus> rollouts,
            Optional<OomMoves> ooms,
            Optional<QueueFigures> queue)
            implements ToOperator {
        /** One that says nothing of out-of-memory errors. */
        public ClusterStatus(
                NodeId coordinator,
                Optional<CoordinatorToken> token,
                String state,
                List<NodeStatus> nodes,
                List<RolloutStatus> rollouts) {
            this(coordinator, token, state, nodes, rollouts, Optional.empty());
        }

        /** One that says nothing of a queue. */
        public ClusterStatus(
                NodeId coordinator,
                Optional<CoordinatorToken> token,
                String state,
                List<NodeStatus> nodes,
                List<RolloutStatus> rollouts,
                Optional<OomMoves> ooms) {
            this(coordinator, token, state, nodes, rollouts, ooms, Optional.empty());
        }

        public ClusterStatus with(QueueFigures figures) {
            return new ClusterStatus(coordinator, token, state, nodes, rollouts, ooms, Optional.of(figures));
        }

        public ClusterStatus {
            nodes = List.copyOf(nodes);
            rollouts = List.copyOf(rollouts);
        }
    }

    /** The last moves of each job, the oldest of a job first. */
    record OomMoves(List<OomMove> moves) {
        public OomMoves {
            moves = List.copyOf(moves);
        }
    }

    /**
     * What was done when a job ran out of memory.
     *
     * @param state how far it has come: {@code ORDERED}, {@code APPLIED}, {@code DONE}, {@code NO_EFFECT},
     *     {@code REPLACED}
     * @param ageMillis since this coordinator decided it, or first heard of it
     */
    record OomMove(JobDirective directive, String state, long ageMillis) {}

    /** Where requests stand: those that wait in the order of the queue, then the others by their jobs' names. */
    record Requests(List<RequestState> states) implements ToOperator {
        public Requests {
            states = List.copyOf(states);
        }
    }

    /** A request was not taken into the queue; each reason has the numbers. */
    record RequestRefused(List<String> reasons) implements ToOperator {
        public RequestRefused {
            reasons = List.copyOf(reasons);
        }
    }

    /**
     * The queue in figures, since this coordinator started.
     *
     * @param waits how long those that were placed had waited, each in the first bucket it is within
     * @param waitedMillis the sum of these
     * @param placed attempts to place a job that succeeded
     * @param failed attempts that did not: refused, or not answered in time
     */
    record QueueFigures(
            int waiting, int placing, int running, List<Bucket> waits, long waitedMillis, long placed, long failed) {
        public QueueFigures {
            waits = List.copyOf(waits);
        }

        /** @param upToSeconds empty: all that are longer */
        public record Bucket(OptionalLong upToSeconds, long count) {}
    }

    /** A write was accepted; {@code message} says what it changes. */
    record Accepted(String message) implements ToOperator {}

    /** A write was refused; {@code message} says which rule, with the numbers. */
    record Refused(String message) implements ToOperator {}

    /**
     * What happened after the event that was asked for.
     *
     * @param events in the order of their ids
     * @param isComplete whether there are no others: false when some were forgotten, or are another coordinator's
     */
    record Events(List<ClusterEvent> events, boolean isComplete) implements ToOperator {
        public Events {
            events = List.copyOf(events);
        }
    }

    /**
     * A part of what was decided.
     *
     * @param records newest first, each as it stands in the decision log: one JSON object; fewer than were asked for
     *     where they would not fit into one message
     * @param total how many there are of what was asked for
     * @param isComplete whether none was forgotten since the coordinator started
     */
    record Decisions(List<String> records, int total, boolean isComplete) implements ToOperator {
        public Decisions {
            records = List.copyOf(records);
        }
    }

    /** @param ageMillis since the worker was last heard */
    record NodeStatus(NodeId node, long ageMillis, List<DeviceStatus> devices) {
        public NodeStatus {
            devices = List.copyOf(devices);
        }
    }

    /**
     * @param sample the newest measurement, when there is one
     * @param ledger the newest report of its ledger, when there is one
     * @param rollout where the newest plan stands, when there is one
     * @param explanation what the coordinator last worked out, when it has
     */
    record DeviceStatus(
            DeviceInfo info,
            Optional<SampleStatus> sample,
            Optional<LedgerReport> ledger,
            Optional<RolloutState> rollout,
            Optional<Explanation> explanation) {}

    /**
     * What limits the ranks of a device should have, and why.
     *
     * @param heldBack why this is not carried out, when it is not
     */
    record Explanation(List<RankReason> ranks, Optional<String> heldBack) {
        public Explanation {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * @param policy by the name the settings use
     * @param reason the rule with its numbers, for people
     */
    record RankReason(RankInstance instance, String policy, String reason) {}

    /**
     * @param ageMillis since the reading was made
     * @param quality what its worker says of it; an older one does not
     */
    record SampleStatus(
            long ageMillis,
            Optional<MemoryUse> memory,
            Optional<MemoryBytes> foreign,
            List<RankSample> ranks,
            List<String> problems,
            Optional<SampleQuality> quality) {
        public SampleStatus {
            ranks = List.copyOf(ranks);
            problems = List.copyOf(problems);
        }
    }

    /**
     * One of the last plans of a device.
     *
     * @param millis from the plan to its end, or until now when it has not ended
     */
    record RolloutStatus(DeviceId device, long revision, RolloutState state, long millis, String reason) {}
}
