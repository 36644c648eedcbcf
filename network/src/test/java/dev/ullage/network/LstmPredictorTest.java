package dev.ullage.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Prediction;
import dev.ullage.coordinator.planning.predict.PredictorUnavailableException;
import dev.ullage.coordinator.prediction.InstalledPredictors;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class LstmPredictorTest {

    /** Calm and busy stretches of 50 steps from a plain congruential generator, in GiB. */
    private static List<Long> calmAndBusy(int steps) {
        List<Long> series = new ArrayList<>();
        long random = 12_345;
        long level = 8;
        for (int i = 0; i < steps; i++) {
            random = (random * 1_103_515_245L + 12_345) % (1L << 31);
            if (i / 50 % 2 == 1 || random % 40 == 0) {
                level = (random >> 8) % 24 + 2;
            }
            series.add(level);
        }
        return series;
    }

    private static DemandPredictor predictor(String name) throws PredictorUnavailableException {
        return InstalledPredictors.find(name).make(OptionalInt.empty()).orElseThrow();
    }

    // Goal: features, state and network are those that were trained. Method: what PyTorch answers on the same series:
    // step, expected change, and its two quantiles.
    @Test
    void theNetworkAnswersAsWhereItWasTrained() throws PredictorUnavailableException {
        float[][] expected = {
            {0, 0.01128f, 0.10148f, 0.43396f},
            {1, 0.05477f, 0.10932f, 0.30871f},
            {30, 0.27621f, 0.33059f, 0.76937f},
            {49, -0.01246f, 0.02708f, 0.05030f},
            {50, 0.59689f, 1.02819f, 1.34163f},
            {51, 0.16488f, 0.31912f, 0.38760f},
            {60, 0.90092f, 1.48274f, 1.99158f},
            {75, 0.03801f, 0.45950f, 0.68355f},
            {99, 0.89218f, 1.68237f, 2.53477f},
            {100, 0.23284f, 0.98173f, 1.43219f},
            {101, 0.32486f, 0.98051f, 1.67745f},
            {130, 0.15944f, 0.43567f, 0.86417f},
            {149, -0.05035f, 0.01033f, 0.03870f},
            {150, 0.11100f, 0.38692f, 0.53062f},
            {175, 0.91436f, 1.79324f, 2.70104f},
            {199, 0.20190f, 0.73988f, 1.22391f}
        };

        OnnxNetwork network = OnnxNetwork.load();
        OnnxNetwork.CellState state = new OnnxNetwork.CellState();
        LstmFeatures features = new LstmFeatures();
        List<float[]> answers = new ArrayList<>();
        for (long value : calmAndBusy(200)) {
            answers.add(network.step(features.next(value * MemoryBytes.GIBIBYTE), state));
        }
        for (float[] step : expected) {
            float[] answer = answers.get((int) step[0]);
            for (int i = 0; i < answer.length; i++) {
                assertThat(answer[i]).as("output %d of step %s", i, step[0]).isCloseTo(step[i + 1], within(2e-4f));
            }
        }
    }

    @Test
    void eachSeriesHasAStateOfItsOwn() throws PredictorUnavailableException {
        InstalledPredictors.Maker maker = InstalledPredictors.find("lstm-unguarded");
        DemandPredictor first = maker.make(OptionalInt.empty()).orElseThrow();
        List<Prediction> answers = new ArrayList<>();
        calmAndBusy(80).forEach(value -> answers.add(first.observe(MemoryBytes.ofGibibytes(value))));
        DemandPredictor second = maker.make(OptionalInt.empty()).orElseThrow();
        assertThat(calmAndBusy(80).stream().map(value -> second.observe(MemoryBytes.ofGibibytes(value))))
                .containsExactlyElementsOf(answers);
    }

    @Test
    void anIdleSeriesKeepsAtLeastItsLastValue() throws PredictorUnavailableException {
        DemandPredictor lstm = predictor("lstm-unguarded");
        MemoryBytes used = MemoryBytes.ofGibibytes(20);
        lstm.observe(used);
        for (int i = 0; i < 100; i++) {
            assertThat(lstm.observe(used).limit()).isGreaterThanOrEqualTo(used);
        }
    }

    // Goal: work that the network has never seen does not suffer for it. Method: a use that grows by a fifth in every
    // step, beyond anything it learned from: the guarded one ends up with what the priced rule says.
    @Test
    void theGuardLeavesTheNetworkWhereItMisses() throws PredictorUnavailableException {
        DemandPredictor guarded = predictor("lstm");
        DemandPredictor unguarded = predictor("lstm-unguarded");
        DemandPredictor priced = predictor("priced");
        for (int i = 0; i < 60; i++) {
            MemoryBytes used = MemoryBytes.ofMebibytes(Math.round(1024 * Math.pow(1.2, i)));
            Prediction answer = guarded.observe(used);
            assertThat(answer).isIn(unguarded.observe(used), priced.observe(used));
            if (i > 50) {
                assertThat(answer).isEqualTo(pricedAfter(i));
            }
        }
    }

    private static Prediction pricedAfter(int steps) throws PredictorUnavailableException {
        DemandPredictor priced = predictor("priced");
        Prediction last = priced.observe(MemoryBytes.ofMebibytes(1024));
        for (int i = 1; i <= steps; i++) {
            last = priced.observe(MemoryBytes.ofMebibytes(Math.round(1024 * Math.pow(1.2, i))));
        }
        return last;
    }

    @Test
    void extremesAreAnswered() throws PredictorUnavailableException {
        DemandPredictor lstm = predictor("lstm-unguarded");
        for (long value : new long[] {0, Long.MAX_VALUE, 1, Long.MAX_VALUE, 0}) {
            assertThat(lstm.observe(MemoryBytes.of(value)).limit().value()).isNotNegative();
        }
    }
}
