package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ullage devices}, on simulated devices and on recordings. */
class DevicesCommandTest {
    private static final Path RECORDINGS = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .resolve("worker/src/test/resources");

    private static final Set<String> WORDS_FOR_UNKNOWN = Set.of("N/A", "[N/A]", "Not Supported", "ERR!", "-", "NaN");

    @TempDir
    private Path folder = Path.of("");

    private record Outcome(int code, String out, String err) {}

    @Test
    void simulatedDevicesAreShownWithAllTheirFigures() throws JsonProcessingException {
        JsonNode device = json(run("devices", "--simulate", "2xH100-80G", "--json"))
                .path("devices")
                .path(1);

        assertThat(device.path("index").intValue()).isEqualTo(1);
        assertThat(device.path("kind").textValue()).isEqualTo("simulated");
        assertThat(device.path("totalBytes").longValue()).isEqualTo(80L << 30);
        assertThat(device.path("allocatableBytes").longValue()).isEqualTo(80L << 30);
        assertThat(device.path("usedBytes").isIntegralNumber()).isTrue();
        assertThat(device.path("processes").isArray()).isTrue();
        assertThat(run("devices", "--simulate", "1xH100-80G").out())
                .startsWith("simulated, 1 device that does not exist\n")
                .contains("80.0 GiB");
    }

    @Test
    void withoutDevicesBothWaysOutAreNamedAndJsonIsStillJson() throws JsonProcessingException {
        Path settings = folder.resolve("no-nvml.conf");
        write(settings, "ullage.worker.devices.nvml-library = \"" + folder.resolve("none.so") + "\"");
        Outcome outcome = run("devices", "--config", settings.toString(), "--json");
        if (outcome.code() == ExitCode.OK.code()) {
            // A machine with nvidia-smi: the last resort works.
            assertThat(json(outcome).path("devices").isArray()).isTrue();
            return;
        }

        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("NVIDIA driver", "--simulate", "nvidia-smi cannot be run");
        assertThat(json(outcome).path("devices")).isEmpty();
        assertThat(json(outcome).path("errors")).hasSize(1);
    }

    /** Case H01, for every recording there is, group A's among them. */
    @ParameterizedTest
    @MethodSource("recordings")
    void jsonOfARecordingKeepsTheRules(String file) throws JsonProcessingException {
        Outcome outcome =
                run("devices", "--json", "--from", RECORDINGS.resolve(file).toString());

        JsonNode document = json(outcome);
        assertThat(document.path("schema").intValue()).isEqualTo(1);
        assertThat(outcome.code()).isIn(0, 3);
        assertThat(outcome.code() == 3).isEqualTo(!document.path("errors").isEmpty());
        for (JsonNode device : document.path("devices")) {
            for (String field :
                    List.of("totalBytes", "reservedBytes", "allocatableBytes", "usedBytes", "freeBytes", "index")) {
                assertThat(device.has(field)).as(field).isTrue();
                assertThat(device.path(field).isNull() || device.path(field).isIntegralNumber())
                        .as(field)
                        .isTrue();
            }
            assertThat(device.path("processes").isNull()
                            || device.path("processes").isArray())
                    .isTrue();
            for (String field : List.of("uuid", "name", "pciBusId")) {
                assertThat(device.has(field)).as(field).isTrue();
                assertThat(WORDS_FOR_UNKNOWN).doesNotContain(device.path(field).asText());
            }
        }
    }

    static Stream<String> recordings() throws IOException {
        try (Stream<Path> files = Files.walk(RECORDINGS)) {
            List<String> found = files.filter(Files::isRegularFile)
                    .map(file -> RECORDINGS.relativize(file).toString())
                    .filter(name -> name.matches(
                            "(nvidia-smi/.*|cases/(A0.|G01|H01)/.*)\\.(txt|csv|xml|prom)" + "|cases/.*/nvml.*\\.json"))
                    .toList();
            assertThat(found).hasSizeGreaterThan(50);
            return found.stream();
        }
    }

