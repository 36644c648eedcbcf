package dev.ullage.cli.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Requests as users write them, and clusters to hold them against. */
final class Clusters {
    static final JsonMapper JSON = new JsonMapper();
    static final String NODE = "host-a";

    private Clusters() {}

    /** A status with one host of so many idle 80 GiB devices, reserve 20 %. */
    static ObjectNode status(int devices) {
        ObjectNode status = JSON.createObjectNode().put("schema", 1);
        host(status.putArray("nodes"), NODE, devices);
        return status;
    }

    static void host(ArrayNode nodes, String name, int devices) {
        ArrayNode list = nodes.addObject().put("node", name).putArray("devices");
        for (int i = 0; i < devices; i++) {
            list.addObject()
                    .put("uuid", "GPU-" + name + "-" + i)
                    .put("index", i)
                    .put("name", "H100-80G")
                    .put("kind", "discrete")
                    .put("allocatableBytes", 80 * MemoryBytes.GIBIBYTE)
                    .put("reserveBasisPoints", 2000)
                    .put("foreignBytes", 0)
                    .put("ceilingBytes", 0)
                    .putArray("ranks");
        }
    }

    static RunTerms terms(Map<String, String> variables) {
        return terms(variables, 1, OptionalInt.empty(), Optional.empty());
    }

    static RunTerms terms(
            Map<String, String> variables, int perDevice, OptionalInt gpus, Optional<MemoryBytes> memory) {
        return new RunTerms(
                OptionalInt.empty(),
                perDevice,
                gpus,
                memory,
                Optional.ofNullable(variables.get("CUDA_VISIBLE_DEVICES")),
                Optional.ofNullable(variables.get("CUDA_DEVICE_ORDER")));
    }

    static RunChecks.Verdict check(JsonNode status, RunTerms terms, List<String> command) {
        ClusterDevices cluster = ClusterDevices.of(status);
        return RunChecks.check(LauncherArguments.read(command, Map.of()), terms, cluster, cluster.here(NODE));
    }

    static RunPlan plan(JsonNode status, RunTerms terms, List<String> command) {
        return RunPlan.of(
                LauncherArguments.read(command, Map.of()),
                terms,
                check(status, terms, command),
                new RunPlan.Surroundings(
                        Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), "python3", false),
                Map.of());
    }
}
