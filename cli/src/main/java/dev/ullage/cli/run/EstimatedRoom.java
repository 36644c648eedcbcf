package dev.ullage.cli.run;

import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What an estimate asks the queue for, where nobody says an amount. Pure.
 *
 * <p>Each rank asks for the highest upper end of its pipeline stage, in whole MiB, rounded up: it is the most that the
 * policy <em>planned</em> ever lets it have before it was measured, so a rank that keeps to its estimate never waits
 * for memory. Stages that need different amounts become groups.
 *
 * @param fields what is asked for, by the API's names: those that were said, and what the estimate adds
 * @param problems why it cannot be asked for
 * @param warnings what somebody should know of
 */
record EstimatedRoom(Map<String, Object> fields, List<String> problems, List<String> warnings) {
    private static final String RANKS = "ranks";
    private static final String GROUPS = "groups";
    private static final String MEMORY = "memoryPerRank";
    private static final String PER_DEVICE = "ranksPerDevice";

    EstimatedRoom {
        fields = new LinkedHashMap<>(fields);
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
    }

    /** Some ranks in the order of their numbers. */
    private record Part(int ranks, MemoryBytes each) {}

    /** @param said by job file and options */
    static EstimatedRoom of(JobEstimate estimate, Map<String, Object> said, LaunchRequest request, RunTerms terms) {
        Map<String, Object> fields = new LinkedHashMap<>(said);
        List<String> problems = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        estimate.assumptions().forEach(line -> warnings.add("estimate: " + line));
        OptionalInt started = started(said, request, terms);
        if (started.isPresent() && started.getAsInt() != estimate.ranks()) {
            problems.add(EstimateChecks.otherCount(estimate, request, started.getAsInt()));
            return new EstimatedRoom(fields, problems, warnings);
        }
        if (said.containsKey(MEMORY)
                || said.containsKey(GROUPS)
                || terms.memory().isPresent()) {
            if (!said.containsKey(GROUPS)) {
                fields.putIfAbsent(RANKS, estimate.ranks());
            }
            tooLittle(estimate, said, terms).ifPresent(warnings::add);
        } else if (estimate.stages().stream().allMatch(PlannedNeeds::wholeProcess)) {
            boolean isOneForAll = perDevice(said, terms) > 1 || request.launcher() == Launcher.DEEPSPEED;
            ask(parts(estimate, isOneForAll), fields, problems);
        } else {
            problems.add("the estimate is of what PyTorch's allocator reserves (\"measure\": \"reserved\"), and what a"
                    + " process uses beside it is not known before it runs: estimate with \"measure\": \"device\", or"
                    + " say --memory-per-rank");
        }
        return new EstimatedRoom(fields, problems, warnings);
    }

    private static OptionalInt started(Map<String, Object> said, LaunchRequest request, RunTerms terms) {
        OptionalInt launched =
                terms.ranks().isPresent() ? terms.ranks() : request.size().ranks();
        return launched.isPresent() ? launched : RunRequest.asked(said);
    }

    private static int perDevice(Map<String, Object> said, RunTerms terms) {
        return said.get(PER_DEVICE) instanceof Integer count ? count : terms.ranksPerDevice();
    }

    /**
     * Launchers deal ranks out over shared devices in turn, so there any two stages may meet, and deepspeed takes
     * devices in ascending order, whatever is reserved on which: then all ask for the most.
     */
    private static List<Part> parts(JobEstimate estimate, boolean isOneForAll) {
        List<Part> parts = new ArrayList<>();
        int each = estimate.ranks() / estimate.stages().size();
        for (PlannedNeeds stage : estimate.stages()) {
            MemoryBytes need = stage.highest().upper().roundedUpTo(MemoryBytes.ofMebibytes(1));
            Part last = parts.isEmpty() ? new Part(0, need) : parts.remove(parts.size() - 1);
            if (isOneForAll || last.each().equals(need)) {
                parts.add(new Part(last.ranks() + each, last.each().max(need)));
            } else {
                parts.add(last);
                parts.add(new Part(each, need));
            }
        }
        return parts;
    }

    private static void ask(List<Part> parts, Map<String, Object> fields, List<String> problems) {
        if (parts.size() > JobRequest.MAX_GROUPS) {
            problems.add("the estimate has %d runs of ranks that need different amounts, and a request at most %d: say"
                            .formatted(parts.size(), JobRequest.MAX_GROUPS)
                    + " --memory-per-rank");
            return;
        }
        List<Map<String, Object>> groups = parts.stream()
                .map(part -> Map.<String, Object>of(RANKS, part.ranks(), MEMORY, text(part.each())))
                .toList();
        if (groups.size() == 1) {
            fields.putAll(groups.get(0));
        } else {
            fields.remove(RANKS);
            fields.put(GROUPS, groups);
        }
    }

    private static String text(MemoryBytes amount) {
        return amount.value() / MemoryBytes.MEBIBYTE + "MiB";
    }

    /** The first rank for which less was asked than it may need, where an amount was said. */
    private static Optional<String> tooLittle(JobEstimate estimate, Map<String, Object> said, RunTerms terms) {
        List<Optional<MemoryBytes>> amounts = amounts(estimate, said, terms);
        for (int rank = 0; rank < Math.min(estimate.ranks(), amounts.size()); rank++) {
            Need need = estimate.of(rank).highest();
            Optional<MemoryBytes> less = amounts.get(rank).filter(need.upper()::isMoreThan);
            if (less.isPresent()) {
                return Optional.of("room for %s is asked for rank %d, which is estimated at %s, at most %s (stage %d)"
                        .formatted(
                                less.get(),
                                rank,
                                need.point(),
                                need.upper(),
                                estimate.of(rank).stage()));
            }
        }
        return Optional.empty();
    }

    /** By rank; empty for a share of a device, and for what is no amount. */
    private static List<Optional<MemoryBytes>> amounts(JobEstimate estimate, Map<String, Object> said, RunTerms terms) {
        if (!(said.get(GROUPS) instanceof List<?> groups)) {
            Optional<MemoryBytes> each = said.containsKey(MEMORY) ? amount(said.get(MEMORY)) : terms.memory();
            return Collections.nCopies(estimate.ranks(), each);
        }
        List<Optional<MemoryBytes>> amounts = new ArrayList<>();
        for (Object group : groups) {
            if (group instanceof Map<?, ?> map && map.get(RANKS) instanceof Integer count && count > 0) {
                int few = Math.min(count, estimate.ranks() - amounts.size());
                amounts.addAll(Collections.nCopies(few, amount(map.get(MEMORY))));
            }
        }
        return amounts;
    }

    private static Optional<MemoryBytes> amount(@Nullable Object value) {
        try {
            return value instanceof String text && !text.contains("%")
                    ? Optional.of(MemorySizes.parse(text))
                    : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // Said where the request is read.
        }
    }
}
