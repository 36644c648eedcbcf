package dev.ullage.cli.show;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.show.TextTable.Cell;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.config.PlanSettings;
import dev.ullage.coordinator.planning.DryRun;
import dev.ullage.coordinator.planning.DryRun.DeviceShares;
import dev.ullage.coordinator.planning.DryRun.RankLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** A plan for no cluster, for people and for scripts. */
public final class PlanReport {
    /** Raised when a script that read the last one could not read this one. */
    private static final int SCHEMA = 1;

    /** Those of a step. */
    private static final List<Phase> PHASES = List.of(Phase.INIT, Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER);

    private final PlanSettings plan;
    private final List<DeviceShares> devices;

    private PlanReport(PlanSettings plan, List<DeviceShares> devices) {
        this.plan = plan;
        this.devices = devices;
    }

    public static PlanReport of(PlanSettings plan) {
        return new PlanReport(plan, DryRun.of(plan));
    }

    /** @param planned what each rank was estimated to need, by its number */
    public static PlanReport of(PlanSettings plan, IntFunction<PlannedNeeds> planned) {
        return new PlanReport(plan, DryRun.of(plan, rank -> Optional.of(planned.apply(rank))));
    }

    /** Whether a coordinator would carry the plan out. */
    public boolean isUsable() {
        return devices.stream().flatMap(device -> device.ranks().stream()).allMatch(rank -> rank.problem()
                .isEmpty());
    }

    public String table(Terminal terminal) {
        TextTable table = new TextTable()
                .text("DEVICE")
                .number("RANK")
                .text("PRIORITY", 1)
                .number("LIMIT")
                .number("BYTES", 2);
        if (differsByPhase()) {
            PHASES.forEach(phase -> table.number("IN " + phase, 4));
        }
        table.text("WHY", 3);
        for (DeviceShares device : devices) {
            device.ranks().forEach(rank -> table.row(row(device, rank)));
        }
        return summary() + "\n\n" + table.render(terminal);
    }

    private String summary() {
        int ranks = devices.stream().mapToInt(device -> device.ranks().size()).sum();
        String elsewhere = ranks < plan.size() ? ", " + (plan.size() - ranks) + " more elsewhere" : "";
        return "policy %s, reserve %s, %s on %s%s"
                .formatted(
                        plan.limits().policies().anyJob().policy(),
                        plan.limits().reserve(),
                        Counts.of(ranks, "rank"),
                        Counts.of(devices.size(), "device"),
                        elsewhere);
    }

    private List<Cell> row(DeviceShares device, RankLine rank) {
        String why =
                rank.problem().map(problem -> rank.reason() + "; " + problem).orElse(rank.reason());
        List<Cell> cells = new ArrayList<>(List.of(
                Cell.of("%d (%s)".formatted(device.index(), device.terms().allocatable())),
                Cell.of(String.valueOf(rank.rank())),
                Cell.of(rank.priority().label()),
                Cell.of(rank.limit().value() / MemoryBytes.MEBIBYTE + " MiB"),
                Cell.of(String.valueOf(rank.limit().value()))));
        if (differsByPhase()) {
            PHASES.forEach(
                    phase -> cells.add(Cell.of(rank.limits().in(phase).value() / MemoryBytes.MEBIBYTE + " MiB")));
        }
        cells.add(rank.problem().isEmpty() ? Cell.of(why) : new Cell(why, Style.ALARM));
        return cells;
    }

    private boolean differsByPhase() {
        return devices.stream().flatMap(device -> device.ranks().stream()).anyMatch(rank -> !rank.limits()
                .equals(PhaseLimits.uniform(rank.limit())));
    }

    /** One line; amounts in bytes, shares in basis points. */
    public String json() {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("schema", SCHEMA);
        root.put("policy", plan.limits().policies().anyJob().policy().label());
        root.put("reserveBasisPoints", plan.limits().reserve().basisPoints());
        root.put("size", plan.size());
        root.put("usable", isUsable());
        ArrayNode list = root.putArray("devices");
        for (DeviceShares device : devices) {
            ObjectNode node = list.addObject();
            node.put("index", device.index());
            node.put("allocatable", device.terms().allocatable().value());
            node.put("budget", device.terms().budget().value());
            ArrayNode ranks = node.putArray("ranks");
            device.ranks().forEach(rank -> ranks.add(json(rank)));
        }
        return root.toString();
    }

    private static ObjectNode json(RankLine rank) {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("rank", rank.rank());
        node.put("priority", rank.priority().label());
        node.put("limit", rank.limit().value());
        ObjectNode limits = node.putObject("limits");
        for (Phase phase : Phase.values()) {
            limits.put(phase.name(), rank.limits().in(phase).value());
        }
        node.put("explanation", rank.reason());
        rank.problem().ifPresent(problem -> node.put("problem", problem));
        return node;
    }
}
