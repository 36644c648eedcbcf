package dev.ullage.coordinator.rollout;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.coordinator.planning.DevicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * One plan on its way to the ranks of one device. Immutable, pure, soft.
 *
 * <pre>
 *   PENDING --sent--> SENT ----> SHRINKING <---> GROWING ----> SETTLED
 *      |               | |         |   |          |   |           ^
 *      |               | +---------|---|----------|---|-----------+
 *      |               +-----------+---|----------+---|--> STALLED (late; still wanted, still sent)
 *      +---------------+---------------+--------------+-------+--> SUPERSEDED
 * </pre>
 *
 * A stalled rollout gives nobody's room away: the ledger keeps the ceiling of a rank that does not confirm. It stays
 * stalled until it settles or a newer plan replaces it.
 *
 * @param plannedAt when the plan was made
 * @param sentAt when it was last sent; empty before the first time
 * @param since when it came into this state
 * @param waitingFor one entry for each rank that is not where the plan wants it, by the newest report
 */
public record Rollout(
        DevicePlan plan,
        long revision,
        RolloutState state,
        Instant plannedAt,
        Optional<Instant> sentAt,
        Instant since,
        List<String> waitingFor) {
    private static final Map<RolloutState, Set<RolloutState>> NEXT = new EnumMap<>(RolloutState.class);

    static {
        for (RolloutState state : RolloutState.values()) {
            NEXT.put(state, Collections.unmodifiableSet(following(state)));
        }
    }

    public Rollout {
        waitingFor = List.copyOf(waitingFor);
    }

    public static Rollout planned(DevicePlan plan, long revision, Instant now) {
        return new Rollout(plan, revision, RolloutState.PENDING, now, Optional.empty(), now, List.of());
    }

    /** The states that may follow. */
    public static Set<RolloutState> next(RolloutState state) {
        return Objects.requireNonNull(NEXT.get(state));
    }

    private static Set<RolloutState> following(RolloutState state) {
        return switch (state) {
            case PENDING -> EnumSet.of(RolloutState.SENT, RolloutState.SUPERSEDED);
            case SENT ->
                EnumSet.of(
                        RolloutState.SHRINKING,
                        RolloutState.GROWING,
                        RolloutState.SETTLED,
                        RolloutState.STALLED,
                        RolloutState.SUPERSEDED);
            case SHRINKING ->
                EnumSet.of(RolloutState.GROWING, RolloutState.SETTLED, RolloutState.STALLED, RolloutState.SUPERSEDED);
            case GROWING ->
                EnumSet.of(RolloutState.SHRINKING, RolloutState.SETTLED, RolloutState.STALLED, RolloutState.SUPERSEDED);
            case STALLED -> EnumSet.of(RolloutState.SETTLED, RolloutState.SUPERSEDED);
            case SETTLED, SUPERSEDED -> EnumSet.noneOf(RolloutState.class);
        };
    }

    public DeviceId device() {
        return plan.device();
    }

    /** Whether it is neither settled nor superseded. */
    public boolean isOnItsWay() {
        return !next(state).isEmpty();
    }

    public Rollout onSent(Instant now) {
        Rollout sent = state == RolloutState.PENDING ? to(RolloutState.SENT, now, waitingFor) : this;
        return new Rollout(plan, revision, sent.state, plannedAt, Optional.of(now), sent.since, waitingFor);
    }

    /** @param report of a ledger that obeys the coordinator that made this plan */
    public Rollout onReport(LimitsReported report, Instant now) {
        if (report.revision() != revision || state == RolloutState.PENDING || !isOnItsWay()) {
            return this;
        }
        Progress progress = Progress.of(plan, report.ledger());
        if (progress.state() == state || !next(state).contains(progress.state())) {
            return new Rollout(plan, revision, state, plannedAt, sentAt, since, progress.waitingFor());
        }
        return to(progress.state(), now, progress.waitingFor());
    }

    /** Stalled when it has been on its way for {@code stallAfter}. */
    public Rollout onTick(Instant now, Duration stallAfter) {
        boolean late = Duration.between(plannedAt, now).compareTo(stallAfter) >= 0;
        return late && next(state).contains(RolloutState.STALLED) ? to(RolloutState.STALLED, now, waitingFor) : this;
    }

    /** Replaced by another plan, or given up with the right to plan. */
    public Rollout superseded(Instant now) {
        return to(RolloutState.SUPERSEDED, now, waitingFor);
    }

    /** Whether it is to be sent now: for the first time, or again because it has not settled. */
    public boolean isDue(Instant now, Duration resendAfter) {
        return isOnItsWay()
                && sentAt.map(at -> !at.plus(resendAfter).isAfter(now)).orElse(true);
    }

    public RolloutStatus status(Instant now) {
        Instant end = isOnItsWay() ? now : since;
        long millis = Math.max(0, Duration.between(plannedAt, end).toMillis());
        return new RolloutStatus(device(), revision, state, millis, explain());
    }

    /** Why it was planned and, when it is not done, what it waits for. */
    public String explain() {
        String stalled = state == RolloutState.STALLED ? "; stalled since " + since : "";
        if (!isOnItsWay() || sentAt.isEmpty()) {
            return plan.reason().text();
        }
        String waiting = waitingFor.isEmpty()
                ? "no report of revision " + revision
                : "waiting for " + String.join(", ", waitingFor);
        return plan.reason() + stalled + "; " + waiting;
    }

    /** The one way into another state. Throws {@link IllegalStateException} when the table does not allow it. */
    Rollout to(RolloutState next, Instant now, List<String> nowWaitingFor) {
        if (!next(state).contains(next)) {
            throw new IllegalStateException("rollout %d of %s: %s -> %s is not allowed; allowed: %s"
                    .formatted(revision, device(), state, next, next(state)));
        }
        return new Rollout(plan, revision, next, plannedAt, sentAt, now, nowWaitingFor);
    }
}
