package dev.ullage.common.protocol;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.Share;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/** What a coordinator tells a worker. Each carries the coordinator's token; an older one is answered, not obeyed. */
public sealed interface ToWorker extends WireMessage {

    /**
     * A coordinator has taken over: persist its token and report every device to {@code replyTo}.
     *
     * @param reads what it reads beyond what the first coordinators did; one of these does not say so
     */
    record LearnFrom(CoordinatorToken token, ActorRef<ToCoordinator> replyTo, Optional<Reads> reads)
            implements ToWorker {

        /** Of one of the first. */
        public LearnFrom(CoordinatorToken token, ActorRef<ToCoordinator> replyTo) {
            this(token, replyTo, Optional.empty());
        }
    }

    /** @param rounds whether {@code DevicesSampled} is read */
    record Reads(boolean rounds) {}

    /**
     * The limits a device is to have. Absolute: the newest revision of the newest token replaces all before it.
     *
     * @param revision grows with every plan of this coordinator, 1 or more
     * @param reserve the share of the device that is to stay free
     * @param limits in the order in which growth is to be considered
     * @param turns who takes turns at what is kept for bursts; empty: nobody, and nothing is kept
     */
    record DesireLimits(
            CoordinatorToken token,
            long revision,
            DeviceId device,
            Share reserve,
            List<RankLimit> limits,
            Optional<TurnPlan> turns,
            ActorRef<ToCoordinator> replyTo)
            implements ToWorker {
        public DesireLimits {
            limits = List.copyOf(limits);
        }
    }

    /** What the ranks of a job are to do. Repeated until the worker's {@code JobsReported} shows that it holds it. */
    record DirectJob(CoordinatorToken token, JobDirective directive, ActorRef<ToCoordinator> replyTo)
            implements ToWorker {}

    /**
     * Ask these ranks for their caches, once; may be lost, the operator asks again. The answer is {@code JobsReported}.
     * An older worker does not know it.
     */
    record ReleaseCache(CoordinatorToken token, List<RankInstance> ranks, ActorRef<ToCoordinator> replyTo)
            implements ToWorker {
        public ReleaseCache {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * Keep room on a device for a job's ranks, for a while: it stays only once {@link CommitDevice} came. Repeated
     * until a report shows it. Answered with the device's report, and where it was not done with
     * {@code ReservationRefused}. An older worker knows none of the messages about reservations, and its reports say
     * so.
     *
     * @param device one that the reservation has a part on
     */
    record ReserveDevice(
            CoordinatorToken token, DeviceId device, Reservation reservation, ActorRef<ToCoordinator> replyTo)
            implements ToWorker {}

    /** Every part of the reservation is reserved: keep this one until it is released. Answered like the above. */
    record CommitDevice(CoordinatorToken token, DeviceId device, ReservationId id, ActorRef<ToCoordinator> replyTo)
            implements ToWorker {}

    /** Give the room back, however far it came; repeated until a report no longer shows it. Answered like the above. */
    record ReleaseDevice(CoordinatorToken token, DeviceId device, ReservationId id, ActorRef<ToCoordinator> replyTo)
            implements ToWorker {}

    /**
     * Keep this record of operators' wishes, unless a newer one is kept already. Repeated until the worker announces
     * that it holds it. Any coordinator's is taken: what counts is the record's own stamp.
     */
    record KeepWishes(CoordinatorToken token, OperatorRecord record) implements ToWorker {}

    /** @param share the part of its fair limit the operator left it, kept by the ledger for the next coordinator */
    record RankLimit(RankInstance instance, PhaseLimits limits, Share share) {}
}
