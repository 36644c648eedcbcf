package dev.ullage.cli.simulate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.show.AllocationTable;
import dev.ullage.coordinator.simulation.AllocationCurve;
import dev.ullage.coordinator.simulation.PolicyResult;
import dev.ullage.coordinator.simulation.Published;
import dev.ullage.coordinator.simulation.Published.Figure;
import dev.ullage.coordinator.simulation.Spread;
import java.util.List;

/** The same results for scripts, in one line; figures in percent (docs/placement.md, "JSON"). */
final class AllocationJson {
    /** Raised when a script that read the last one could not read this one. */
    static final int SCHEMA = 1;

    private AllocationJson() {}

    static String of(List<PolicyResult> results, Published published, long firstSeed) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA);
        root.put("firstSeed", firstSeed);
        ArrayNode list = root.putArray("results");
        for (PolicyResult result : results) {
            ObjectNode node = list.addObject();
            node.put("workload", result.workload());
            node.put("policy", result.policy().label());
            node.put("seeds", result.curves().size());
            ArrayNode at = node.putArray("at");
            AllocationTable.PERCENTS.forEach(percent -> at.add(figures(result, published, percent)));
            Spread first = result.over(AllocationCurve::firstRefusal);
            if (!Double.isNaN(first.mean())) {
                node.put("firstRefusalPercent", first.mean());
            }
            node.put("refused", result.over(AllocationCurve::refused).mean());
            node.put("arrived", result.over(AllocationCurve::arrived).mean());
        }
        return root.toString();
    }

    private static ObjectNode figures(PolicyResult result, Published published, int percent) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("askedPercent", percent);
        put(node.putObject("allocated"), result.allocated(percent));
        put(node.putObject("stranded"), result.stranded(percent));
        put(node.putObject("strandedOfIdle"), result.strandedOfIdle(percent));
        for (Figure figure : Figure.values()) {
            String name =
                    switch (figure) {
                        case ALLOCATED -> "publishedAllocated";
                        case STRANDED -> "publishedStranded";
                        case STRANDED_OF_IDLE -> "publishedStrandedOfIdle";
                    };
            published.mean(result.workload(), result.policy(), figure, percent).ifPresent(mean -> node.put(name, mean));
        }
        return node;
    }

    private static void put(ObjectNode node, Spread spread) {
        node.put("mean", spread.mean());
        node.put("deviation", spread.deviation());
        node.put("min", spread.min());
        node.put("max", spread.max());
    }
}
