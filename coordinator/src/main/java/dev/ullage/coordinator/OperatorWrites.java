package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankId;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.common.protocol.GrantReport;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.coordinator.CoordinatorEffect.Keep;
import dev.ullage.coordinator.CoordinatorEffect.Note;
import dev.ullage.coordinator.CoordinatorEffect.Release;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.leadership.LeadershipState;
import dev.ullage.coordinator.planning.OperatorDesk;
import dev.ullage.coordinator.planning.OperatorDesk.Ruling;
import dev.ullage.coordinator.planning.OperatorWishes;
import dev.ullage.coordinator.planning.Situation;
import dev.ullage.coordinator.planning.WishCopies;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The owner of what operators asked for: takes each thing to the desk that rules on it, says what follows, and has the
 * workers keep what no ledger holds. Not thread safe; time is passed in.
 */
final class OperatorWrites {
    private final OperatorDesk desk;
    private final Duration resendAfter;
    private OperatorWishes wishes = OperatorWishes.NONE;
    private WishCopies copies = WishCopies.NONE;

    /** @param resendAfter how long to wait for a worker to say that it keeps the newest record */
    OperatorWrites(OperatorDesk desk, Duration resendAfter) {
        this.desk = desk;
        this.resendAfter = resendAfter;
    }

    OperatorWishes wishes() {
        return wishes;
    }

    /** @param held empty: the worker is older and keeps nothing */
    void announced(NodeId worker, Optional<WishesHeld> held) {
        copies = copies.announced(worker, held);
    }

    /** It is another process, or gone. */
    void forgetting(NodeId worker) {
        copies = copies.forgetting(worker);
    }

    /** A worker kept this: the newest record counts, whoever made it. */
    void adopt(OperatorRecord kept) {
        wishes = wishes.adopting(kept);
    }

    /** The workers that keep something newer than is known here. */
    List<NodeId> newerCopies() {
        return copies.newerThan(wishes.stamp());
    }

    void learn(List<GrantReport> grants, Instant now) {
        wishes = wishes.learning(grants, now);
    }

    /** Another coordinator plans. */
    void fenced() {
        wishes = wishes.fenced();
    }

    /** @param isDone whether a device's ledger reports the reserve that is wished for, or the device is gone */
    void forgetFulfilled(Set<JobId> present, Predicate<DeviceId> isDone, Instant now) {
        wishes = wishes.remembering(present, now);
        for (DeviceId device : wishes.devices()) {
            wishes = isDone.test(device) ? wishes.withoutReserve(device) : wishes;
        }
    }

    /** Each worker that lacks the newest record is sent it until it says that it has it. */
    List<CoordinatorEffect> spread(CoordinatorToken token, Instant now) {
        wishes = wishes.stamped(token);
        if (wishes.record().isEmpty()) {
            return List.of();
        }
        OperatorRecord record = wishes.record().get();
        List<NodeId> due = copies.due(record, now, resendAfter);
        copies = copies.sent(due, record.stamp(), now);
        return due.stream()
                .<CoordinatorEffect>map(worker -> new Keep(worker, token, record))
                .toList();
    }

    /** @param effects to be performed whatever else happens, in their order */
    record Ruled(Subject about, Ruling ruling, List<CoordinatorEffect> effects) {
        Ruled {
            effects = List.copyOf(effects);
        }

        ToOperator answer() {
            return ruling.isAccepted()
                    ? new Accepted(ruling.message())
                    : new Refused(ruling.message(), ruling.notKnown());
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

    /** Whether the job of the write has ranks. */
    boolean isAboutKnownRanks(OperatorWrite write, ClusterView view) {
        return about(write).jobs().stream().anyMatch(view.jobs()::contains);
    }

    /** Somebody else has done it: nothing of what is wished for ranks changes. */
    Ruled elsewhere(OperatorWrite write, String message) {
        return new Ruled(
                about(write),
                new Ruling(true, wishes, message),
                List.of(Note.info("operator: accepted={} reason={}", true, message)));
    }

    Ruled rule(OperatorWrite write, Situation situation) {
        Ruling ruling = ruling(write, situation);
        wishes = ruling.wishes();
        List<CoordinatorEffect> effects = new ArrayList<>();
        effects.add(Note.info("operator: accepted={} reason={}", ruling.isAccepted(), ruling.message()));
        if (ruling.isAccepted() && write instanceof ReleaseCaches ask) {
            CoordinatorToken token = situation.token();
            OperatorDesk.toRelease(ask.job(), ask.rank(), situation.view())
                    .forEach((worker, ranks) -> effects.add(new Release(worker, token, ranks)));
        }
        effects.addAll(spread(situation.token(), situation.now()));
        return new Ruled(about(write), ruling, effects);
    }

    private Ruling ruling(OperatorWrite write, Situation situation) {
        if (write instanceof SetReserve set) {
            return desk.setReserve(set.device(), set.reserve(), situation);
        } else if (write instanceof SetShare set) {
            return desk.setShare(set.job(), set.rank(), set.share(), situation);
        } else if (write instanceof SetPolicy set) {
            return desk.setPolicy(set.job(), set.policy(), situation);
        } else if (write instanceof SetPriority set) {
            return desk.setPriority(set.job(), set.priority(), situation);
        } else if (write instanceof SetLimit set) {
            return desk.setLimit(new RankId(set.job(), set.rank()), set.limit(), situation);
        } else if (write instanceof DrainNode drain) {
            Drain wish = new Drain(drain.node(), situation.now().toEpochMilli(), drain.reason(), drain.by());
            return desk.drain(wish, situation);
        } else if (write instanceof UndrainNode undrain) {
            return desk.undrain(undrain.node(), undrain.by(), situation);
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
        } else if (write instanceof SetPolicy set) {
            return Subject.of(set.job());
        } else if (write instanceof SetPriority set) {
            return Subject.of(set.job());
        } else if (write instanceof SetLimit set) {
            return Subject.of(set.job());
        } else if (write instanceof ReleaseCaches ask) {
            return Subject.of(ask.job());
        }
        return new Subject(Optional.empty(), List.of());
    }
}
