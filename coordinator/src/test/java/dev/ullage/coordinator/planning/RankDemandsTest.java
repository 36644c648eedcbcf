package dev.ullage.coordinator.planning;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.mib;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.terms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.RankSample.Activity;
import dev.ullage.config.JobTerms;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.coordinator.planning.Shares.RankShare;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Guarded;
import dev.ullage.coordinator.planning.predict.Prediction;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.prediction.InstalledDemands;
import java.time.Instant;
import java.util.ArrayList;
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

    // Goal: a service that is a client of Ullage is followed. It says step 0, having counted none.
    @Test
    void aRankThatHasDoneNoStepIsFollowed() {
        demands.observe(List.of(sample(gib(10), 0, OptionalLong.of(0))), now);
        assertThat(demands.isEmpty()).isFalse();
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

    private static RankSample of(RankInstance instance, MemoryBytes held) {
        RankSample one = sample(held, 0, OptionalLong.empty());
        return new RankSample(instance, one.facts(), one.activity(), one.use(), EnforcedBy.ADVISORY, true, 0);
    }

    private void minutes(int minutes, List<RankSample> samples) {
        for (int i = 0; i < 60 * minutes; i++) {
            demands.observe(samples, now);
            now = now.plusSeconds(1);
        }
    }

    @Test
    void aNewRankHasWhatTheOthersOfItsJobReached() {
        RankInstance other = rank(1);
        minutes(31, List.of(of(other, gib(20))));
        last = sample(gib(1), 0, OptionalLong.empty());
        minutes(1, List.of(of(other, gib(20)), last));

        assertThat(share().limit()).isEqualTo(gib(20));
        assertThat(reason()).contains("the 20.0 GiB that the middle one of others reached");
        minutes(15, List.of(of(other, gib(20)), last));
        assertThat(share().limit()).as("a tenth more than its most").isEqualTo(MemoryBytes.of(gib(11).value() / 10));
    }

    @Test
    void ofOtherJobsItTakesManyToSaySomething() {
        List<RankSample> others = new ArrayList<>();
        for (int i = 0; i < RankDemands.ENOUGH_OTHERS; i++) {
            others.add(of(new RankInstance(new RankId(new JobId("other-" + i), 0), 500 + i, 1), gib(10 + i)));
        }
        minutes(31, others.subList(0, RankDemands.ENOUGH_OTHERS - 1));
        List<RankSample> few = new ArrayList<>(others.subList(0, RankDemands.ENOUGH_OTHERS - 1));
        few.add(last);
        minutes(1, few);
        assertThat(share().limit()).as("an equal part").isEqualTo(gib(64));

        others.add(last);
        minutes(31, others.subList(RankDemands.ENOUGH_OTHERS - 1, RankDemands.ENOUGH_OTHERS));
        demands.forgetting(rank(0)::equals);
        minutes(1, others);
        assertThat(share().limit()).isEqualTo(gib(12));
    }

    @Test
    void theRuleAndWhoStandsInForItAreExplained() {
        RankDemands trusted = new RankDemands(ObservedPredictor.LSTM, () -> used -> new Prediction(gib(9), gib(9)));
        DemandPredictor never = used -> new Prediction(MemoryBytes.ZERO, MemoryBytes.ZERO);
        RankDemands guarded = new RankDemands(
                ObservedPredictor.LSTM,
                () -> new Guarded(never, used -> new Prediction(gib(11), gib(11)), new Guarded.Settings(240, 6)));
        for (int i = 0; i < 31 * 60; i++) {
            trusted.observe(List.of(last), now.plusSeconds(i));
            guarded.observe(List.of(last), now.plusSeconds(i));
        }

        assertThat(trusted.of(rank(0)).orElseThrow().explanation())
                .isEqualTo("by the network lstm, by its use in steps of 60 s (it counts no steps of its own)");
        assertThat(trusted.of(rank(0)).orElseThrow().limit()).contains(gib(9));
        assertThat(guarded.of(rank(0)).orElseThrow().explanation())
                .contains("; the rule priced stands in for it, because it would have missed 29 of the last 29 steps,"
                        + " 6 or more");
        assertThat(guarded.of(rank(0)).orElseThrow().limit()).contains(gib(11));
    }

    @Test
    void theNetworkHasToBeGiven() {
        assertThatIllegalArgumentException().isThrownBy(() -> new RankDemands(ObservedPredictor.LSTM));
        assertThatThrownBy(() -> InstalledDemands.open(ObservedPredictor.LSTM))
                .isInstanceOf(PredictorUnavailableException.class)
                .hasMessageContaining("the predictor 'lstm' needs ullage-network and onnxruntime in the folder lib");
    }

    @Test
    void byDefaultNobodyIsFollowed() {
        RankDemands none = new RankDemands(ObservedPredictor.PHASE_MAX);
        none.observe(List.of(last), now);
        assertThat(none.isEmpty()).isTrue();
    }
}
