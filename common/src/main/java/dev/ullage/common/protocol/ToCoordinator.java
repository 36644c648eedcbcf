package dev.ullage.common.protocol;

import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EventId;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;

/** What the coordinator is told. */
public sealed interface ToCoordinator extends WireMessage {

    /**
     * A worker exists and may be reached at {@code replyTo}. Repeated on the worker's tick, so that a new coordinator
     * hears of every worker without having to remember any.
     *
     * @param protocolVersion {@link Protocol#VERSION} of the worker
     * @param highestToken the newest coordinator any of its devices has seen
     * @param wishes which record of operators' wishes it keeps; empty: it is older and keeps none
     * @param host what its host has beside the devices; empty: it is older and does not say
     */
    record WorkerAnnounced(
            NodeId node,
            int protocolVersion,
            Optional<CoordinatorToken> highestToken,
            List<DeviceInfo> devices,
            Optional<WishesHeld> wishes,
            Optional<HostCapacity> host,
            ActorRef<ToWorker> replyTo)
            implements ToCoordinator {
        public WorkerAnnounced {
            devices = List.copyOf(devices);
        }

        /** Of a worker that says nothing of its host. */
        public WorkerAnnounced(
                NodeId node,
                int protocolVersion,
                Optional<CoordinatorToken> highestToken,
                List<DeviceInfo> devices,
                Optional<WishesHeld> wishes,
                ActorRef<ToWorker> replyTo) {
            this(node, protocolVersion, highestToken, devices, wishes, Optional.empty(), replyTo);
        }

        /** Of a worker that keeps no wishes either. */
        public WorkerAnnounced(
                NodeId node,
                int protocolVersion,
                Optional<CoordinatorToken> highestToken,
                List<DeviceInfo> devices,
                ActorRef<ToWorker> replyTo) {
            this(node, protocolVersion, highestToken, devices, Optional.empty(), Optional.empty(), replyTo);
        }
    }

    /** @param stamp of the newest record it was shown; empty: of none yet */
    record WishesHeld(Optional<OperatorRecord.Stamp> stamp) {}

    /** The record of operators' wishes that a worker keeps: its answer to {@code LearnFrom}, when it has one. */
    record WishesReported(NodeId node, OperatorRecord record) implements ToCoordinator {}

    /**
     * A measurement, of several in a short time the one with most memory used; may be lost, the next one replaces it.
     *
     * @param ageMillis how old the reading was when it was sent
     * @param memory totals, when they could be read
     * @param foreign memory of processes that are no rank of ours, when it could be worked out
     * @param ranks what the ranks on the device say of themselves
     * @param problems what could not be read, and why
     */
    record DeviceSampled(
            NodeId node,
            DeviceId device,
            long ageMillis,
            Optional<MemoryUse> memory,
            Optional<MemoryBytes> foreign,
            List<RankSample> ranks,
            List<String> problems)
            implements ToCoordinator {
        public DeviceSampled {
            ranks = List.copyOf(ranks);
            problems = List.copyOf(problems);
        }
    }

    /**
     * How far the newest {@link DeviceSampled} of the device can be relied on. Sent with one, when it changed or was
     * not sent for a while, and lost without harm. A worker that never says so is older.
     */
    record DeviceWatched(NodeId node, DeviceId device, SampleQuality quality) implements ToCoordinator {}

    /**
     * What would be sent as several of the two above, of one round of readings and one worker: each message costs both
     * hosts more than what is in it. Only to a coordinator that says in its {@code LearnFrom} that it reads this.
     */
    record DevicesSampled(NodeId node, List<DeviceSampled> samples, List<DeviceWatched> watched)
            implements ToCoordinator {
        public DevicesSampled {
            samples = List.copyOf(samples);
            watched = List.copyOf(watched);
        }
    }

    /**
     * The state of a device's ledger: after each change and on the keeper's tick.
     *
     * @param token the coordinator it obeys; empty when it has seen none
     * @param revision the newest plan of that coordinator it has worked on, 0 when none since its start
     * @param number of this report; empty of a worker that does not count them
     */
    record LimitsReported(
            NodeId node,
            DeviceId device,
            Optional<CoordinatorToken> token,
            long revision,
            LedgerReport ledger,
            Optional<ReportNumber> number)
            implements ToCoordinator {

        /** Of a worker that does not count them. */
        public LimitsReported(
                NodeId node, DeviceId device, Optional<CoordinatorToken> token, long revision, LedgerReport ledger) {
            this(node, device, token, revision, ledger, Optional.empty());
        }

        /** Whether the worker made it before the other one, though it came later. */
        public boolean isOvertakenBy(LimitsReported other) {
            return number.isPresent()
                    && other.number.isPresent()
                    && number.get().isOlderThan(other.number.get());
        }
    }

