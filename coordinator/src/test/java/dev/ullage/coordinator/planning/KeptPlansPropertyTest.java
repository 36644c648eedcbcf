package dev.ullage.coordinator.planning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.config.BurstNeed;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.JobTerms;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.config.TurnMode;
import dev.ullage.config.TurnNeedSettings;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What is kept of the last plans is what would be worked out, whatever happens between two ticks. */
class KeptPlansPropertyTest {
    private static final int TICKS = 60;

    // Goal: no plan, and nothing it is recorded with, is another for having been kept. Method: things happen in random
    // order to devices with ranks of every policy, said in new objects each time; after each the planner that keeps and
    // one that keeps nothing decide on the same situation.
    @Property(tries = 300)
    void whatIsKeptIsWhatWouldBeWorkedOut(
            @ForAll long seed,
            @ForAll PolicyName policy,
            @ForAll ObservedPredictor predictor,
            @ForAll TurnMode turns,
            @ForAll TurnNeedSettings.Source needs) {
        LimitSettings limits = settings(policy, turns, needs);
        RankDemands demands = new RankDemands(
                        predictor == ObservedPredictor.LSTM ? ObservedPredictor.PHASE_MAX : predictor)
                .forTurns(limits);
        LimitPlanner planner = LimitPlanner.of(CoordinatorSettings.defaults().staleAfter(), limits, demands);
        ChangingCluster cluster = new ChangingCluster(seed, demands);
        KeptPlans kept = new KeptPlans();
        for (int tick = 0; tick < TICKS; tick++) {
            Situation situation = cluster.situation();

            List<Decided> decided = planner.decide(situation, kept);

            assertThat(decided).as("tick %d of seed %d", tick, seed).isEqualTo(planner.decide(situation));
            cluster.decided(decided);
            cluster.next();
        }
    }

    private static LimitSettings settings(PolicyName policy, TurnMode turns, TurnNeedSettings.Source needs) {
        PolicySettings shipped = PolicySettings.defaults();
        JobTerms terms = shipped.anyJob();
        BurstNeed burst =
                new BurstNeed(MemoryBytes.ofGibibytes(5), MemoryBytes.ofGibibytes(40), BurstNeed.DEFAULT_PHASES);
        return new LimitSettings(
                Share.ofPercent(20),
                MemoryBytes.ofMebibytes(64),
                new Share(50),
                PhaseShares.defaults(),
                new PolicySettings(
                        new JobTerms(
                                policy,
                                terms.priority(),
                                terms.modelSize(),
                                terms.limit(),
                                Optional.of(burst).filter(any -> needs == TurnNeedSettings.Source.DECLARED)),
                        shipped.jobs(),
                        shipped.priorityPool(),
                        shipped.hybrid(),
                        shipped.observed(),
                        shipped.planned()),
                turns,
                new TurnNeedSettings(needs, Share.ofPercent(10)));
    }
}
