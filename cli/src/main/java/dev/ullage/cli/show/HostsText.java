package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Cpus;
import java.util.List;

/** What nodes have beside their devices, and what jobs of the queue asked of it, from the status document. Pure. */
final class HostsText {
    private HostsText() {}

    /** A line for each node that says it; nothing when none does. */
    static String section(JsonNode status, Terminal terminal) {
        TextTable table = new TextTable()
                .text("NODE")
                .number("CPUS")
                .number("ASKED")
                .number("HOST MEMORY")
                .number("ASKED")
                .number("AVAILABLE");
        boolean isEmpty = true;
        for (JsonNode node : status.path("nodes")) {
            JsonNode host = node.path("host");
            if (host.isObject()) {
                isEmpty = false;
                table.row(List.of(
                        Cell.of(StatusTable.text(node, "node")),
                        Cell.of(cpus(host, "cpuMilli")),
                        Cell.of(cpus(host, "askedCpuMilli")),
                        Cell.of(StatusTable.size(host, "memoryBytes")),
                        Cell.of(StatusTable.size(host, "askedMemoryBytes")),
                        Cell.of(StatusTable.size(host, "availableBytes"))));
            }
        }
        String heading = "HOSTS (asked by jobs of the queue; advisory: nothing holds them to it)";
        return isEmpty ? "" : "\n" + Style.HEADING.apply(heading, terminal) + "\n" + table.render(terminal);
    }

    private static String cpus(JsonNode host, String field) {
        JsonNode milli = host.path(field);
        return milli.isIntegralNumber() && milli.canConvertToLong()
                ? Cpus.text(milli.longValue())
                : StatusTable.UNKNOWN;
    }
}
