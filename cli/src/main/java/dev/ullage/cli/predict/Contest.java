package dev.ullage.cli.predict;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.predict.DemandPredictor;
import dev.ullage.coordinator.planning.predict.Newborn;
import dev.ullage.coordinator.planning.predict.Replay;
import dev.ullage.coordinator.planning.predict.Score;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Every predictor on every series, at every horizon. Every other series, in the order of their names, is one that
 * parameters may be tuned on; the others check them.
 */
final class Contest {
    private final List<Series> series;
    private final Terms terms;
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

    /**
     * @param warmUp first values that do not count
     * @param first how many steps of each series count after these; empty: all
     * @param isBornOnly whether only series that began within their recording count
     */
    record Terms(int warmUp, OptionalInt first, boolean isBornOnly) {

        boolean counts(Series one) {
            return one.values().size() > warmUp && (one.isBorn() || !isBornOnly);
        }

        List<MemoryBytes> of(Series one) {
            int last =
                    first.isPresent() ? warmUp + first.getAsInt() : one.values().size();
            return one.values().subList(0, Math.min(last, one.values().size()));
        }
    }

    /** Makes a predictor for a series. */
    @FunctionalInterface
    interface Maker {
        /**
         * @param others the middle one of what other series reached in their first steps; empty: there is no other
         * @return empty: there is none for this series
         */
        Optional<DemandPredictor> make(Series one, Optional<MemoryBytes> others);
    }

    Contest(List<Series> series, Terms terms) {
        this.series = List.copyOf(series);
        this.terms = terms;
        document.put("series", series.size()).put("warmUp", terms.warmUp());
        terms.first().ifPresent(steps -> document.put("first", steps));
        document.put("bornOnly", terms.isBornOnly());
        results = document.putArray("results");
    }

    ObjectNode document() {
        return document;
    }

    void add(String predictor, int horizon, Maker maker) {
        Heap tuned = new Heap("tuned");
        Heap checked = new Heap("checked");
        Heap all = new Heap("all");
        Replay replay = new Replay(terms.warmUp(), horizon);
        for (int i = 0; i < series.size(); i++) {
            Series one = series.get(i);
            if (!terms.counts(one)) {
                continue;
            }
            Optional<DemandPredictor> found = maker.make(one, others(one));
            if (found.isPresent()) {
                Heap half = i % 2 == 0 ? tuned : checked;
                replay.run(terms.of(one), found.get(), List.of(half.next(), all.next()));
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

    /** Only series that may be tuned on say something about others, and none about itself. */
    private Optional<MemoryBytes> others(Series one) {
        List<MemoryBytes> reached = new ArrayList<>();
        for (int i = 0; i < series.size(); i += 2) {
            if (!series.get(i).equals(one)) {
                reached.add(series.get(i).most(Newborn.STEPS));
            }
        }
        return Newborn.middle(reached);
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
