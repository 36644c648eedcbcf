package dev.ullage.cli.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The demo's ranks: processes of their own that register, train, and say at the end how it went. */
final class DemoRanks implements AutoCloseable {
    static final String JOB = "demo";
    private static final Duration STOP_WITHIN = Duration.ofSeconds(30);
    private static final String PACE_SECONDS = "0.05";
    /** The demo stops its ranks; should it be killed, they end by themselves. */
    private static final String LONGEST_SECONDS = "7200";

    private final DemoPython python;
    private final Path folder;
    private final List<Rank> ranks = new ArrayList<>();

    /** One rank's process and where its output goes. */
    private record Rank(int number, Process process, Path output, Path errors) {}

    /**
     * How a rank ended.
     *
     * @param report its last line, when it said one
     * @param complaint the end of what it wrote to standard error
     */
    record Ended(int rank, int exitCode, Optional<JsonNode> report, String complaint) {}

    /** Where a rank runs. */
    record Place(Path socket, int localRank, int localSize, int device) {}

    DemoRanks(DemoPython python, Path folder) {
        this.python = python;
        this.folder = folder;
    }

    void start(int number, int worldSize, Place place) throws IOException {
        Path output = folder.resolve("rank-" + number + ".out");
        Path errors = folder.resolve("rank-" + number + ".err");
        ProcessBuilder builder = new ProcessBuilder(
                        python.interpreter(),
                        "-m",
                        "ullage",
                        "exec",
                        "--require",
                        "--",
                        python.interpreter(),
                        "-m",
                        "ullage.demo.trainer",
                        "--model",
                        python.trainer(),
                        "--seed",
                        Integer.toString(number + 1),
                        "--pace",
                        PACE_SECONDS,
                        "--seconds",
                        LONGEST_SECONDS)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile());
        builder.environment()
                .putAll(Map.ofEntries(
                        Map.entry("RANK", Integer.toString(number)),
                        Map.entry("WORLD_SIZE", Integer.toString(worldSize)),
                        Map.entry("LOCAL_RANK", Integer.toString(place.localRank())),
                        Map.entry("LOCAL_WORLD_SIZE", Integer.toString(place.localSize())),
                        Map.entry("ULLAGE_JOB", JOB),
                        Map.entry("ULLAGE_SOCKET", place.socket().toString()),
                        Map.entry("ULLAGE_DEVICE", Integer.toString(place.device())),
                        Map.entry("PYTHONPATH", python.clientPath().toString()),
                        Map.entry("OMP_NUM_THREADS", "1")));
        ranks.add(new Rank(number, builder.start(), output, errors));
    }

    /** The first rank that has ended before it was told to. */
    Optional<Ended> firstLost() {
        return ranks.stream()
                .filter(rank -> !rank.process().isAlive())
                .findFirst()
                .map(rank -> ended(rank, rank.process().exitValue()));
    }

    /** Asks all ranks to end and collects what they say. */
    List<Ended> stop() throws InterruptedException {
        ranks.forEach(rank -> rank.process().destroy());
        List<Ended> ended = new ArrayList<>();
        for (Rank rank : ranks) {
            if (!rank.process().waitFor(STOP_WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
                rank.process().destroyForcibly().waitFor();
            }
            ended.add(ended(rank, rank.process().exitValue()));
        }
        return ended;
    }

    private static Ended ended(Rank rank, int exitCode) {
        List<String> lines = lines(rank.output());
        Optional<JsonNode> report = lines.isEmpty() ? Optional.empty() : parse(lines.get(lines.size() - 1));
        List<String> errors = lines(rank.errors());
        String complaint = String.join(" | ", errors.subList(Math.max(0, errors.size() - 3), errors.size()));
        return new Ended(rank.number(), exitCode, report, complaint);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return List.of();
        }
    }

    private static Optional<JsonNode> parse(String line) {
        try {
            return Optional.of(new ObjectMapper().readTree(line));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        ranks.forEach(rank -> rank.process().destroyForcibly());
    }
}
