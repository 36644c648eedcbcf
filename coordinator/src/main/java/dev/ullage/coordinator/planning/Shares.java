package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.config.PhaseShares;
import java.util.List;
import java.util.Optional;

/** What a policy chose: a limit for every rank it was asked about, in the order in which growth is to be considered. */
public record Shares(List<RankShare> ranks) {
    public Shares {
        ranks = List.copyOf(ranks);
    }

    /**
     * One rank's limit and why.
     *
     * @param phases the part of the limit in each phase
     */
    public record RankShare(RankRequest rank, MemoryBytes limit, PlanReason reason, PhaseUse phases) {

        /** Each phase has what the settings say. */
        public RankShare(RankRequest rank, MemoryBytes limit, PlanReason reason) {
            this(rank, limit, reason, PhaseUse.BY_SETTINGS);
        }

        /** What the operator leaves the rank of its fair limit. */
        static RankShare fair(RankRequest rank, MemoryBytes fair, String rule) {
            String operator = rank.share().equals(Share.ALL) ? "" : ", of which the operator left it " + rank.share();
            return new RankShare(rank, fair.times(rank.share()), new PlanReason(rule + operator));
        }

        /** The same, with all of the limit in every phase. */
        RankShare sameInAllPhases() {
            return new RankShare(rank, limit, reason, PhaseUse.SAME_IN_ALL);
        }

        /** The same, with no more in a phase than the policy found it to need, of which the operator has a share. */
        RankShare atMost(PhaseLimits needs) {
            PhaseLimits left = PhaseLimits.of(phase -> needs.in(phase).times(rank.share()));
            return new RankShare(rank, limit, reason, PhaseUse.atMost(left));
        }

        /** The same for another reason. */
        RankShare because(String why) {
            return new RankShare(rank, limit, new PlanReason(why), phases);
        }

        /** Another limit, which is what the rank gets: of it the operator takes nothing more. */
        RankShare at(MemoryBytes other, String why) {
            return new RankShare(rank, other, new PlanReason(why), phases);
        }

        /** @param settings the part of the limit in each phase */
        public PhaseLimits limits(PhaseShares settings) {
            return PhaseLimits.of(phase -> phases.of(limit, phase, settings));
        }
    }

    /**
     * What of a limit counts in each phase.
     *
     * @param bySettings whether the settings' shares of the phases count
     * @param needs no phase has more than this; empty: all of it counts
     */
    public record PhaseUse(boolean bySettings, Optional<PhaseLimits> needs) {
        static final PhaseUse BY_SETTINGS = new PhaseUse(true, Optional.empty());
        static final PhaseUse SAME_IN_ALL = new PhaseUse(false, Optional.empty());

        static PhaseUse atMost(PhaseLimits needs) {
            return new PhaseUse(false, Optional.of(needs));
        }

        MemoryBytes of(MemoryBytes limit, Phase phase, PhaseShares settings) {
            MemoryBytes part = bySettings ? limit.times(settings.in(phase)) : limit;
            return needs.map(most -> most.in(phase).min(part)).orElse(part);
        }
    }
}
