package dev.ullage.coordinator.admission;

import dev.ullage.common.model.Cpus;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.JobRequest.Wanted;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MemorySizes;
import dev.ullage.common.model.Nearest;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import dev.ullage.config.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request from named values, as they stand in a request body, a job file or a command line: all that is wrong
 * with it at once, each with field, value and rule. Pure.
 *
 * <p>Zero is none: no ranks need no device, and wait for none. What is left out is never everything: ranks and memory
 * must be said.
 */
public final class RequestReader {
    /** All there are. */
    public static final SortedSet<String> FIELDS = new TreeSet<>(List.of(
            "ranks",
            "memoryPerRank",
            "groups",
            "ranksPerDevice",
            "priority",
            "extent",
            "node",
            "model",
            "mig",
            "hostMemory",
            "cpus",
            "runsFor"));

    private static final SortedSet<String> GROUP_FIELDS = new TreeSet<>(List.of("ranks", "memoryPerRank"));
    private static final Function<String, Duration> RUNS_FOR =
            Durations.parser(Duration.ofSeconds(1), Duration.ofHours(10_000));
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(1 << 20);

    private final Map<String, ?> values;
    private final List<String> problems = new ArrayList<>();

    private RequestReader(Map<String, ?> values) {
        this.values = values;
    }

    /**
     * What came of it.
     *
     * @param request empty exactly when there are problems
     */
    public record Reading(Optional<JobRequest> request, List<String> problems) {
        public Reading {
            problems = List.copyOf(problems);
        }
    }

    /** @param values by {@link #FIELDS}: texts, numbers, lists and maps of these; null is the same as left out */
    public static Reading read(JobId job, String submitter, Map<String, ?> values) {
        return new RequestReader(values).read(job, submitter);
    }

    private Reading read(JobId job, String submitter) {
        requireKnown(values, FIELDS);
        List<RankGroup> groups = values.get("groups") == null ? oneGroup() : groups();
        int ranksPerDevice = wholeNumber(
                        "ranksPerDevice", values.get("ranksPerDevice"), 1, JobRequest.MAX_RANKS_PER_DEVICE)
                .orElse(1);
        Priority priority = text("priority", RequestReader::priority).orElse(Priority.MEDIUM);
        Wanted wanted = new Wanted(
                text("extent", RequestReader::extent).orElse(Extent.FEW_NODES),
                text("node", NodeId::new),
                text("model", RequestReader::name),
                text("mig", RequestReader::name),
                new HostNeed(text("hostMemory", RequestReader::positive), cpuMilli()));
        Optional<Duration> runsFor = text("runsFor", RUNS_FOR);
        OptionalLong millis =
                runsFor.isPresent() ? OptionalLong.of(runsFor.get().toMillis()) : OptionalLong.empty();
        if (!problems.isEmpty()) {
            return new Reading(Optional.empty(), problems);
        }
        try {
            JobRequest request = new JobRequest(job, submitter, priority, groups, ranksPerDevice, wanted, millis);
            return request.contradiction()
                    .map(why -> new Reading(Optional.empty(), List.of(why)))
                    .orElseGet(() -> new Reading(Optional.of(request), List.of()));
        } catch (IllegalArgumentException e) {
            return new Reading(Optional.empty(), List.of(String.valueOf(e.getMessage())));
        }
    }

    private List<RankGroup> oneGroup() {
        return group("", values).map(List::of).orElse(List.of());
    }

