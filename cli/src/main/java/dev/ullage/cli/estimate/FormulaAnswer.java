package dev.ullage.cli.estimate;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.CommandFailure;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.estimate.Calculators;
import dev.ullage.coordinator.planning.estimate.Calculators.ZeroInput;
import dev.ullage.coordinator.planning.estimate.Problem;
import dev.ullage.coordinator.planning.estimate.Reading;
import dev.ullage.coordinator.planning.estimate.Scheme.Offload;
import dev.ullage.coordinator.planning.estimate.SetupReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What another calculator says for the same fields. */
final class FormulaAnswer {
    private static final int SCHEMA = 1;
    private static final String KNOWN = "one of deepspeed, megatron, korthikanti, eleuther";

    private FormulaAnswer() {}

    static String of(String name, Map<String, String> fields, Map<String, String> extra, boolean json)
            throws CommandFailure {
        Map<String, Double> lines =
                switch (name) {
                    case "deepspeed" -> Calculators.deepSpeed(zero(fields, extra));
                    case "megatron" -> Calculators.megatron(reading(fields).likely());
                    case "korthikanti" ->
                        Calculators.korthikanti(reading(fields).likely());
                    case "eleuther" -> Calculators.eleuther(reading(fields).likely());
                    default -> throw EstimateCommand.refused(List.of(new Problem("formula", name, KNOWN)));
                };
        return json ? json(name, lines) : text(lines);
    }

    private static Reading reading(Map<String, String> fields) throws CommandFailure {
        SetupReader.Result result = SetupReader.read(fields);
        if (result.reading().isEmpty()) {
            throw EstimateCommand.refused(result.problems());
        }
        return result.reading().get();
    }

    /** DeepSpeed's calculator knows parameters and GPUs only. */
    private static ZeroInput zero(Map<String, String> fields, Map<String, String> extra) throws CommandFailure {
        List<Problem> problems = new ArrayList<>();
        double parameters = number("parameters", fields, "", problems);
        int stage = (int) number("sharding", fields, "", problems);
        double largest = number("largest-layer", extra, stage == 2 ? "0" : "", problems);
        int perNode = (int) number("gpus-per-node", extra, "8", problems);
        int nodes = (int) number("nodes", extra, "1", problems);
        if (problems.isEmpty() && stage != 2 && stage != 3) {
            problems.add(new Problem("sharding", String.valueOf(stage), "2 or 3"));
        }
        String offload = fields.getOrDefault("offload", "none");
        Offload away = Offload.NONE;
        try {
            away = Offload.valueOf(offload.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            problems.add(new Problem("offload", offload, "one of none, optimizer, all"));
        }
        if (!problems.isEmpty()) {
            throw EstimateCommand.refused(problems);
        }
        return new ZeroInput(parameters, largest, perNode, nodes, stage, away, true);
    }

    private static double number(String field, Map<String, String> values, String otherwise, List<Problem> problems) {
        String text = values.getOrDefault(field, otherwise);
        if (!text.matches("\\d{1,15}")) {
            problems.add(new Problem(field, text, "a whole number"));
            return 1;
        }
        return Long.parseLong(text);
    }

    private static String text(Map<String, Double> lines) {
        StringBuilder text = new StringBuilder();
        lines.forEach((name, amount) -> text.append(
                name.endsWith("(a number)")
                        ? String.format(Locale.ROOT, "%-40s %,18d%n", name, amount.longValue())
                        : String.format(
                                Locale.ROOT,
                                "%-40s %,18d bytes  %10.3f GiB%n",
                                name,
                                amount.longValue(),
                                amount / MemoryBytes.GIBIBYTE)));
        return text.toString();
    }

    private static String json(String name, Map<String, Double> lines) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA).put("formula", name);
        ObjectNode amounts = root.putObject("amounts");
        lines.forEach((line, amount) -> amounts.put(line, amount.longValue()));
        return root + "\n";
    }
}
