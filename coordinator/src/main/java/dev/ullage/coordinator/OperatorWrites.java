package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Release;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.leadership.LeadershipState;
import dev.ullage.coordinator.planning.OperatorDesk;
import dev.ullage.coordinator.planning.OperatorDesk.Ruling;
import dev.ullage.coordinator.planning.Situation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Takes each thing that an operator may ask for to the desk that rules on it, and says what follows. Pure. */
final class OperatorWrites {
    private final OperatorDesk desk;

    OperatorWrites(OperatorDesk desk) {
        this.desk = desk;
    }

    /** @param effects to be performed whatever else happens, in their order */
    record Ruled(Subject about, Ruling ruling, List<CoordinatorEffect> effects) {
        Ruled {
            effects = List.copyOf(effects);
        }

        ToOperator answer() {
            return ruling.isAccepted() ? new Accepted(ruling.message()) : new Refused(ruling.message());
        }

        Change change() {
            return new Change(
                    EventKind.OPERATOR_WRITE,
                    ruling.isAccepted() ? EventSeverity.INFO : EventSeverity.WARNING,
                    About.CLUSTER,
                    "operator: " + ruling.message());
        }
    }

    /** The answer of a coordinator that cannot rule yet. */
    static Refused notYet(LeadershipState state) {
        return new Refused(
                "refused: the coordinator is " + state + " and does not know the cluster yet; ask again in a moment");
    }

    Ruled rule(OperatorWrite write, Situation situation) {
        Ruling ruling = ruling(write, situation);
        List<CoordinatorEffect> effects = new ArrayList<>();
        effects.add(Note.info("operator: accepted={} reason={}", ruling.isAccepted(), ruling.message()));
        if (ruling.isAccepted() && write instanceof ReleaseCaches ask) {
            CoordinatorToken token = situation.token();
            OperatorDesk.toRelease(ask.job(), ask.rank(), situation.view())
                    .forEach((worker, ranks) -> effects.add(new Release(worker, token, ranks)));
        }
        return new Ruled(about(write), ruling, effects);
    }

    private Ruling ruling(OperatorWrite write, Situation situation) {
        if (write instanceof SetReserve set) {
            return desk.setReserve(set.device(), set.reserve(), situation);
        } else if (write instanceof SetShare set) {
            return desk.setShare(set.job(), set.rank(), set.share(), situation);
        } else if (write instanceof ReleaseCaches ask) {
            return desk.release(ask.job(), ask.rank(), situation);
        }
        throw new IllegalArgumentException("nobody rules on " + write);
    }

    private static Subject about(OperatorWrite write) {
        if (write instanceof SetReserve set) {
            return new Subject(set.device(), List.of());
        } else if (write instanceof SetShare set) {
            return Subject.of(set.job());
        } else if (write instanceof ReleaseCaches ask) {
            return Subject.of(ask.job());
        }
        return new Subject(Optional.empty(), List.of());
    }
}