    private List<RankGroup> groups() {
        if (values.get("ranks") != null || values.get("memoryPerRank") != null) {
            problems.add("groups: it takes the place of ranks and memoryPerRank: leave these out");
        }
        if (!(values.get("groups") instanceof List<?> list) || list.size() > JobRequest.MAX_GROUPS) {
            note("groups", values.get("groups"), "must be a list of at most " + JobRequest.MAX_GROUPS);
            return List.of();
        }
        List<RankGroup> groups = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            String where = "groups[" + i + "].";
            if (list.get(i) instanceof Map<?, ?> map) {
                requireKnown(map, GROUP_FIELDS);
                group(where, map).ifPresent(groups::add);
            } else {
                note("groups[" + i + "]", list.get(i), "must have ranks and memoryPerRank");
            }
        }
        return groups;
    }

    /** Empty when it has no ranks, or a problem was noted. */
    private Optional<RankGroup> group(String where, Map<?, ?> map) {
        OptionalInt ranks = wholeNumber(where + "ranks", map.get("ranks"), 0, JobRequest.MAX_RANKS);
        if (map.get("ranks") == null) {
            problems.add(where + "ranks: must be set; 0 is none");
        }
        if (ranks.isEmpty() || ranks.getAsInt() == 0) {
            return Optional.empty();
        }
        Object memory = map.get("memoryPerRank");
        if (!(memory instanceof String text)) {
            note(
                    where + "memoryPerRank",
                    memory,
                    "must be set to an amount as in \"20GiB\", or a share of a device as"
                            + " in \"50%\"; \"100%\" is a whole device");
            return Optional.empty();
        }
        int count = ranks.getAsInt();
        return text.contains("%")
                ? parsed(where + "memoryPerRank", text, Shares::parse)
                        .filter(share -> more(where, text, share.equals(Share.NONE)))
                        .map(share -> RankGroup.ofShare(count, share))
                : parsed(where + "memoryPerRank", text, RequestReader::memory)
                        .filter(bytes -> more(where, text, bytes.isZero()))
                        .map(bytes -> RankGroup.ofMemory(count, bytes));
    }

    private boolean more(String where, String text, boolean isZero) {
        if (isZero) {
            note(where + "memoryPerRank", text, "is none: a job that needs no device memory has 0 ranks here");
        }
        return !isZero;
    }

    private OptionalInt cpuMilli() {
        Object value = values.get("cpus");
        if (value == null) {
            return OptionalInt.empty();
        }
        try {
            return OptionalInt.of(Cpus.parse(String.valueOf(value)));
        } catch (IllegalArgumentException e) {
            note("cpus", value, String.valueOf(e.getMessage()));
            return OptionalInt.empty();
        }
    }

    private OptionalInt wholeNumber(String field, @Nullable Object value, int least, int most) {
        if (value == null) {
            return OptionalInt.empty();
        }
        boolean isRight = (value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= least
                && ((Number) value).longValue() <= most;
        if (isRight) {
            return OptionalInt.of(((Number) value).intValue());
        }
        note(field, value, "must be a whole number from " + least + " to " + most);
        return OptionalInt.empty();
    }

    private <T> Optional<T> text(String field, Function<String, T> parser) {
        Object value = values.get(field);
        if (value == null) {
            return Optional.empty();
        }
        if (!(value instanceof String text)) {
            note(field, value, "must be text");
            return Optional.empty();
        }
        return parsed(field, text, parser);
    }

    private <T> Optional<T> parsed(String field, String text, Function<String, T> parser) {
        try {
            return Optional.of(parser.apply(text));
        } catch (IllegalArgumentException e) {
            note(field, text, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    private static Priority priority(String text) {
        return Arrays.stream(Priority.values())
                .filter(priority -> priority.label().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be high, medium or low"));
    }

    private static Extent extent(String text) {
        return Extent.of(text)
                .orElseThrow(() -> new IllegalArgumentException("must be one of "
                        + Arrays.stream(Extent.values()).map(Extent::label).collect(Collectors.joining(", "))));
    }

    private static String name(String text) {
        boolean isRight = !text.isBlank()
                && text.length() <= JobRequest.MAX_TEXT
                && text.chars().noneMatch(Character::isISOControl);
        if (!isRight) {
            throw new IllegalArgumentException(
                    "must have 1 to %d characters, none of them a control character".formatted(JobRequest.MAX_TEXT));
        }
        return text;
    }

    private static MemoryBytes memory(String text) {
        MemoryBytes bytes = MemorySizes.parse(text);
        if (bytes.isMoreThan(MOST)) {
            throw new IllegalArgumentException("must not be more than " + MOST);
        }
        return bytes;
    }

    private static MemoryBytes positive(String text) {
        MemoryBytes bytes = memory(text);
        if (bytes.isZero()) {
            throw new IllegalArgumentException("is none: leave it out");
        }
        return bytes;
    }

    private void requireKnown(Map<?, ?> map, SortedSet<String> known) {
        map.keySet().stream()
                .map(String::valueOf)
                .filter(field -> !known.contains(field))
                .sorted()
                .forEach(field -> problems.add("%s: there is no such field%s; known: %s"
                        .formatted(shortened(field), Nearest.suggestion(field, known), String.join(", ", known))));
    }

    private void note(String field, @Nullable Object value, String rule) {
        problems.add(value == null ? field + ": " + rule : field + " = " + shortened(value) + ": " + rule);
    }

    private static String shortened(Object value) {
        String text = String.valueOf(value).replaceAll("\\p{Cntrl}", "?");
        return text.length() <= 80 ? text : text.substring(0, 80) + "...";
    }
}
