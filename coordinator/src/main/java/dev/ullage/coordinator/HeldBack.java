package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.protocol.ClusterEvent.About;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.events.Change;
import dev.ullage.coordinator.events.EventKind;
import dev.ullage.coordinator.events.EventLog;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanGuard.Rule;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The part of {@link CoordinatorLogic} that says when a guard holds plans back: once for each reason, not each tick.
 */
final class HeldBack {
    private final NavigableMap<DeviceId, Rule> devices = new TreeMap<>();
    private final EventLog events;
    private final DecisionBook book;

    HeldBack(EventLog events, DecisionBook book) {
        this.events = events;
        this.book = book;
    }

    void planned(DeviceId device) {
        devices.remove(device);
    }

    /** @return what is to be done about it */
    List<CoordinatorEffect> vetoed(
            Decided decided, Vetoed vetoed, ClusterView view, CoordinatorToken token, Instant now) {
        Rule rule = vetoed.veto().rule();
        if (rule == Rule.STABILITY) {
            devices.remove(vetoed.device());
            return List.of();
        }
        if (devices.put(vetoed.device(), rule) == rule) {
            return List.of();
        }
        view.device(vetoed.device())
                .map(device -> About.device(device.node(), device.id()))
                .ifPresent(about -> events.add(
                        Change.warning(
                                EventKind.PLAN_HELD_BACK,
                                about,
                                "plan held back: " + vetoed.veto().reason()),
                        now));
        return List.of(Notes.heldBack(vetoed), new Recorded(book.heldBack(decided, vetoed, token, now)));
    }

    void forgetting(Predicate<DeviceId> isGone) {
        devices.keySet().removeIf(isGone);
    }

    void clear() {
        devices.clear();
    }
}