    /** Cases A01, A02, A05 as folders. */
    @Test
    void theFilesOfAFolderThatBelongTogetherAreOneMachine() throws JsonProcessingException {
        JsonNode spark = json(fromRecordings("cases/A01")).path("devices");
        assertThat(spark).hasSize(2);
        assertThat(spark.path(1).path("source").textValue()).isEqualTo("nvml.json");
        for (String field : List.of("kind", "totalBytes", "usedBytes", "freeBytes", "allocatableBytes")) {
            assertThat(spark.path(1).path(field))
                    .as(field)
                    .isEqualTo(spark.path(0).path(field));
        }
        assertThat(spark.path(0).path("kind").textValue()).isEqualTo("unified");
        assertThat(spark.path(0).path("totalBytes").longValue()).isEqualTo(127_600_748L * 1024);
        assertThat(spark.path(0).path("usedBytes").longValue()).isEqualTo(20_064_501_760L);

        JsonNode wsl = json(fromRecordings("cases/A05")).path("devices");
        assertThat(wsl).hasSize(2);
        assertThat(wsl.path(0).path("processes").isNull()).isTrue();
        assertThat(wsl.path(1).path("usedBytes").longValue()).isEqualTo(14_360L << 20);
        assertThat(wsl.path(1).path("processes").path(0).path("usedBytes").isNull())
                .isTrue();

        JsonNode slices = json(fromRecordings("cases/A02")).path("devices");
        assertThat(slices.findValuesAsText("kind")).containsOnly("mig");
        assertThat(slices.path(0).path("uuid").textValue()).startsWith("MIG-0b0b0b0b");

        JsonNode last = slices.path(slices.size() - 1);
        assertThat(last.path("source").textValue()).isEqualTo("nvml.json");
        assertThat(last.path("usedBytes").longValue()).isEqualTo(15_063_842_816L);

        JsonNode all = json(fromRecordings("nvidia-smi"));
        assertThat(all.path("sources").size()).isBetween(25, 40);
    }

    @Test
    void aTableShowsWhatIsUnknownAndWhy() {
        Outcome outcome = run(
                "devices",
                "--from",
                RECORDINGS
                        .resolve("nvidia-smi/pub-01-gb10-unified-memory-not-supported.txt")
                        .toString());

        assertThat(outcome.code()).isZero();
        assertThat(outcome.out())
                .contains("NVIDIA GB10  unified", "2.4 GiB", "5459", "PROBLEMS")
                .contains("device 0: total, reserved, free: the host's memory is not part of this output");
    }

    @Test
    void noDevicesInARecordingAreAnEmptyListAndNoFailure() throws JsonProcessingException {
        Path none = folder.resolve("none.txt");
        write(none, "No devices were found\n");
        Outcome outcome = run("devices", "--json", "--from", none.toString());

        assertThat(outcome.code()).isZero();
        assertThat(json(outcome).path("devices").isArray()).isTrue();
        assertThat(json(outcome).path("devices")).isEmpty();
        assertThat(run("devices", "--from", none.toString()).out()).contains("no devices");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing-there.txt", "empty", "notes.txt"})
    void whatIsNoRecordingEndsWithWhatToRecord(String name) throws IOException {
        Files.createDirectories(folder.resolve("empty"));
        write(folder.resolve("notes.txt"), "the GPU is warm\n");
        Outcome outcome = run("devices", "--from", folder.resolve(name).toString());

        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("nvidia-smi -q -x");
    }

    private Outcome fromRecordings(String place) {
        return run("devices", "--json", "--from", RECORDINGS.resolve(place).toString());
    }

    private Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", folder.toString()), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(arguments);
        return new Outcome(code, out.toString(), err.toString());
    }

    /** Strictly: one document, no NaN, no field twice. */
    private static JsonNode json(Outcome outcome) throws JsonProcessingException {
        return JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
                .build()
                .readTree(outcome.out());
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
