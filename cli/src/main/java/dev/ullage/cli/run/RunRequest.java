package dev.ullage.cli.run;

import dev.ullage.common.model.Counts;
import dev.ullage.common.model.MemoryBytes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a command line asks the queue for: what file and options say, and for the rest what its launcher does. Pure.
 *
 * @param fields by the names of the API
 * @param problems why it cannot be asked for
 */
record RunRequest(Map<String, Object> fields, List<String> problems) {
    private static final String RANKS = "ranks";
    private static final String GROUPS = "groups";
    private static final String MEMORY = "memoryPerRank";
    private static final String PER_DEVICE = "ranksPerDevice";
    private static final String NODE = "node";
    private static final String WHOLE = "100%";

    RunRequest {
        fields = new LinkedHashMap<>(fields);
        problems = List.copyOf(problems);
    }

    /**
     * @param said by file and options
     * @param terms of {@code ullage run} itself
     * @param here this host's node: its launchers start their ranks on it
     */
    static RunRequest of(Map<String, Object> said, LaunchRequest request, RunTerms terms, String here) {
        Map<String, Object> fields = new LinkedHashMap<>(said);
        List<String> problems = new ArrayList<>(request.problems());
        String launcher = request.launcher().label();
        boolean isHere = request.size().isOneHost() || request.launcher() == Launcher.UNKNOWN;
        if (!isHere) {
            problems.add(
                    launcher + " is told to start ranks on other hosts too: room for these is asked for with the API"
                            + " (docs/queue.md), not with ullage run");
        }
        ranks(fields, request, terms, problems);
        if (terms.ranksPerDevice() > 1) {
            fields.putIfAbsent(PER_DEVICE, terms.ranksPerDevice());
        }
        boolean shareDevices = !Integer.valueOf(1).equals(fields.getOrDefault(PER_DEVICE, 1));
        if (fields.containsKey(GROUPS) && shareDevices) {
            problems.add("groups: a launcher cannot put ranks that need different amounts on shared devices");
        }
        if (fields.containsKey(GROUPS) && request.launcher() == Launcher.DEEPSPEED) {
            problems.add(
                    "groups: deepspeed gives its ranks the devices in ascending order, whatever each needs: ask for"
                            + " the most of them for all");
        }
        int onOne = fields.get(PER_DEVICE) instanceof Integer perDevice ? perDevice : 1;
        boolean isOneInstance = asked(fields).orElse(1) <= onOne;
        if (fields.containsKey("mig") && !isOneInstance) {
            OwnInstances.refusal(request).ifPresent(why -> problems.add("mig: " + why));
        }
        if (!here.equals(fields.getOrDefault(NODE, here))) {
            problems.add("node = %s: %s starts its ranks on this host, which is node %s"
                    .formatted(fields.get(NODE), launcher, here));
        }
        fields.put(NODE, here);
        return new RunRequest(fields, problems);
    }

    private static void ranks(
            Map<String, Object> fields, LaunchRequest request, RunTerms terms, List<String> problems) {
        OptionalInt started =
                terms.ranks().isPresent() ? terms.ranks() : request.size().ranks();
        OptionalInt asked = asked(fields);
        if (started.isPresent() && asked.isPresent() && started.getAsInt() != asked.getAsInt()) {
            problems.add("room is asked for %s, and %s starts %d"
                    .formatted(
                            Counts.of(asked.getAsInt(), "rank"),
                            request.launcher().label(),
                            started.getAsInt()));
        }
        if (fields.containsKey(GROUPS)) {
            return;
        }
        if (started.isEmpty()
                && !fields.containsKey(RANKS)
                && !request.command().isEmpty()) {
            problems.add("how many ranks there will be cannot be told: say --ranks");
        }
        // A command that is missing may be the one that says it; any number will do to look at the rest.
        OptionalInt count = request.command().isEmpty() ? OptionalInt.of(started.orElse(1)) : started;
        count.ifPresent(ranks -> fields.putIfAbsent(RANKS, ranks));
        fields.putIfAbsent(
                MEMORY,
                terms.memory()
                        .map(MemoryBytes::value)
                        .map(bytes -> Long.toString(bytes))
                        .orElse(WHOLE));
    }

    /** How many ranks file and options speak of; empty when they do not, or not in numbers. */
    static OptionalInt asked(Map<String, Object> fields) {
        if (fields.get(RANKS) instanceof Integer count) {
            return OptionalInt.of(count);
        }
        if (!(fields.get(GROUPS) instanceof List<?> groups)) {
            return OptionalInt.empty();
        }
        int sum = 0;
        for (Object group : groups) {
            Optional<Object> count =
                    group instanceof Map<?, ?> map ? Optional.ofNullable(map.get(RANKS)) : Optional.empty();
            if (!(count.orElse("") instanceof Integer number)) {
                return OptionalInt.empty();
            }
            sum += number;
        }
        return OptionalInt.of(sum);
    }
}