    /** The sender of a message with {@code used} is fenced off: the device obeys {@code highest}. */
    record StaleCoordinator(NodeId node, DeviceId device, CoordinatorToken used, CoordinatorToken highest)
            implements ToCoordinator {}

    /**
     * A device did not do what it was asked with a reservation by the coordinator it obeys. Sent beside its report, and
     * lost without harm: what counts is what the reports show.
     *
     * @param reason for people, with the numbers
     */
    record ReservationRefused(NodeId node, DeviceId device, ReservationId id, String reason) implements ToCoordinator {}

    /**
     * What a worker knows of its jobs' moves after an out-of-memory error. At once after a change, on the worker's
     * tick, and as the answer to {@code LearnFrom} and {@code DirectJob}. A worker that never says so is older.
     *
     * @param token the newest coordinator whose directives it takes
     * @param accounts on the worker's tick: some of what its ranks have come to, each in turn; an older worker has none
     */
    record JobsReported(
            NodeId node, Optional<CoordinatorToken> token, List<JobReport> jobs, Optional<RankAccounts> accounts)
            implements ToCoordinator {
        public JobsReported {
            jobs = List.copyOf(jobs);
        }

        /** Of the moves alone. */
        public JobsReported(NodeId node, Optional<CoordinatorToken> token, List<JobReport> jobs) {
            this(node, token, jobs, Optional.empty());
        }
    }

    /** Somebody wants to see the cluster. */
    record StatusQuery(ActorRef<ToOperator> replyTo) implements ToCoordinator {}

    /**
     * Somebody wants to see what happened.
     *
     * @param after the newest event they know; empty for all that are kept
     */
    record EventsQuery(Optional<EventId> after, ActorRef<ToOperator> replyTo) implements ToCoordinator {}

    /**
     * Somebody wants to see what was decided, newest first. An older coordinator does not answer.
     *
     * @param device only what is about it; empty: all
     * @param job only what is about it; empty: all
     * @param offset how many of the newest are left out
     * @param limit how many are wanted at most
     */
    record DecisionsQuery(
            Optional<DeviceId> device, Optional<JobId> job, int offset, int limit, ActorRef<ToOperator> replyTo)
            implements ToCoordinator {}

    /** Somebody wants to see what a job has come to. An older coordinator does not answer. */
    record AccountsQuery(JobId job, ActorRef<ToOperator> replyTo) implements ToCoordinator {}

    /**
     * Somebody wants to see the last minutes of a device, oldest first. An older coordinator does not answer.
     *
     * @param offset how many of the oldest are left out
     * @param limit how many are wanted at most
     */
    record HistoryQuery(DeviceId device, int offset, int limit, ActorRef<ToOperator> replyTo)
            implements ToCoordinator {}

