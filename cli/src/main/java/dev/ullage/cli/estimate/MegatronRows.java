package dev.ullage.cli.estimate;

import dev.ullage.coordinator.planning.estimate.Estimator;
import dev.ullage.coordinator.planning.estimate.Part;
import dev.ullage.coordinator.planning.estimate.RankEstimate;
import dev.ullage.coordinator.planning.estimate.Reading;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Rows of {@code megatron_golden_memory.csv}: memory that Megatron-LM's functional tests logged, on the last rank.
 * Together with the tests' other settings ({@code megatron_config_fields.json}) a row is complete.
 */
final class MegatronRows {
    static final String GROUP = "NVIDIA/Megatron-LM (CI)";

    /** Models of a class that the formulas do not describe. */
    private static final Set<String> UNKNOWN_SUITES = Set.of("mimo", "multimodal-llava", "hybrid", "nemotron", "t5");

    private MegatronRows() {}

    static boolean isTable(Map<String, String> row) {
        return row.containsKey("test_case") && row.containsKey("suite");
    }

    static void read(List<Map<String, String>> rows, Map<String, Map<String, String>> settings, Samples samples) {
        for (Map<String, String> row : rows) {
            String id = row.getOrDefault("id", row.getOrDefault("test_case", "?"));
            Map<String, String> more = settings.getOrDefault(row.getOrDefault("test_case", ""), Map.of());
            if ("False".equalsIgnoreCase(row.getOrDefault("usable_for_planner", "True"))) {
                samples.skip(GROUP, id, "not usable for planning: its sizes do not make up the world size");
                continue;
            }
            if (isUnknown(row, more)) {
                samples.skip(GROUP, id, "unknown: a model of class " + row.getOrDefault("suite", "?"));
                continue;
            }
            add(row, more, id, samples);
        }
    }

    private static boolean isUnknown(Map<String, String> row, Map<String, String> more) {
        return UNKNOWN_SUITES.contains(row.getOrDefault("suite", ""))
                || more.containsKey("hybrid-layer-pattern")
                || more.containsKey("hybrid-override-pattern");
    }

    private static void add(Map<String, String> row, Map<String, String> more, String id, Samples samples) {
        OptionalDouble peak = number(row, "peak_bytes");
        if (peak.isEmpty()) {
            samples.skip(GROUP, id, "no measured peak");
            return;
        }
        SetupReader.Result result;
        try {
            result = SetupReader.read(new MegatronSettings(row, more).fields());
        } catch (NumberFormatException e) {
            samples.skip(GROUP, id, "a number cannot be read: " + e.getMessage());
            return;
        }
        if (result.reading().isEmpty()) {
            samples.skip(GROUP, id, "unusable fields: " + result.problems());
            return;
        }
        Reading reading = result.reading().get();
        List<RankEstimate> stages = Estimator.estimate(reading);
        RankEstimate last = stages.get(stages.size() - 1);
        double point = last.peak().value();
        OptionalDouble first = number(row, "peak_first_iter_bytes");
        OptionalDouble afterOne =
                first.isPresent() ? OptionalDouble.of(afterOne(first.getAsDouble(), last)) : OptionalDouble.empty();
        boolean complete = reading.isComplete() && !more.isEmpty();
        double upper = last.upper().value();
        samples.use(new Sample(GROUP, id, complete, peak.getAsDouble(), point, upper, afterOne));
    }

    /** The first iteration's peak, and the optimizer's state that only its end made, as far as the model agrees. */
    private static double afterOne(double first, RankEstimate last) {
        double state = last.part(Part.OPTIMIZER).value();
        return Math.max(first, Math.min(first + state, (double) last.peak().value()));
    }

    static OptionalDouble number(Map<String, String> row, String column) {
        String text = row.getOrDefault(column, "");
        return text.matches("\\d+(\\.\\d+)?") ? OptionalDouble.of(Double.parseDouble(text)) : OptionalDouble.empty();
    }
}
