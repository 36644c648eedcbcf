package dev.ullage.coordinator.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.report.RunReport;
import dev.ullage.coordinator.report.RunReport.Compute;
import dev.ullage.coordinator.report.RunReport.Cost;
import dev.ullage.coordinator.report.RunReport.Loss;
import dev.ullage.coordinator.report.RunReport.Memory;
import dev.ullage.coordinator.report.RunReport.OneProcess;
import dev.ullage.coordinator.report.RunReport.PhasePeak;
import dev.ullage.coordinator.report.RunReport.Room;
import dev.ullage.coordinator.report.RunReport.Scope;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The report on a job as JSON: every field is there, null where nobody told it. Shares are 0 to 1, rates and amounts of
 * money have nine significant digits.
 */
public final class ReportJson {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final MathContext DIGITS = new MathContext(9, RoundingMode.HALF_EVEN);
    private static final double BILLION = 1e9;

    private ReportJson() {}

    /** @param now by the clock of the node that answers */
    public static ObjectNode of(JobId job, RunReport report, Instant now) {
        ObjectNode json = NODES.objectNode();
        json.put("schema", StatusJson.SCHEMA);
        json.put("time", now.toString());
        json.put("job", job.value());
        putScope(json, report.scope());
        json.set("memory", memory(report.memory()));
        json.set("compute", compute(report.compute()));
        json.set("business", business(report));
        ArrayNode processes = json.putArray("processes");
        report.processes().forEach(process -> processes.add(process(process)));
        return json;
    }

    private static void putScope(ObjectNode json, Scope scope) {
        json.put("running", scope.isRunning());
        json.put("ranks", scope.ranks());
        json.put("worldSize", number(scope.worldSize()));
        json.put("nodes", scope.nodes());
        json.put("devices", scope.devices());
        json.put("silentProcesses", scope.silent());
        json.put("leftOutProcesses", scope.leftOut());
        json.put("beganAgoMillis", scope.beganAgoMillis());
        json.put("endedAgoMillis", number(scope.endedAgoMillis()));
    }

    private static ObjectNode memory(Memory memory) {
        ObjectNode json = NODES.objectNode();
        json.put("utilisation", number(memory.utilisation()));
        json.put("fragmentation", number(memory.fragmentation()));
        json.put("highestFragmentation", number(memory.highestFragmentation()));
        json.put("allocationMicros", number(memory.allocationMicros()));
        json.put("retries", number(memory.retries()));
        json.put("refusals", number(memory.refusals()));
        ArrayNode phases = json.putArray("phases");
        for (PhasePeak peak : memory.phases()) {
            phases.addObject()
                    .put("phase", peak.phase().name())
                    .put("rank", peak.rank())
                    .put("peakBytes", bytes(peak.peak()))
                    .put("plannedBytes", bytes(peak.planned()))
                    .put("limitBytes", bytes(peak.limit()));
        }
        return json;
    }

    private static ObjectNode compute(Compute compute) {
        ObjectNode json = NODES.objectNode();
        json.put("steps", number(compute.steps()));
        json.put("stepsPerSecond", number(compute.stepsPerSecond()));
        json.put("samples", number(compute.samples()));
        json.put("samplesPerSecond", number(compute.samplesPerSecond()));
        json.put("waitShare", number(compute.waitShare()));
        json.put("turnWaitMillis", number(compute.turnWaitMillis()));
        json.put("limitWaitMillis", number(compute.limitWaitMillis()));
        json.put("flopsPerSecond", number(compute.flopsPerSecond()));
        json.put("flopsPerByte", number(compute.flopsPerByte()));
        ArrayNode phases = json.putArray("phases");
        compute.phases().forEach(phase -> phases.addObject()
                .put("phase", phase.phase().name())
                .put("millis", phase.millis())
                .put("share", rounded(phase.share())));
        return json;
    }

    private static ObjectNode business(RunReport report) {
        ObjectNode json = NODES.objectNode();
        Loss loss = report.loss();
        json.put("lossRank", number(loss.rank()));
        json.put("lossesLeftOut", loss.leftOut());
        ArrayNode points = json.putArray("loss");
        loss.points().forEach(point -> points.addObject()
                .put("step", point.step())
                .put("loss", rounded(point.billionths() / BILLION)));
        Room room = report.room();
        json.put("deviceMillis", room.deviceMillis());
        json.put("promisedByteHours", number(room.promised()));
        json.put("idleByteHours", number(room.idle()));
        json.put("neverUsedByteHours", number(room.neverUsed()));
        json.set("cost", report.cost().map(ReportJson::cost).orElse(null));
        return json;
    }

    private static ObjectNode cost(Cost cost) {
        ObjectNode json = NODES.objectNode();
        json.put("currency", cost.price().currency());
        json.put("perDeviceHour", rounded(cost.price().perDeviceHour()));
        json.put("job", number(cost.job()));
        json.put("perStep", number(cost.perStep()));
        json.put("wholeDevices", number(cost.wholeDevices()));
        json.put("idle", number(cost.idle()));
        json.put("neverUsed", number(cost.neverUsed()));
        return json;
    }

    private static ObjectNode process(OneProcess process) {
        ObjectNode json = NODES.objectNode();
        json.put("rank", process.rank());
        json.put("pid", process.pid());
        json.put("node", process.node());
        json.put("device", process.device());
        json.put("running", process.isRunning());
        json.put("peakBytes", bytes(process.peak()));
        json.put("limitBytes", bytes(process.limit()));
        json.put("utilisation", number(process.utilisation()));
        json.put("steps", number(process.steps()));
        json.put("stepsPerSecond", number(process.stepsPerSecond()));
        json.put("waitShare", number(process.waitShare()));
        return json;
    }

    private static @Nullable Long number(OptionalLong number) {
        return number.isPresent() ? (Long) number.getAsLong() : null;
    }

    private static @Nullable Integer number(OptionalInt number) {
        return number.isPresent() ? (Integer) number.getAsInt() : null;
    }

    private static @Nullable Double number(OptionalDouble number) {
        return number.isPresent() ? (Double) rounded(number.getAsDouble()) : null;
    }

    private static @Nullable Long bytes(Optional<MemoryBytes> amount) {
        return amount.map(MemoryBytes::value).orElse(null);
    }

    private static double rounded(double number) {
        return new BigDecimal(number).round(DIGITS).doubleValue();
    }
}