    /**
     * An operator changes the reserve.
     *
     * @param device one device, or empty for all
     */
    record SetReserve(Optional<DeviceId> device, Share reserve, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * An operator changes what part of its fair limit a job or one rank of it gets.
     *
     * @param rank one rank, or empty for all ranks of the job
     */
    record SetShare(JobId job, OptionalInt rank, Share share, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * An operator says by which policy a job's ranks get their limits.
     *
     * @param policy by the name that the settings use; empty: as the settings and the ranks themselves say
     */
    record SetPolicy(JobId job, Optional<String> policy, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * An operator says how much a job matters to the policies that look at it.
     *
     * @param priority empty: as the settings say
     */
    record SetPriority(JobId job, Optional<Priority> priority, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * An operator sets the limit of one rank.
     *
     * @param limit empty: what its policy gives it
     */
    record SetLimit(JobId job, int rank, Optional<MemoryBytes> limit, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * Nothing new is to be placed on a node.
     *
     * @param reason why, in the operator's words
     * @param by who asks, as the asking program says; nobody checks it
     */
    record DrainNode(NodeId node, Optional<String> reason, Optional<String> by, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {
        public DrainNode {
            reason.ifPresent(OperatorRecord.Drain::requireReason);
            by.ifPresent(OperatorRecord.Drain::requireBy);
        }
    }

    /** A node takes new ranks again. */
    record UndrainNode(NodeId node, Optional<String> by, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {
        public UndrainNode {
            by.ifPresent(OperatorRecord.Drain::requireBy);
        }
    }

    /**
     * An operator wants ranks to give their caches back, once. An older coordinator does not answer.
     *
     * @param rank one rank, or empty for all ranks of the job
     */
    record ReleaseCaches(JobId job, OptionalInt rank, ActorRef<ToOperator> replyTo)
            implements ToCoordinator, OperatorWrite {}

    /**
     * A job asks for room for all its ranks. Said again until it ends: that renews its lease, and tells a new
     * coordinator of it. An older one does not answer this, nor the three that follow.
     *
     * @param waitedMillis how long it has waited by its submitter's own clock; counts where the request is not known
     * @param running whether its launcher runs
     * @param room in which room it runs, as it was told ({@code Requests.room}): it may have others; empty: it does not
     *     run, or its submitter is an older one
     * @param ranMillis how long it has run by its submitter's own clock; counts where that is not known. Empty: it does
     *     not run, or its submitter does not say
     */
    record SubmitRequest(
            JobRequest request,
            long waitedMillis,
            boolean running,
            ActorRef<ToOperator> replyTo,
            Optional<String> room,
            OptionalLong ranMillis)
            implements ToCoordinator {

        /** Of one that does not say how long it has run. */
        public SubmitRequest(
                JobRequest request,
                long waitedMillis,
                boolean running,
                ActorRef<ToOperator> replyTo,
                Optional<String> room) {
            this(request, waitedMillis, running, replyTo, room, OptionalLong.empty());
        }

        /** Of one that does not run, or does not say where. */
        public SubmitRequest(JobRequest request, long waitedMillis, boolean running, ActorRef<ToOperator> replyTo) {
            this(request, waitedMillis, running, replyTo, Optional.empty());
        }
    }

    /**
     * Somebody wants to see the queue.
     *
     * @param job only its request; empty: all
     * @param most of all: so many that wait, and so many that are neither that nor placed or cancelled; empty: no
     *     bound. An older coordinator does not know of it and answers with all
     */
    record RequestsQuery(Optional<JobId> job, OptionalInt most, ActorRef<ToOperator> replyTo) implements ToCoordinator {

        /** Of one request, or of all. */
        public RequestsQuery(Optional<JobId> job, ActorRef<ToOperator> replyTo) {
            this(job, OptionalInt.empty(), replyTo);
        }
    }

    /**
     * A job no longer asks, and what is reserved for it is released. What runs is to end: its submitter is told.
     *
     * @param ended whether it has ended by itself
     */
    record CancelRequest(JobId job, boolean ended, ActorRef<ToOperator> replyTo) implements ToCoordinator {}

    /** A job goes to the end of the queue; one that has its room gives it back, and is to end what runs. */
    record RequeueRequest(JobId job, ActorRef<ToOperator> replyTo) implements ToCoordinator {}

    /**
     * What a device's ledger says: terms, promises, and what its keeper has counted.
     *
     * @param turns who takes turns there; empty: its worker is older and knows none
     * @param reservations what is kept for jobs as a whole; empty: its worker is older and knows none
     */
    record LedgerReport(
            BudgetTerms wanted,
            BudgetTerms inForce,
            boolean overBudget,
            List<GrantReport> grants,
            KeeperCounts counts,
            Optional<TurnReport> turns,
            Optional<List<ReservationReport>> reservations) {
        public LedgerReport {
            grants = List.copyOf(grants);
            reservations = reservations.map(List::copyOf);
        }

        /**
         * What is planned with for processes that are no ranks; empty for a ledger begun while its device could not be
         * read: that has nothing to give, and its nothing is no measure.
         */
        public Optional<MemoryBytes> plannedForeign() {
            return wanted.allocatable().isZero() ? Optional.empty() : Optional.of(wanted.foreign());
        }

        /** All that is promised: of each job its ranks' ceilings, or what is reserved for it where that is more. */
        public MemoryBytes promised(DeviceId device) {
            NavigableMap<JobId, MemoryBytes> reserved = new TreeMap<>();
            for (ReservationReport report : reservations.orElse(List.of())) {
                report.reservation()
                        .part(device)
                        .ifPresent(part ->
                                reserved.merge(report.reservation().id().job(), part.amount(), MemoryBytes::plus));
            }
            NavigableMap<JobId, MemoryBytes> promised = new TreeMap<>();
            grants.forEach(grant -> promised.merge(grant.instance().rank().job(), grant.ceiling(), MemoryBytes::plus));
            reserved.forEach((job, amount) -> promised.merge(job, amount, MemoryBytes::max));
            return promised.values().stream().reduce(MemoryBytes.ZERO, MemoryBytes::plus);
        }

        /** Of a worker that knows no reservations. */
        public LedgerReport(
                BudgetTerms wanted,
                BudgetTerms inForce,
                boolean overBudget,
                List<GrantReport> grants,
                KeeperCounts counts,
                Optional<TurnReport> turns) {
            this(wanted, inForce, overBudget, grants, counts, turns, Optional.empty());
        }

        /** Of a worker that knows neither turns nor reservations. */
        public LedgerReport(
                BudgetTerms wanted,
                BudgetTerms inForce,
                boolean overBudget,
                List<GrantReport> grants,
                KeeperCounts counts) {
            this(wanted, inForce, overBudget, grants, counts, Optional.empty(), Optional.empty());
        }
    }
}
