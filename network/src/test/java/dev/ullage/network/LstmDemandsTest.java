package dev.ullage.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.config.ObservedPredictor;
import dev.ullage.coordinator.planning.RankDemands;
import dev.ullage.coordinator.planning.RankDemands.Demand;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.prediction.InstalledDemands;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** {@code observed.predictor = lstm}: the network follows a simulated service, minute by minute. */
class LstmDemandsTest {
    private static final RankInstance SERVICE = new RankInstance(new RankId(new JobId("service"), 0), 100, 7);

    private final RankDemands demands;
    private Instant now = Instant.EPOCH;

    LstmDemandsTest() throws PredictorUnavailableException {
        demands = InstalledDemands.open(ObservedPredictor.LSTM).get();
    }

    private void minute(MemoryBytes held) {
        RankSample sample = new RankSample(
                SERVICE,
                new RankFacts(OptionalInt.of(1), OptionalInt.empty(), "service", 0, Optional.empty(), List.of()),
                new RankSample.Activity(Phase.IDLE, OptionalLong.empty()),
                new RankUse(Optional.empty(), Optional.of(held), Optional.empty(), Optional.empty(), 0),
                EnforcedBy.ADVISORY,
                true,
                0);
        for (int second = 0; second < 60; second++) {
            demands.observe(List.of(sample), now);
            now = now.plusSeconds(1);
        }
    }

    private Demand demand() {
        return demands.of(SERVICE).orElseThrow();
    }

    // Goal: what a service gets is what it needs and some room. Method: calm and busy stretches like those of the pods
    // the network learned from, seeded; its limit before each minute against what is used in it.
    @Test
    void aServiceIsSeldomShortAndHasRoomThatIsBounded() {
        Random random = new Random(11);
        long level = 20_000;
        int missed = 0;
        int minutes = 0;
        double room = 0;
        for (int minute = 0; minute < 400; minute++) {
            if (minute / 80 % 2 == 1 || random.nextInt(40) == 0) {
                level = 14_000L + random.nextInt(12_000);
            }
            MemoryBytes used = MemoryBytes.ofMebibytes(level);
            Optional<MemoryBytes> limit = demands.of(SERVICE).flatMap(Demand::limit);
            if (limit.isPresent()) {
                minutes++;
                missed += used.isMoreThan(limit.get()) ? 1 : 0;
                room += limit.get().value() / (double) used.value() - 1;
            }
            minute(used);
        }

        assertThat(minutes).isGreaterThan(300);
        assertThat(missed / (double) minutes).isLessThan(.06);
        assertThat(room / minutes).isBetween(0.0, .45);
        assertThat(demand().explanation()).startsWith("by the network lstm, by its use in steps of 60 s");
    }

    // Goal: the guard reaches people's eyes. Method: a use that grows by a fifth a minute, which the network never saw.
    @Test
    void whereTheNetworkMissesTheRuleStandsInAndExplainSaysSo() {
        for (int minute = 0; minute < 45; minute++) {
            minute(MemoryBytes.ofMebibytes(Math.round(64 * Math.pow(1.2, minute))));
        }

        assertThat(demand().limit()).isPresent();
        assertThat(demand().explanation())
                .contains("the rule priced stands in for it, because it would have missed")
                .contains("of the last");
    }
}
