package dev.ullage.cli.run;

import dev.ullage.cli.CommandFailure;
import dev.ullage.common.model.Cpus;
import dev.ullage.config.Durations;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * What {@code ullage run} asks of the queue. With any of these the job gets room for all its ranks before it starts.
 */
final class QueueOptions {
    private static final String UNBOUNDED = "";

    @Option(
            names = "--wait",
            arity = "0..1",
            paramLabel = "DURATION",
            fallbackValue = UNBOUNDED,
            converter = WaitConverter.class,
            description =
                    "Reserve room for all ranks, or wait for it in the queue, at most this long (default: as long as"
                            + " it takes); then start.")
    private @Nullable Duration wait;

    @Option(
            names = "--memory-per-rank",
            paramLabel = "SIZE",
            description = "What is reserved for each rank: 20GiB, or 50%% of a device (default: a whole device).")
    private @Nullable String memoryPerRank;

    @Option(
            names = "--cpus",
            paramLabel = "N",
            description = "Cores of its host that are counted for each rank, as in 4 or 0.5; nothing holds it to them.")
    private @Nullable String cpus;

    @Option(
            names = "--host-memory",
            paramLabel = "SIZE",
            description = "Memory of its host that is counted for each rank, as in 16GiB; nothing holds it to that.")
    private @Nullable String hostMemory;

    @Option(names = "--priority", paramLabel = "NAME", description = "In the queue: high, medium or low.")
    private @Nullable String priority;

    @Option(
            names = "--runs-for",
            paramLabel = "DURATION",
            description =
                    "How long it will run, such as 2h: what the estimates of others rest on, and how it may pass.")
    private @Nullable String runsFor;

    @Option(
            names = "--job-file",
            paramLabel = "FILE",
            description = "What it asks for, its name and its command, from a file; options count more.")
    private @Nullable Path jobFile;

    @Option(
            names = "--check",
            description = "Say what would be asked for, and what is wrong with it, and end; no cluster is needed.")
    private boolean check;

    /** Whether the job is to be placed by the queue at all. */
    boolean isAsked() {
        return wait != null
                || memoryPerRank != null
                || cpus != null
                || hostMemory != null
                || priority != null
                || runsFor != null
                || jobFile != null
                || check;
    }

    boolean isCheck() {
        return check;
    }

    /** Empty: as long as it takes. */
    Optional<Duration> longestWait() {
        return Optional.ofNullable(wait).filter(bound -> !bound.isZero());
    }

    JobFile file() throws CommandFailure {
        return jobFile == null ? JobFile.NONE : JobFile.read(jobFile);
    }

    /** What the options say, on top of what the file does. */
    Map<String, Object> fields(JobFile file) {
        Map<String, Object> fields = new LinkedHashMap<>(file.fields());
        if (memoryPerRank != null) {
            fields.put("memoryPerRank", memoryPerRank);
        }
        if (cpus != null) {
            fields.put("cpus", numberOr(cpus));
        }
        if (hostMemory != null) {
            fields.put("hostMemory", hostMemory);
        }
        if (priority != null) {
            fields.put("priority", priority);
        }
        if (runsFor != null) {
            fields.put("runsFor", runsFor);
        }
        return fields;
    }

    /** What is no number of cores stays as it is: whoever reads the request says what is wrong with it. */
    private static Object numberOr(String text) {
        try {
            return new BigDecimal(Cpus.text(Cpus.parse(text)));
        } catch (IllegalArgumentException e) {
            return text;
        }
    }

    private static final class WaitConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return text.equals(UNBOUNDED)
                        ? Duration.ZERO
                        : Durations.parser(Duration.ofSeconds(1), Duration.ofHours(10_000))
                                .apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
