package dev.ullage.worker;

import dev.ullage.common.ledger.LedgerCommand.CommitReservation;
import dev.ullage.common.ledger.LedgerCommand.ReleaseReservation;
import dev.ullage.common.ledger.LedgerCommand.Reserve;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.protocol.ToWorker.CommitDevice;
import dev.ullage.common.protocol.ToWorker.ReleaseDevice;
import dev.ullage.common.protocol.ToWorker.ReserveDevice;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.limits.LimitKeeper.ForReservation;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Passes what a coordinator says of reservations to the owner of the device, or refuses it.
 *
 * @param node whose devices they are
 */
record ReservationRoute(NodeId node) {
    /** Anything else is not listened to. */
    void pass(ToWorker message, Map<DeviceId, ActorRef<LimitKeeper.Command>> keepers) {
        if (message instanceof ReserveDevice ask) {
            ReservationId id = ask.reservation().id();
            Reserve reserve = new Reserve(ask.token(), ask.reservation());
            pass(ask.device(), new ForReservation(reserve, ask.token(), id, ask.replyTo()), keepers);
        } else if (message instanceof CommitDevice ask) {
            CommitReservation commit = new CommitReservation(ask.token(), ask.id());
            pass(ask.device(), new ForReservation(commit, ask.token(), ask.id(), ask.replyTo()), keepers);
        } else if (message instanceof ReleaseDevice ask) {
            ReleaseReservation release = new ReleaseReservation(ask.token(), ask.id());
            pass(ask.device(), new ForReservation(release, ask.token(), ask.id(), ask.replyTo()), keepers);
        }
    }

    private void pass(DeviceId device, ForReservation message, Map<DeviceId, ActorRef<LimitKeeper.Command>> keepers) {
        ActorRef<LimitKeeper.Command> keeper = keepers.get(device);
        if (keeper != null) {
            keeper.tell(message);
        } else {
            String reason = "refused reservation %s on %s: this worker owns %s"
                    .formatted(message.id(), device, keepers.keySet());
            message.replyTo().tell(new ReservationRefused(node, device, message.id(), reason));
        }
    }
}
