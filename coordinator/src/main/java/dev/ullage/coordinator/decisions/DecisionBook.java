package dev.ullage.coordinator.decisions;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Planning;
import dev.ullage.coordinator.decisions.Decision.Stamp;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.PlanOutcome.Vetoed;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Numbers the decisions of one start of a coordinator and keeps the last {@link #KEPT}. Soft. One owner, not thread
 * safe; the time is passed in.
 */
public final class DecisionBook {
    /** How many decisions are kept in memory; the file has more. */
    public static final int KEPT = 500;

    private final PlannerSettings settings;
    private final Deque<Decision> newestFirst = new ArrayDeque<>();
    private long lastNumber;

    public DecisionBook(PlannerSettings settings) {
        this.settings = settings;
    }

    public Decision planned(Decided decided, long revision, CoordinatorToken token, Instant now) {
        return add(
                Kind.PLAN,
                Subject.of(decided.input()),
                decided.outcome().plan().reason().text(),
                Optional.of(Planning.of(decided, OptionalLong.of(revision), settings)),
                stamp(token, now));
    }

    public Decision heldBack(Decided decided, Vetoed vetoed, CoordinatorToken token, Instant now) {
        return add(
                Kind.HELD_BACK,
                Subject.of(decided.input()),
                vetoed.veto().reason().text(),
                Optional.of(Planning.of(decided, OptionalLong.empty(), settings)),
                stamp(token, now));
    }

    /** A decision that is no plan. */
    public Decision other(Kind kind, Subject subject, String reason, CoordinatorToken token, Instant now) {
        return add(kind, subject, reason, Optional.empty(), stamp(token, now));
    }

    /**
     * Newest first.
     *
     * @param device empty: of all and of none
     * @param job empty: of all and of none
     */
    public List<Decision> find(Optional<DeviceId> device, Optional<JobId> job) {
        return newestFirst.stream()
                .filter(decision ->
                        device.isEmpty() || device.equals(decision.subject().device()))
                .filter(decision -> job.isEmpty() || decision.subject().jobs().contains(job.get()))
                .toList();
    }

    /** Whether no decision was forgotten. */
    public boolean isComplete() {
        return lastNumber == newestFirst.size();
    }

    private Stamp stamp(CoordinatorToken token, Instant now) {
        lastNumber++;
        return new Stamp(lastNumber, now, token);
    }

    private Decision add(Kind kind, Subject subject, String reason, Optional<Planning> planning, Stamp stamp) {
        Decision decision = new Decision(stamp, kind, subject, reason, planning);
        newestFirst.addFirst(decision);
        if (newestFirst.size() > KEPT) {
            newestFirst.removeLast();
        }
        return decision;
    }
}
