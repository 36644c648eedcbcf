package dev.ullage.coordinator.leadership;

import dev.ullage.common.model.CoordinatorToken;

/**
 * How a coordinator comes to a token: an epoch above the highest it has seen, and its own uid. Two that claim the same
 * epoch differ in the uid, and one of them is the older for everyone.
 *
 * @param highestEpoch the highest epoch seen, 0 when none
 */
public record TokenClaim(String uid, long highestEpoch) {

    public TokenClaim seen(CoordinatorToken token) {
        return token.epoch() > highestEpoch ? new TokenClaim(uid, token.epoch()) : this;
    }

    public CoordinatorToken token() {
        return new CoordinatorToken(Math.addExact(highestEpoch, 1), uid);
    }
}
