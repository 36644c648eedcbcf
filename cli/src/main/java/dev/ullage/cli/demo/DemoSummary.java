package dev.ullage.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.demo.DemoRanks.Ended;
import dev.ullage.cli.demo.DemoRun.ChangeSeen;
import dev.ullage.cli.demo.DemoRun.Outcome;
import dev.ullage.cli.demo.DemoWatch.DeviceSeen;
import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** What the demo has shown, and whether every claim of it held. Pure. */
final class DemoSummary {
    private static final int SCHEMA = 1;
    private static final int CHANGES_WANTED = 20;

    private final Outcome outcome;
    private final String trainer;
    private final Duration duration;

    /** One claim. */
    record Check(String name, boolean passed, String detail) {}

    DemoSummary(Outcome outcome, String trainer, Duration duration) {
        this.outcome = outcome;
        this.trainer = trainer;
        this.duration = duration;
    }

    boolean passed() {
        return checks().stream().allMatch(Check::passed);
    }

    List<Check> checks() {
        long overCommits = sum(DeviceSeen::overCommits);
        long confirmed = sum(DeviceSeen::confirmed);
        long shared =
                devices().stream().filter(device -> device.mostRanks() > 1).count();
        List<Check> checks = new ArrayList<>();
        checks.add(new Check("no device was ever over-committed", overCommits == 0, overCommits + " over-commits"));
        checks.add(new Check(
                "limits were confirmed", confirmed >= CHANGES_WANTED, confirmed + " of at least " + CHANGES_WANTED));
        checks.add(new Check(
                "two ranks shared a device", shared > 0, Counts.of(shared, "device") + " with more than one rank"));
        long unconfirmed = outcome.changes().stream()
                .filter(change -> change.millis().isEmpty())
                .count();
        checks.add(new Check(
                "every change reached its ranks",
                unconfirmed == 0,
                unconfirmed + " of " + Counts.of(outcome.changes().size(), "change") + " unconfirmed"));
        checks.add(rankCheck("every rank trained and ended well", rank -> rank.exitCode() == 0));
        checks.add(rankCheck("every rank entered every phase of a step", DemoSummary::enteredAllPhases));
        checks.add(rankCheck("no rank went above its limit", rank -> number(rank, "mostOverLimitBytes") == 0));
        checks.add(new Check(
                "nothing was left behind", outcome.allFreed(), outcome.allFreed() ? "all free" : "grants left"));
        return checks;
    }

    private interface RankClaim {
        boolean holds(Ended rank);
    }

    private Check rankCheck(String name, RankClaim claim) {
        List<String> failed = outcome.ranks().stream()
                .filter(rank -> !claim.holds(rank))
                .map(rank -> "rank " + rank.rank() + " (exit code " + rank.exitCode()
                        + (rank.complaint().isEmpty() ? "" : ", " + rank.complaint()) + ")")
                .toList();
        return new Check(
                name,
                failed.isEmpty() && outcome.ranks().size() >= DemoRun.RANKS,
                failed.isEmpty() ? Counts.of(outcome.ranks().size(), "rank") : String.join("; ", failed));
    }

    private static boolean enteredAllPhases(Ended rank) {
        JsonNode phases = rank.report().map(report -> report.path("phases")).orElse(null);
        return phases != null
                && phases.path("FORWARD").asLong() > 0
                && phases.path("BACKWARD").asLong() > 0
                && phases.path("OPTIMIZER").asLong() > 0;
    }

    /** A number of a rank's report; -1 when it said none, which no claim accepts. */
    private static long number(Ended rank, String field) {
        return rank.report()
                .map(report -> report.path(field))
                .filter(JsonNode::isIntegralNumber)
                .map(JsonNode::asLong)
                .orElse(-1L);
    }

    private List<DeviceSeen> devices() {
        return outcome.watch().devices();
    }

    private long sum(ToLongFunction<DeviceSeen> what) {
        return devices().stream().mapToLong(what).sum();
    }

    private Map<String, Long> phases() {
        Map<String, Long> phases = new TreeMap<>();
        for (Ended rank : outcome.ranks()) {
            JsonNode counts =
                    rank.report().map(report -> report.path("phases")).orElse(new ObjectMapper().createObjectNode());
            for (Map.Entry<String, JsonNode> phase : counts.properties()) {
                phases.merge(phase.getKey(), phase.getValue().asLong(), Long::sum);
            }
        }
        return phases;
    }

