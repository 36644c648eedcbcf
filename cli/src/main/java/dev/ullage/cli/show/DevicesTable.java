package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Counts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The document of {@code ullage devices} as tables: where from, devices, processes, and whatever is wrong. Pure. */
public final class DevicesTable {
    private DevicesTable() {}

    public static String render(JsonNode document, Terminal terminal) {
        StringBuilder text = new StringBuilder();
        for (JsonNode source : document.path("sources")) {
            source(text, document, source, terminal);
        }
        return text.toString();
    }

    private static void source(StringBuilder text, JsonNode document, JsonNode source, Terminal terminal) {
        String name = StatusTable.text(source, "source");
        JsonNode driver = source.path("driverVersion");
        text.append(text.isEmpty() ? "" : "\n")
                .append(Style.HEADING.apply(name, terminal))
                .append(driver.isTextual() ? "  driver " + StatusTable.clean(driver.textValue()) : "")
                .append('\n');
        List<JsonNode> devices = new ArrayList<>();
        document.path("devices").forEach(device -> {
            if (device.path("source").equals(source.path("source"))) {
                devices.add(device);
            }
        });
        text.append(devices.isEmpty() ? "no devices\n" : devices(devices).render(terminal));
        processes(text, devices, terminal);
        contexts(text, devices);
        problems(text, devices, source, terminal);
    }

    private static TextTable devices(List<JsonNode> devices) {
        TextTable table = new TextTable()
                .number("INDEX")
                .text("UUID", 3)
                .text("NAME")
                .text("KIND")
                .text("PCI", 1)
                .number("TOTAL")
                .number("RESERVED", 4)
                .number("ALLOCATABLE", 5)
                .number("USED")
                .number("FREE")
                .number("PROCESSES", 2)
                .number("UNLISTED", 6);
        for (JsonNode device : devices) {
            JsonNode processes = device.path("processes");
            table.row(List.of(
                    Cell.of(StatusTable.text(device, "index")),
                    Cell.of(StatusTable.text(device, "uuid")),
                    Cell.of(StatusTable.text(device, "name")),
                    Cell.of(StatusTable.text(device, "kind")),
                    Cell.of(StatusTable.text(device, "pciBusId")),
                    Cell.of(StatusTable.size(device, "totalBytes")),
                    Cell.of(StatusTable.size(device, "reservedBytes")),
                    Cell.of(StatusTable.size(device, "allocatableBytes")),
                    Cell.of(StatusTable.size(device, "usedBytes")),
                    Cell.of(StatusTable.size(device, "freeBytes")),
                    Cell.of(processes.isArray() ? Integer.toString(processes.size()) : StatusTable.UNKNOWN),
                    Cell.of(StatusTable.size(device, "unlistedBytes"))));
        }
        return table;
    }

    private static void processes(StringBuilder text, List<JsonNode> devices, Terminal terminal) {
        TextTable table =
                new TextTable().text("DEVICE").number("PID").number("USED").shortenable("PROCESS", 20);
        boolean isEmpty = true;
        for (JsonNode device : devices) {
            for (JsonNode process : device.path("processes")) {
                isEmpty = false;
                table.row(List.of(
                        Cell.of(who(device)),
                        Cell.of(StatusTable.text(process, "pid")),
                        Cell.of(StatusTable.size(process, "usedBytes")),
                        Cell.of(StatusTable.text(process, "name"))));
            }
        }
        text.append(isEmpty ? "" : "\n" + table.render(terminal));
    }

    private static void contexts(StringBuilder text, List<JsonNode> devices) {
        for (JsonNode device : devices) {
            if (device.has("contextHow")) {
                text.append("\ndevice ")
                        .append(who(device))
                        .append(": a CUDA context costs ")
                        .append(StatusTable.size(device, "contextBytes"))
                        .append(" (")
                        .append(StatusTable.clean(device.path("contextHow").asText()))
                        .append(")\n");
            }
        }
    }

    private static void problems(StringBuilder text, List<JsonNode> devices, JsonNode source, Terminal terminal) {
        List<String> problems = new ArrayList<>();
        source.path("problems").forEach(problem -> problems.add(StatusTable.clean(problem.asText())));
        Map<String, List<String>> devicesOf = new LinkedHashMap<>();
        for (JsonNode device : devices) {
            device.path("problems").forEach(problem -> devicesOf
                    .computeIfAbsent(StatusTable.clean(problem.asText()), said -> new ArrayList<>())
                    .add(who(device)));
        }
        // What a recording does not have, it has for none of its devices.
        devicesOf.forEach((problem, names) -> {
            if (names.size() > 1 && names.size() == devices.size()) {
                problems.add("all " + Counts.of(names.size(), "device") + ": " + problem);
            } else {
                names.forEach(name -> problems.add("device " + name + ": " + problem));
            }
        });
        if (!problems.isEmpty()) {
            text.append('\n').append(Style.HEADING.apply("PROBLEMS", terminal)).append('\n');
            problems.forEach(problem ->
                    text.append(Style.NOTICE.apply(problem, terminal)).append('\n'));
        }
    }

    /** The index, except for those that have none of their own. */
    private static String who(JsonNode device) {
        boolean hasIndex = device.path("index").isIntegralNumber()
                && !device.path("kind").asText().equals("mig");
        if (hasIndex) {
            return StatusTable.text(device, "index");
        }
        return StatusTable.text(device, device.path("uuid").isTextual() ? "uuid" : "name");
    }
}
