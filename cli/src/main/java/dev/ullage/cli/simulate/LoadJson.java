package dev.ullage.cli.simulate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import dev.ullage.coordinator.simulation.LoadOutcome;
import dev.ullage.coordinator.simulation.LoadResult;
import dev.ullage.coordinator.simulation.Spread;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Results under load for scripts, in one line (docs/placement.md, "Under load"). */
final class LoadJson {
    /** Raised when a script that read the last one could not read this one. */
    static final int SCHEMA = 1;

    private LoadJson() {}

    static String of(List<LoadResult> results, LoadOptions options, PolicyKind policy, long firstSeed) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA);
        root.put("firstSeed", firstSeed);
        root.put("policy", policy.label());
        root.put("longestHours", options.longestHours());
        root.put("persistentPercent", options.persistentPercent());
        ArrayNode list = root.putArray("results");
        for (LoadResult result : results) {
            ObjectNode node = list.addObject();
            node.put("workload", result.workload());
            node.put("mode", result.mode().label());
            node.put("load", result.load());
            node.put("seeds", result.outcomes().size());
            ObjectNode wait = node.putObject("waitSeconds");
            put(wait, "mean", result, LoadOutcome::meanWait);
            put(wait, "p50", result, outcome -> outcome.wait(50));
            put(wait, "p95", result, outcome -> outcome.wait(95));
            put(wait, "p99", result, outcome -> outcome.wait(99));
            put(node, "usedPercent", result, LoadOutcome::used);
            put(node, "givenPercent", result, LoadOutcome::given);
            put(node, "done", result, LoadOutcome::done);
            put(node, "highAtOncePercent", result, LoadOutcome::highAtOncePercent);
            put(node, "stillWaiting", result, LoadOutcome::stillWaiting);
            node.put("workLost", 0);
        }
        return root.toString();
    }

    private static void put(ObjectNode node, String name, LoadResult result, ToDoubleFunction<LoadOutcome> figure) {
        Spread spread = result.over(figure);
        if (Double.isNaN(spread.mean())) {
            return;
        }
        ObjectNode into = node.putObject(name);
        into.put("mean", spread.mean());
        into.put("deviation", spread.deviation());
        into.put("min", spread.min());
        into.put("max", spread.max());
    }
}
