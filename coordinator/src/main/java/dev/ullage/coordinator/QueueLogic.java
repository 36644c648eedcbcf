package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Room;
import dev.ullage.coordinator.admission.AdmissionDesk;
import dev.ullage.coordinator.admission.AdmissionDesk.Cluster;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.leadership.Leadership;
import dev.ullage.coordinator.planning.KeptRoom.WantedRoom;
import dev.ullage.coordinator.planning.OperatorWishes;
import dev.ullage.coordinator.planning.RoomToMake;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The part of a coordinator that has the queue of requests: brings the desk what it decides on. One owner. */
final class QueueLogic {
    private final AdmissionDesk desk;
    private OperatorWishes wishes = OperatorWishes.NONE;

    private final LimitSettings limits;

    QueueLogic(QueueSettings settings, LimitSettings limits) {
        this.desk = new AdmissionDesk(settings);
        this.limits = limits;
    }

    /** What a look at the queue came to. */
    record Turn(List<CoordinatorEffect> effects, List<Change> changes) {
        Turn {
            effects = List.copyOf(effects);
            changes = List.copyOf(changes);
        }
    }

    /** Answers one of the messages about requests. */
    ToOperator answer(ToCoordinator message, ClusterView view, Leadership leadership, Instant now) {
        if (!leadership.isActive()) {
            return new Refused("the coordinator is " + leadership.state()
                    + " and does not know the cluster yet; ask again in a moment");
        }
        Cluster cluster = cluster(view, leadership.token().orElseThrow());
        if (message instanceof SubmitRequest submit) {
            return desk.submit(submit, cluster, now);
        }
        if (message instanceof CancelRequest cancel) {
            return desk.cancel(cancel.job(), cancel.ended(), now);
        }
        if (message instanceof RequeueRequest requeue) {
            return desk.requeue(requeue.job(), now);
        }
        if (message instanceof RequestsQuery query) {
            return query.most().isPresent() && query.job().isEmpty()
                    ? desk.firstRequests(query.most().getAsInt(), cluster, now)
                    : desk.requests(query.job(), cluster, now);
        }
        throw new IllegalArgumentException("no message about requests: " + message);
    }

    /** What an operator's word on a priority changes in the queue; empty: nothing. */
    Optional<String> prioritized(OperatorWrite write) {
        return write instanceof SetPriority set ? desk.setPriority(set.job(), set.priority()) : Optional.empty();
    }

    /** A ledger does not keep a job's part: it is not waited for. */
    void refused(ReservationRefused refused, Instant now) {
        desk.refused(refused, now);
    }

    private Cluster cluster(ClusterView view, CoordinatorToken token) {
        OperatorWishes chosen = wishes;
        return new Cluster(
                view,
                token,
                chosen.standing().draining(),
                (device, than) -> RoomToMake.on(device, than, view, limits, chosen));
    }

    /** Of an active coordinator. */
    Turn tick(ClusterView view, CoordinatorToken token, OperatorWishes operator, Instant now) {
        wishes = operator;
        AdmissionDesk.Turn turn = desk.tick(cluster(view, token), now);
        List<CoordinatorEffect> effects = new ArrayList<>();
        turn.sends().forEach(send -> effects.add(new Room(token, send)));
        turn.changes().forEach(change -> effects.add(Note.info("queue: token={} reason={}", token, change.text())));
        return new Turn(effects, turn.changes());
    }

    /** Another coordinator decides now. */
    void forget() {
        desk.forget();
    }

    /** What plans should make jobs of lower priority give up. */
    Map<DeviceId, WantedRoom> wantedRoom() {
        return desk.wantedRoom();
    }

    QueueFigures figures() {
        return desk.figures();
    }
}
