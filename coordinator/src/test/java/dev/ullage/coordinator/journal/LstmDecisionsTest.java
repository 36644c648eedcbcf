package dev.ullage.coordinator.journal;

import static dev.ullage.coordinator.Fixtures.DEVICE;
import static dev.ullage.coordinator.Fixtures.NODE;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.announced;
import static dev.ullage.coordinator.Fixtures.gib;
import static dev.ullage.coordinator.Fixtures.ledger;
import static dev.ullage.coordinator.Fixtures.rank;
import static dev.ullage.coordinator.Fixtures.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.LimitsReported;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.config.PhaseShares;
import dev.ullage.config.PolicyName;
import dev.ullage.config.PolicySettings;
import dev.ullage.config.PolicySettings.Observed;
import dev.ullage.coordinator.CoordinatorEffect.Recorded;
import dev.ullage.coordinator.CoordinatorLogic;
import dev.ullage.coordinator.decisions.Decision;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Rerun;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.predict.Prediction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

/**
 * Decisions by {@code observed.predictor = lstm}: what a network said stands in the record, so they are made again
 * where no network is installed.
 */
class LstmDecisionsTest {
    private static final CoordinatorToken MINE = new CoordinatorToken(1, "me");

    private static LimitSettings limits() {
        PolicySettings defaults = PolicySettings.defaults();
        return new LimitSettings(
                Share.ofPercent(20),
                MemoryBytes.ofMebibytes(64),
                new Share(50),
                PhaseShares.uniform(Share.ALL),
                new PolicySettings(
                        defaults.anyJob().withPolicy(PolicyName.OBSERVED),
                        defaults.jobs(),
                        defaults.priorityPool(),
                        defaults.hybrid(),
                        new Observed(Share.ofPercent(10), 10, ObservedPredictor.LSTM)));
    }

    private static DeviceSampled service(MemoryBytes held) {
        RankSample sample = new RankSample(
                rank(0),
                new RankFacts(OptionalInt.of(1), OptionalInt.empty(), "service", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.IDLE, OptionalLong.empty()),
                new RankUse(Optional.empty(), Optional.of(held), Optional.empty(), Optional.empty(), 0),
                EnforcedBy.ADVISORY,
                true,
                0);
        MemoryUse memory = new MemoryUse(gib(80), Optional.of(MemoryBytes.ZERO), held, gib(80).minus(held));
        return new DeviceSampled(
                NODE, DEVICE, 0, Optional.of(memory), Optional.of(MemoryBytes.ZERO), List.of(sample), List.of());
    }

    // Goal: a decision by a network can be replayed. Method: half an hour of a service whose "network" says a third
    // more than was held; the plan that comes of it, read back from its line, and decided again without any network.
    @Test
    void aDecisionByTheNetworkIsMadeAgainWithoutIt() throws DecisionJson.UnreadableException {
        RankDemands demands = new RankDemands(
                ObservedPredictor.LSTM,
                () -> used -> new Prediction(used.plus(MemoryBytes.of(used.value() / 3)), used));
        CoordinatorLogic logic =
                new CoordinatorLogic(CoordinatorSettings.defaults(), limits(), demands, new NodeId("c-1"), "me", T0);
        logic.onAnnounced(
                announced(NODE, Optional.empty(), TestInbox.<ToWorker>create().getRef(), DEVICE), true, T0);
        logic.onTick(T0.plusMillis(500)); // claims its token before a ledger can have seen it
        List<Decision> plans = new ArrayList<>();
        for (int half = 2; half <= 4_000; half++) {
            Instant now = T0.plusMillis(500L * half);
            if (half % 4 == 1) {
                logic.onAnnounced(
                        announced(
                                NODE,
                                Optional.empty(),
                                TestInbox.<ToWorker>create().getRef(),
                                DEVICE),
                        false,
                        now);
            }
            logic.onReported(new LimitsReported(NODE, DEVICE, Optional.of(MINE), 0, ledger(settled(0, gib(64)))), now);
            logic.onSampled(service(gib(12)), now);
            logic.onTick(now);
            logic.takeEffects().forEach(effect -> {
                if (effect instanceof Recorded one && one.decision().kind() == Kind.PLAN) {
                    plans.add(one.decision());
                }
            });
        }

        Decision last = plans.get(plans.size() - 1);
        assertThat(last.planning().orElseThrow().outcome().limits())
                .singleElement()
                .satisfies(limit -> {
                    assertThat(limit.limits().max()).isEqualTo(gib(16));
                    assertThat(limit.reason().toString()).contains("by the network lstm, by its use in steps of 60 s");
                });
        Decision read = ((DecisionJson.Line.Of) DecisionJson.parse(DecisionJson.line(last))).decision();
        assertThat(Rerun.of(read.planning().orElseThrow(), Optional.empty())).isEqualTo(new Rerun(List.of(), false));
    }
}
