package dev.ullage.cli.predict;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Replay;
import dev.ullage.coordinator.planning.predict.Score;
import dev.ullage.coordinator.prediction.InstalledPredictors;
import java.util.List;
import java.util.Optional;

/**
 * Every predictor on every series, at every horizon. Every other series, in the order of their names, is one that
 * parameters may be tuned on; the others check them.
 */
final class Contest {
    private final List<Series> series;
    private final int warmUp;
    private final ObjectNode document = JsonNodeFactory.instance.objectNode();
    private final ArrayNode results;

    /** The series of one part, and how good a predictor was on them. */
    private static final class Heap {
        private final String part;
        private final Score.Tally tally = new Score.Tally();
        private int series;

        Heap(String part) {
            this.part = part;
        }

        Score.Tally next() {
            series++;
            return tally;
        }
    }

    Contest(List<Series> series, int warmUp) {
        this.series = List.copyOf(series);
        this.warmUp = warmUp;
        document.put("series", series.size()).put("warmUp", warmUp);
        results = document.putArray("results");
    }

    ObjectNode document() {
        return document;
    }

    void add(String predictor, int horizon, InstalledPredictors.Maker maker) {
        Heap tuned = new Heap("tuned");
        Heap checked = new Heap("checked");
        Heap all = new Heap("all");
        Replay replay = new Replay(warmUp, horizon);
        for (int i = 0; i < series.size(); i++) {
            Series one = series.get(i);
            Optional<DemandPredictor> found = maker.make(one.period());
            if (found.isPresent() && one.values().size() > warmUp) {
                Heap half = i % 2 == 0 ? tuned : checked;
                replay.run(one.values(), found.get(), List.of(half.next(), all.next()));
            }
        }
        for (Heap heap : List.of(tuned, checked, all)) {
            if (!heap.tally.isEmpty()) {
                ObjectNode result = results.addObject()
                        .put("predictor", predictor)
                        .put("horizon", horizon)
                        .put("part", heap.part)
                        .put("series", heap.series);
                put(result, heap.tally.score());
            }
        }
    }

    private static void put(ObjectNode result, Score score) {
        result.put("steps", score.steps());
        put(result, "underPercent", score.underPercent());
        put(result, "roomPercent", score.roomPercent());
        put(result, "roomOfSumsPercent", score.roomOfSumsPercent());
        put(result, "p99ShortfallGib", score.p99ShortfallGib());
        put(result, "rmseGib", score.rmseGib());
        put(result, "maeGib", score.maeGib());
        put(result, "accuracyPercent", score.accuracyPercent());
    }

    /** Null where no step was of a size that says it. */
    private static void put(ObjectNode result, String field, double value) {
        if (Double.isFinite(value)) {
            result.put(field, value);
        } else {
            result.putNull(field);
        }
    }
}
