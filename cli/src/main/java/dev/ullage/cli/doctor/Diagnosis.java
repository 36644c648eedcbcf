package dev.ullage.cli.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.doctor.Finding.Level;
import java.util.List;

/** All findings of one run. Pure. */
record Diagnosis(List<Finding> findings) {
    static final int SCHEMA = 1;

    /** In the order in which one depends on another. */
    static final List<Check> CHECKS = List.of(
            new DriverCheck(),
            new NvmlCheck(),
            new CudaCheck(),
            new SmiCheck(),
            new MigCheck(),
            new MpsCheck(),
            new CgroupCheck(),
            new TorchCheck(),
            new PreloadCheck(),
            new SocketCheck(),
            new TemporaryFolderCheck());

    Diagnosis {
        findings = List.copyOf(findings);
    }

    static Diagnosis of(List<Check> checks, Machine machine) {
        return new Diagnosis(checks.stream().map(check -> check.look(machine)).toList());
    }

    Level worst() {
        return findings.stream().map(Finding::level).reduce(Level.PASS, (a, b) -> a.compareTo(b) >= 0 ? a : b);
    }

    /** 0: all is well; 1: warnings only; 2: a failure. */
    int exitCode() {
        return switch (worst()) {
            case PASS -> 0;
            case WARN -> 1;
            case FAIL -> 2;
        };
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("schema", SCHEMA);
        json.put("result", worst().label());
        ArrayNode checks = json.putArray("checks");
        for (Finding finding : findings) {
            ObjectNode one = checks.addObject();
            one.put("check", finding.check());
            one.put("result", finding.level().label());
            one.put("text", finding.text());
            one.put("remedy", finding.remedy().orElse(null));
        }
        json.putArray("errors");
        return json;
    }
}
