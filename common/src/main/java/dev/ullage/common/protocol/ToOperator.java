package dev.ullage.common.protocol;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.protocol.ToCoordinator.LedgerReport;
import java.util.ArrayList;
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
     * @param steering what is done about jobs beside their limits; an older coordinator does not say
     */
    record ClusterStatus(
            NodeId coordinator,
            Optional<CoordinatorToken> token,
            String state,
            List<NodeStatus> nodes,
            List<RolloutStatus> rollouts,
            Optional<OomMoves> ooms,
            Optional<Steering> steering)
            implements ToOperator {
        /** One that says nothing of what is done about jobs beside their limits. */
        public ClusterStatus(
                NodeId coordinator,
                Optional<CoordinatorToken> token,
                String state,
                List<NodeStatus> nodes,
                List<RolloutStatus> rollouts,
                Optional<OomMoves> ooms) {
            this(coordinator, token, state, nodes, rollouts, ooms, Optional.empty());
        }

        /** One that says nothing of out-of-memory errors either. */
        public ClusterStatus(
                NodeId coordinator,
                Optional<CoordinatorToken> token,
                String state,
                List<NodeStatus> nodes,
                List<RolloutStatus> rollouts) {
            this(coordinator, token, state, nodes, rollouts, Optional.empty(), Optional.empty());
        }

        public ClusterStatus {
            nodes = List.copyOf(nodes);
            rollouts = List.copyOf(rollouts);
        }

        /** How evenly ranks and devices are used, where that is looked at. */
        public Optional<Evenness> evenness() {
            return steering.flatMap(Steering::evenness);
        }

        /** What operators asked for and no ledger holds. */
        public Optional<Wishes> wishes() {
            return steering.flatMap(Steering::wishes);
        }

        /** The queue in figures. */
        public Optional<QueueFigures> queue() {
            return steering.flatMap(Steering::queue);
        }
    }

    /**
     * What is done about jobs beside their limits.
     *
     * @param evenness how evenly ranks and devices are used; empty: not looked at
     * @param wishes what operators asked for and no ledger holds
     * @param queue the queue in figures
     */
    record Steering(Optional<Evenness> evenness, Optional<Wishes> wishes, Optional<QueueFigures> queue) {}

    /**
     * What operators asked for and no ledger holds.
     *
     * @param drains in the order of the nodes
     * @param jobs in the order of the jobs
     */
    record Wishes(List<OperatorRecord.Drain> drains, List<OperatorRecord.JobWish> jobs) {
        public Wishes {
            drains = List.copyOf(drains);
            jobs = List.copyOf(jobs);
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
     * @param appliedMillis from when this coordinator heard that a rank ran out to when it heard that all ranks had
     *     done the directive; empty: they have not, or another coordinator decided it
     */
    record OomMove(JobDirective directive, String state, long ageMillis, OptionalLong appliedMillis) {

        /** One that not all ranks have done. */
        public OomMove(JobDirective directive, String state, long ageMillis) {
            this(directive, state, ageMillis, OptionalLong.empty());
        }
    }

    /**
     * Where requests stand: those that wait in the order of the queue, then the others by their jobs' names.
     *
     * @param counts of all there are, where {@code states} has only some of them
     * @param room of one request, while it is placed: which room it has, to be said again for as long as it runs there;
     *     a text that means nothing else. Empty of all requests, and of an older coordinator
     * @param ranMillis of one request, how long it has its room and runs; empty: it does not, or since when is not
     *     known, because another coordinator placed it and its submitter has not said. Empty of all requests, and of an
     *     older coordinator
     */
    record Requests(
            List<RequestState> states, Optional<RequestCounts> counts, Optional<String> room, OptionalLong ranMillis)
            implements ToOperator {
        public Requests {
            states = List.copyOf(states);
        }

        /** All that was asked for. */
        public Requests(List<RequestState> states) {
            this(states, Optional.empty(), Optional.empty());
        }

        /** Without how long one has run. */
        public Requests(List<RequestState> states, Optional<RequestCounts> counts, Optional<String> room) {
            this(states, counts, room, OptionalLong.empty());
        }
    }

    /**
     * What was asked about a request was not done; each reason has the numbers.
     *
     * @param notKnown what is not there at all; empty: another reason, or an older coordinator's
     */
    record RequestRefused(List<String> reasons, Optional<NotKnown> notKnown) implements ToOperator {
        public RequestRefused {
            reasons = List.copyOf(reasons);
        }

        /** Of something that is there, or may come to be. */
        public RequestRefused(List<String> reasons) {
            this(reasons, Optional.empty());
        }
    }

    /**
     * There is nothing of the name that was said.
     *
     * @param kind what it would be: {@code job}, {@code rank}, {@code node}, {@code device}; a text, so that an older
     *     node can pass on what it does not know
     */
    record NotKnown(String kind) {}

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

    /**
     * A write was refused.
     *
     * @param message says which rule, with the numbers
     * @param notKnown what is not there at all; empty: another reason, or an older coordinator's
     */
    record Refused(String message, Optional<NotKnown> notKnown) implements ToOperator {

        /** Of something that is there. */
        public Refused(String message) {
            this(message, Optional.empty());
        }
    }

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

    /**
     * A part of the last minutes of a device.
     *
     * @param rows the oldest first; fewer than were asked for where they would not fit into one message
     * @param total how many there are
     */
    record History(List<HistoryRow> rows, int total) implements ToOperator {
        /** Ranks in the rows of one message: it has to fit into a frame. */
        private static final int MAX_RANKS = 4_000;

        public History {
            rows = List.copyOf(rows);
        }

        /** @param all the oldest first */
        public static History page(List<HistoryRow> all, int offset, int limit) {
            List<HistoryRow> page = new ArrayList<>();
            int ranks = 0;
            for (int i = offset; i < all.size() && page.size() < limit; i++) {
                ranks += 1 + all.get(i).ranks().size();
                if (ranks > MAX_RANKS && !page.isEmpty()) {
                    break;
                }
                page.add(all.get(i));
            }
            return new History(page, all.size());
        }
    }

    /**
     * A device at one moment; what was not known then is empty.
     *
     * @param atMillis by the clock of the coordinator's node, since 1970
     * @param promised sum of the ceilings
     * @param budget in force
     */
    record HistoryRow(
            long atMillis,
            Optional<MemoryBytes> used,
            Optional<MemoryBytes> promised,
            Optional<MemoryBytes> budget,
            List<RankHistory> ranks) {
        public HistoryRow {
            ranks = List.copyOf(ranks);
        }
    }

    /** @param limit what it might hold in its phase */
    record RankHistory(
            RankInstance instance,
            Optional<Phase> phase,
            Optional<MemoryBytes> used,
            Optional<MemoryBytes> limit,
            Optional<MemoryBytes> ceiling) {}

    /**
     * What the processes of a job have come to.
     *
     * @param ranks in order; empty: the job is not known, or none of its workers has reported yet
     * @param leftOut how many processes more there are, which would not fit into one message
     * @param known of other jobs, the names of the last
     */
    record Accounts(List<AccountOf> ranks, int leftOut, List<JobId> known) implements ToOperator {
        public Accounts {
            ranks = List.copyOf(ranks);
            known = List.copyOf(known);
        }
    }

    /**
     * One process of a job.
     *
     * @param planned what the newest plan of this coordinator gave it; empty: it made none while the process lived
     */
    record AccountOf(NodeId node, RankAccount account, Optional<PhaseLimits> planned) {}

    /**
     * @param ageMillis since the worker was last heard
     * @param host what its host has beside the devices; empty: it does not say, or the coordinator is older
     */
    record NodeStatus(NodeId node, long ageMillis, List<DeviceStatus> devices, Optional<HostCapacity> host) {
        public NodeStatus {
            devices = List.copyOf(devices);
        }

        /** One that says nothing of its host. */
        public NodeStatus(NodeId node, long ageMillis, List<DeviceStatus> devices) {
            this(node, ageMillis, devices, Optional.empty());
        }

        /**
         * What jobs with reserved room ask of its host, of which the ledgers of its devices tell; empty while one of
         * these has not reported.
         */
        public Optional<HostAmount> askedOfHost() {
            if (devices.stream().anyMatch(device -> device.ledger().isEmpty())) {
                return Optional.empty();
            }
            return Optional.of(devices.stream()
                    .flatMap(device -> device.ledger().stream())
                    .flatMap(ledger -> ledger.reservations().orElse(List.of()).stream())
                    .map(held -> asked(held.reservation()))
                    .reduce(HostAmount.NONE, HostAmount::plus));
        }

        /** A status has of each reservation only the part of the device that it stands at. */
        private static HostAmount asked(Reservation reservation) {
            return reservation
                    .host()
                    .map(each -> HostAmount.of(each, reservation.parts().get(0).ranks()))
                    .orElse(HostAmount.NONE);
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
     * @param priority of its job; an older coordinator does not say
     * @param needs what it was planned to need and what was measured; empty without an estimate, and by an older
     *     coordinator
     */
    record RankReason(
            RankInstance instance,
            String policy,
            String reason,
            Optional<Priority> priority,
            Optional<RankNeeds> needs) {
        /** Without priority and estimate. */
        public RankReason(RankInstance instance, String policy, String reason) {
            this(instance, policy, reason, Optional.empty(), Optional.empty());
        }
    }

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
