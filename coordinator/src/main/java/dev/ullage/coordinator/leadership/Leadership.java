package dev.ullage.coordinator.leadership;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.config.CoordinatorSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A coordinator's way to the right to plan ({@link LeadershipState}). Immutable, pure, soft.
 *
 * <p>A coordinator that meets a higher token than its own claims again, because it cannot know whether the other still
 * lives. Two that do live would do so in turns; each waits twice as long after every claim it lost, so that a duel is a
 * claim every {@link #MAX_BACK_OFF} at worst.
 *
 * @param claim the token to be claimed next
 * @param token its own, while it has one
 * @param since when it came into this state
 * @param lostClaims how many tokens it has lost in a row
 */
public record Leadership(
        LeadershipState state, TokenClaim claim, Optional<CoordinatorToken> token, Instant since, int lostClaims) {
    public static final Duration MAX_BACK_OFF = Duration.ofSeconds(30);
    private static final int MAX_DOUBLINGS = 10;

    public static Leadership start(String uid, Instant now) {
        return new Leadership(LeadershipState.CLAIMING, new TokenClaim(uid, 0), Optional.empty(), now, 0);
    }

    public boolean isActive() {
        return state == LeadershipState.ACTIVE;
    }

    /** Somebody uses this token or has seen it used. */
    public Leadership onTokenSeen(CoordinatorToken seen, Instant now) {
        Leadership wiser = new Leadership(state, claim.seen(seen), token, since, lostClaims);
        boolean fenced =
                token.filter(own -> own.isOlderThan(seen)).isPresent() && state != LeadershipState.STEPPING_DOWN;
        return fenced ? wiser.claimAgain(now) : wiser;
    }

    /**
     * @param anyWorker whether a worker has announced itself
     * @param allReported whether every device that was announced has reported that it obeys the token
     */
    public Leadership onTick(boolean anyWorker, boolean allReported, CoordinatorSettings settings, Instant now) {
        Duration inState = Duration.between(since, now);
        if (state == LeadershipState.CLAIMING && anyWorker && inState.compareTo(claimAfter(settings)) >= 0) {
            return to(LeadershipState.LEARNING, Optional.of(claim.token()), now, lostClaims);
        }
        if (state == LeadershipState.LEARNING && (allReported || inState.compareTo(settings.learnFor()) >= 0)) {
            return to(LeadershipState.ACTIVE, token, now, lostClaims);
        }
        return this;
    }

    public Leadership stepDown(Instant now) {
        return to(LeadershipState.STEPPING_DOWN, Optional.empty(), now, lostClaims);
    }

    /** How long it listens before it claims: longer after every token it lost. */
    public Duration claimAfter(CoordinatorSettings settings) {
        Duration doubled = settings.claimFor().multipliedBy(1L << Math.min(lostClaims, MAX_DOUBLINGS));
        Duration bound = MAX_BACK_OFF.compareTo(settings.claimFor()) > 0 ? MAX_BACK_OFF : settings.claimFor();
        return doubled.compareTo(bound) > 0 ? bound : doubled;
    }

    private Leadership claimAgain(Instant now) {
        boolean heldLong = isActive() && Duration.between(since, now).compareTo(MAX_BACK_OFF) > 0;
        int lost = heldLong ? 1 : Math.min(lostClaims + 1, MAX_DOUBLINGS);
        return to(LeadershipState.CLAIMING, Optional.empty(), now, lost);
    }

    private Leadership to(LeadershipState next, Optional<CoordinatorToken> newToken, Instant now, int lost) {
        if (!state.allows(next)) {
            throw new IllegalStateException("leadership %s: %s -> %s is not allowed; allowed: %s"
                    .formatted(claim.uid(), state, next, state.next()));
        }
        return new Leadership(next, claim, newToken, now, lost);
    }
}
