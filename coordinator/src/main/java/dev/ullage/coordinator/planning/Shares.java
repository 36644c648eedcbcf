package dev.ullage.coordinator.planning;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.Share;
import dev.ullage.config.PhaseShares;
import java.util.List;

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

        /** @param settings the part of the limit in each phase */
        public PhaseLimits limits(PhaseShares settings) {
            return PhaseLimits.of(phase -> limit.times(phases.in(phase, settings)));
        }
    }

    /** Whether the settings' shares of the phases count for a limit. */
    public enum PhaseUse {
        BY_SETTINGS,
        SAME_IN_ALL;

        Share in(Phase phase, PhaseShares settings) {
            return this == SAME_IN_ALL ? Share.ALL : settings.in(phase);
        }
    }
}
