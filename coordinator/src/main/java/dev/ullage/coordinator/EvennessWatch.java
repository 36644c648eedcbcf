package dev.ullage.coordinator;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.protocol.Evenness;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.config.EvennessSettings;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.evenness.EvennessDesk;
import dev.ullage.coordinator.evenness.Findings;
import dev.ullage.coordinator.events.EventLog;
import dev.ullage.coordinator.oom.OomDesk;
import dev.ullage.coordinator.view.ClusterView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The part of {@link CoordinatorLogic} that evens jobs out: what is found becomes events, and orders if they may be
 * sent.
 */
final class EvennessWatch {
    private final EvennessDesk desk;
    private final EventLog events;
    private final DecisionBook book;

    EvennessWatch(EvennessSettings settings, EventLog events, DecisionBook book) {
        this.desk = new EvennessDesk(settings);
        this.events = events;
        this.book = book;
    }

    /**
     * Looks, when a look is due.
     *
     * @param effects takes what is to be done about it
     * @return the directives of all jobs, with the orders among them
     */
    OomDesk turn(
            ClusterView view,
            OomDesk directives,
            CoordinatorToken token,
            Instant now,
            List<CoordinatorEffect> effects) {
        Findings found = desk.look(view, job -> directives.standing(job, token), now);
        found.changes().forEach(change -> events.add(change, now));
        OomDesk after = directives;
        for (JobDirective order : found.orders()) {
            after = after.ordered(order, now);
            effects.add(Notes.batchShares(order, token));
            effects.add(new Recorded(book.other(
                    Kind.BATCH_SHARES, Subject.of(order.job()), order.cause().reason(), token, now)));
        }
        return after;
    }

    Optional<Evenness> status() {
        return desk.status();
    }

    void clear() {
        desk.clear();
    }
}
