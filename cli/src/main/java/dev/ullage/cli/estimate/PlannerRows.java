package dev.ullage.cli.estimate;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.Reading;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Rows of {@code planner_golden.csv}: peaks that training frameworks publish, one row a run. */
final class PlannerRows {
    private final Map<String, Map<String, String>> models;
    private final Map<String, Map<String, String>> megatronRows;
    private final Map<String, Map<String, String>> megatronSettings;

    /**
     * @param models shapes by name
     * @param megatronRows configurations of Megatron's tests by source path, when their table is at hand
     * @param megatronSettings their other settings by test case
     */
    PlannerRows(
            Map<String, Map<String, String>> models,
            Map<String, Map<String, String>> megatronRows,
            Map<String, Map<String, String>> megatronSettings) {
        this.models = models;
        this.megatronRows = megatronRows;
        this.megatronSettings = megatronSettings;
    }

    static boolean isTable(Map<String, String> row) {
        return row.containsKey("documented_gib") && row.containsKey("kind");
    }

    void read(List<Map<String, String>> rows, Samples samples) {
        for (Map<String, String> row : rows) {
            String group = row.getOrDefault("source_repo", "?");
            String id = row.getOrDefault("id", "?");
            if (!"measured".equals(row.get("kind"))) {
                samples.skip(group, id, "a formula, not a measurement");
                continue;
            }
            Optional<String> reason;
            try {
                reason = add(row, group, id, samples);
            } catch (NumberFormatException e) {
                reason = Optional.of("a number cannot be read: " + e.getMessage());
            }
            reason.ifPresent(why -> samples.skip(group, id, why));
        }
    }

    /** Why the row cannot be used, or empty when it was. */
    private Optional<String> add(Map<String, String> row, String group, String id, Samples samples) {
        OptionalDouble gibibytes = MegatronRows.number(row, "documented_gib");
        if (gibibytes.isEmpty()) {
            return Optional.of("no measured value");
        }
        PublishedRun run = new PublishedRun(row);
        if (run.unknown().isPresent()) {
            return run.unknown();
        }
        Map<String, String> fields;
        if (run.isMegatron()) {
            Map<String, String> test = megatronRows.get(row.getOrDefault("source_path", ""));
            if (test == null) {
                return Optional.of("the row names a test; its configuration is not among the files");
            }
            fields =
                    new MegatronSettings(test, megatronSettings.getOrDefault(test.get("test_case"), Map.of())).fields();
            if (!fields.containsKey("dp")) {
                return Optional.of("the data-parallel size is not stated, and with it the optimizer's share");
            }
        } else {
            Map<String, String> shape = models.get(modelName(row));
            if (shape == null) {
                return Optional.of("unknown: no shape is known for model \"" + row.getOrDefault("model", "") + "\"");
            }
            fields = run.fields(shape);
        }
        SetupReader.Result result = SetupReader.read(fields);
        if (result.reading().isEmpty()) {
            return Optional.of("unusable fields: " + result.problems());
        }
        samples.use(sample(row, group, id, result.reading().get(), gibibytes.getAsDouble()));
        return Optional.empty();
    }

    private static Sample sample(Map<String, String> row, String group, String id, Reading reading, double gibibytes) {
        List<RankEstimate> stages = Estimator.estimate(reading);
        PublishedRun run = new PublishedRun(row);
        double point = 0;
        double upper = 0;
        for (RankEstimate stage : run.isMegatron() ? stages.subList(stages.size() - 1, stages.size()) : stages) {
            double peak = run.isFirstIteration()
                    ? stage.firstPeak().value()
                    : stage.peak().value();
            point = Math.max(point, peak);
            upper = Math.max(upper, peak * stage.upper().value() / stage.peak().value());
        }
        boolean stated = row.containsKey("seq") && row.containsKey("micro_batch") && row.containsKey("checkpointing");
        double measured = gibibytes * MemoryBytes.GIBIBYTE;
        return new Sample(group, id, stated, measured, point, upper, OptionalDouble.empty());
    }

    /** {@code transformer 3.4B (baseline optimizer) rank0} is {@code transformer-3.4b}. */
    private static String modelName(Map<String, String> row) {
        return row.getOrDefault("model", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("\\s*\\(.*", "")
                .replaceAll("\\s+", "-");
    }
}
