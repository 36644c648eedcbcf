package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/**
 * How limits come about.
 *
 * @param reserve the share of a device that a new ledger keeps free; an operator's later choice lives in the ledger
 * @param minimum the smallest limit a rank may be given; a plan with a smaller one is not carried out
 * @param deadBand a plan that moves no limit by this share of it is not carried out
 * @param phases what part of its limit a rank may use in each phase
 * @param policies which policy chooses the limits, with its parameters
 * @param turns whether jobs take turns at their bursts
 * @param turnNeeds from what it is known what a job needs for that
 */
public record LimitSettings(
        Share reserve,
        MemoryBytes minimum,
        Share deadBand,
        PhaseShares phases,
        PolicySettings policies,
        TurnMode turns,
        TurnNeedSettings turnNeeds) {

    /** Only jobs that say what they need take turns. */
    public LimitSettings(
            Share reserve,
            MemoryBytes minimum,
            Share deadBand,
            PhaseShares phases,
            PolicySettings policies,
            TurnMode turns) {
        this(reserve, minimum, deadBand, phases, policies, turns, TurnNeedSettings.defaults());
    }

    /** Nobody takes turns. */
    public LimitSettings(
            Share reserve, MemoryBytes minimum, Share deadBand, PhaseShares phases, PolicySettings policies) {
        this(reserve, minimum, deadBand, phases, policies, TurnMode.OFF);
    }

    /** By the policies as shipped. */
    public LimitSettings(Share reserve, MemoryBytes minimum, Share deadBand, PhaseShares phases) {
        this(reserve, minimum, deadBand, phases, PolicySettings.defaults());
    }

    public static LimitSettings defaults() {
        return new LimitSettings(
                Share.ofPercent(20), MemoryBytes.ofMebibytes(64), new Share(50), PhaseShares.uniform(Share.ALL));
    }
}