    private List<Long> millis() {
        return outcome.changes().stream()
                .map(ChangeSeen::millis)
                .flatMap(Optional::stream)
                .sorted()
                .toList();
    }

    private static Optional<Long> median(List<Long> sorted) {
        return sorted.isEmpty() ? Optional.empty() : Optional.of(sorted.get((sorted.size() - 1) / 2));
    }

    private static Optional<Long> max(List<Long> sorted) {
        return sorted.isEmpty() ? Optional.empty() : Optional.of(sorted.get(sorted.size() - 1));
    }

    ObjectNode json() {
        ObjectNode json = new ObjectMapper().createObjectNode();
        json.put("schema", SCHEMA)
                .put("passed", passed())
                .put("ranks", outcome.ranks().size())
                .put("trainer", trainer)
                .put("durationSeconds", duration.toSeconds())
                .put("overCommits", sum(DeviceSeen::overCommits));
        json.putObject("limits")
                .put("sent", sum(DeviceSeen::sent))
                .put("confirmed", sum(DeviceSeen::confirmed))
                .put("repeated", sum(DeviceSeen::repeated))
                .put("refused", sum(DeviceSeen::refused));
        json.put(
                "allocatorRefusals",
                outcome.ranks().stream()
                        .mapToLong(rank -> Math.max(0, number(rank, "refusals")))
                        .sum());
        ObjectNode phases = json.putObject("phases");
        phases().forEach(phases::put);
        ObjectNode change = json.putObject("changeMillis");
        change.put("median", median(millis()).orElse(null))
                .put("max", max(millis()).orElse(null));
        addChanges(json.putArray("changes"));
        addDevices(json.putArray("devices"));
        ArrayNode checks = json.putArray("checks");
        checks().forEach(check -> checks.addObject()
                .put("name", check.name())
                .put("passed", check.passed())
                .put("detail", check.detail()));
        return json;
    }

    private void addChanges(ArrayNode changes) {
        for (ChangeSeen seen : outcome.changes()) {
            changes.addObject()
                    .put("what", seen.change().what())
                    .put("ranks", seen.ranks())
                    .put("millis", seen.millis().orElse(null));
        }
    }

    private void addDevices(ArrayNode array) {
        for (DeviceSeen device : devices()) {
            array.addObject()
                    .put("node", device.node())
                    .put("index", device.index())
                    .put("uuid", device.uuid())
                    .put("ranks", device.mostRanks())
                    .put("highestPromisedBytes", device.highestPromised())
                    .put("budgetBytes", device.highestBudget())
                    .put("overCommits", device.overCommits());
        }
    }

    void print(PrintWriter out) {
        List<Long> millis = millis();
        out.printf(
                "%nUllage demo: %s trained (%s) for %d s on 8 simulated GPUs of 2 nodes%n",
                Counts.of(outcome.ranks().size(), "rank"), trainer, duration.toSeconds());
        out.printf(
                "  limits        %d sent, %d confirmed, %d repeated, %d refused until there was room%n",
                sum(DeviceSeen::sent), sum(DeviceSeen::confirmed), sum(DeviceSeen::repeated), sum(DeviceSeen::refused));
        out.printf(
                "  changes       %d, from request to last confirmation: median %s ms, maximum %s ms%n",
                outcome.changes().size(),
                median(millis).map(String::valueOf).orElse("-"),
                max(millis).map(String::valueOf).orElse("-"));
        out.printf("  phases        %s%n", phases());
        out.println("  highest sum of limits against budget:");
        for (DeviceSeen device : devices()) {
            out.printf(
                    "    %-7s GPU %d  %9s of %9s  (%d %s)%n",
                    device.node(),
                    device.index(),
                    MemoryBytes.of(device.highestPromised()),
                    MemoryBytes.of(device.highestBudget()),
                    device.mostRanks(),
                    device.mostRanks() == 1 ? "rank" : "ranks");
        }
        for (Check check : checks()) {
            out.printf("  %s  %s: %s%n", check.passed() ? "ok  " : "FAIL", check.name(), check.detail());
        }
        out.flush();
    }
}
