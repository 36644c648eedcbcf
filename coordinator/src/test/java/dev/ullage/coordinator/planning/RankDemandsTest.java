package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.RankSample.Activity;
import dev.ullage.config.JobTerms;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.coordinator.planning.Shares.RankShare;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a rank that counts no steps is given, minute by minute. */
class RankDemandsTest {
    private static final MemoryBytes MINIMUM = mib(64);

    private final RankDemands demands = new RankDemands(ObservedPredictor.PRICED);
    private Instant now = T0;
    private RankSample last = sample(gib(10), 0, OptionalLong.empty());

    private static RankSample sample(MemoryBytes held, long refusals, OptionalLong step) {
        return new RankSample(
                rank(0),
                new RankFacts(OptionalInt.of(1), OptionalInt.empty(), "service", 0, Optional.empty(), List.of()),
                new Activity(Phase.IDLE, step),
                new RankUse(Optional.empty(), Optional.of(held), Optional.empty(), Optional.empty(), refusals),
                EnforcedBy.ADVISORY,
                true,
                0);
    }

    private void seconds(int seconds, MemoryBytes held, long refusals) {
        for (int i = 0; i < seconds; i++) {
            last = sample(held, refusals, OptionalLong.empty());
            demands.observe(List.of(last), now);
            now = now.plusSeconds(1);
        }
    }

    private RankShare share() {
        RankRequest request = new RankRequest(
                rank(0), Share.ALL, JobTerms.defaults(), RankObserved.of(last).with(demands.of(rank(0))));
        LimitPolicy policy = new ObservedPolicy(new Observed(Share.ofPercent(10), 10), MINIMUM);
        return policy.share(new PlanningInput(DEVICE, terms(gib(80), MemoryBytes.ZERO), List.of(request)))
                .ranks()
                .get(0);
    }

    private String reason() {
        return share().reason().toString();
    }

    @Test
    void aNewRankHasAnEqualPartUntilItIsKnown() {
        seconds(29 * 60 + 30, gib(10), 0);
        assertThat(share().limit()).isEqualTo(gib(64));
        assertThat(reason())
                .contains("its use was followed for 29 steps of 60 s, its limit is believed from step 30 on");

        seconds(60, gib(10), 0);
        assertThat(share().limit()).isEqualTo(gib(10));
        assertThat(reason()).contains("priced by its use in steps of 60 s (it counts no steps of its own): 10.0 GiB");
    }

    @Test
    void theMostThatIsHeldWithinAMinuteCounts() {
        for (int i = 0; i < 40; i++) {
            seconds(59, gib(10), 0);
            seconds(1, gib(20), 0);
        }
        seconds(2, gib(10), 0);
        assertThat(share().limit()).isEqualTo(gib(20));
    }

    @Test
    void whatIsHeldNowIsAlwaysWithinTheLimit() {
        // A second into a minute, so that the next one does not end it.
        seconds(31 * 60 + 1, gib(10), 0);
        seconds(1, gib(30), 0);
        assertThat(share().limit()).isEqualTo(gib(30));
        assertThat(reason()).endsWith("raised to 30.0 GiB");
        seconds(31 * 60, MemoryBytes.ZERO, 0);
        assertThat(share().limit()).isEqualTo(MINIMUM);
    }

    @Test
    void aRefusedRankHasAnEqualPartForAWhileSoThatItsNeedShows() {
        seconds(31 * 60 + 1, gib(10), 0);
        seconds(1, gib(10), 1);
        assertThat(share().limit()).isEqualTo(gib(64));
        assertThat(reason()).contains("its allocator was refused 0 steps of 60 s ago");
        seconds(11 * 60, gib(25), 1);
        assertThat(share().limit()).isGreaterThanOrEqualTo(gib(25)).isLessThan(gib(33));
    }

    @Test
    void aRankThatCountsItsStepsIsNotFollowed() {
        seconds(31 * 60, gib(10), 0);
        demands.observe(List.of(sample(gib(10), 0, OptionalLong.of(1))), now);
        assertThat(demands.isEmpty()).isTrue();
    }

    @Test
    void anotherProcessOfTheRankStartsAnewAndARankThatLeftIsForgotten() {
        seconds(31 * 60, gib(10), 0);
        RankInstance next = new RankInstance(rank(0).rank(), rank(0).pid() + 1, 7);
        demands.observe(
                List.of(new RankSample(next, last.facts(), last.activity(), last.use(), EnforcedBy.ADVISORY, true, 0)),
                now);
        assertThat(demands.of(rank(0))).isEmpty();
        assertThat(demands.of(next)).isPresent();
        demands.forgetting(next::equals);
        assertThat(demands.isEmpty()).isTrue();
    }

    @Test
    void byDefaultNobodyIsFollowed() {
        RankDemands none = new RankDemands(ObservedPredictor.PHASE_MAX);
        none.observe(List.of(last), now);
        assertThat(none.isEmpty()).isTrue();
    }
}
