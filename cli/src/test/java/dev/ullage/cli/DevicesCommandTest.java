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

    private static final String NVML = "{\"calls\": [{\"fn\": \"nvmlDeviceGetMemoryInfo_v2\", \"rc\": 0, \"total\":"
            + " 24146608128, \"reserved\": 541917184, \"used\": 5368709120, \"free\": 18235981824},"
            + " {\"fn\": \"nvmlDeviceGetComputeRunningProcesses_v3\", \"rc\": 0, \"procs\": []},"
            + " {\"fn\": \"nvmlDeviceGetGraphicsRunningProcesses_v3\", \"rc\": 0, \"procs\": []}]}";

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

    private JsonNode device(String name) throws JsonProcessingException {
        return json(fromRecordings(name)).path("devices").path(0);
    }

    // Goal: no processes beside gigabytes in use do not look like nobody, whatever the list was read from.
    @Test
    void memoryThatNoListedProcessHoldsIsSaidToBeSo() throws IOException {
        String recording = "nvidia-smi/telegraf-xml/rtx-3080-v13.xml";
        JsonNode xml = device(recording);
        assertThat(xml.path("processes")).isEmpty();
        assertThat(xml.path("unlistedBytes").longValue()).isEqualTo(9184L << 20);
        assertThat(xml.path("problems").toString())
                .contains("9.0 GiB in use that no listed process holds: likely of processes that cannot be seen");
        assertThat(run("devices", "--from", RECORDINGS.resolve(recording).toString())
                        .out())
                .contains("UNLISTED", "device 0: 9.0 GiB in use that no listed process holds");

        Path csv = Files.createDirectories(folder.resolve("csv"));
        write(
                csv.resolve("query-gpu.csv"),
                "uuid, memory.total [MiB], memory.used [MiB]\nGPU-1, 80000 MiB, 9000 MiB\n");
        write(csv.resolve("compute-apps.csv"), "gpu_uuid, pid, used_gpu_memory [MiB]\nGPU-1, 7, 5000 MiB\n");
        JsonNode apps = json(run("devices", "--json", "--from", csv.toString()))
                .path("devices")
                .path(0);
        assertThat(apps.path("unlistedBytes").longValue()).isEqualTo(4000L << 20);
        assertThat(apps.path("problems").toString())
                .contains("3.9 GiB in use that no listed process holds", "leaves out those that only draw");

        write(folder.resolve("nvml.json"), NVML);
        JsonNode nvml = json(run(
                        "devices",
                        "--json",
                        "--from",
                        folder.resolve("nvml.json").toString()))
                .path("devices")
                .path(0);
        assertThat(nvml.path("processes").isArray()).isTrue();
        assertThat(nvml.path("problems").toString())
                .contains("5.0 GiB in use that no listed process holds")
                .doesNotContain("only draw");
    }

    /** A driver holds some on every device, the more the larger; and what is not known is no amount. */
    @Test
    void whatADriverHoldsIsNobodysAndWhatIsNotKnownIsNoAmount() throws JsonProcessingException {
        JsonNode hopper = device("nvidia-smi/pub-04-gh200-grace-hopper-with-processes.txt");
        assertThat(hopper.path("unlistedBytes").longValue()).isEqualTo(1731L << 20);
        assertThat(hopper.path("problems").toString()).doesNotContain("no listed process");

        assertThat(device("cases/A05").path("unlistedBytes").isNull()).isTrue();
        JsonNode alone = device("nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-load-compute-apps.csv");
        assertThat(alone.path("kind").isNull()).isTrue();
        assertThat(alone.path("unlistedBytes").isNull()).isTrue();
    }

    @Test
    void anInstanceThatSharesItsMemorySaysWhoHoldsIt() throws JsonProcessingException {
        JsonNode first = device("nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-load-table.txt");

        assertThat(first.path("processes")).isEmpty();
        assertThat(first.path("problems").toString())
                .contains("16.5 GiB in use that no listed process holds: the processes of the instances that share its"
                        + " memory hold it too");
    }

    // Goal: of many instances it stays readable which is whose, and what is so of all is said once.
    @Test
    void processesNameTheirInstanceAndWhatAllLackIsSaidOnce() {
        Outcome outcome = run(
                "devices",
                "--from",
                RECORDINGS
                        .resolve("nvidia-smi/nge-linux-x86_64__nvidia-h200-mig__590.48.01-load-table.txt")
                        .toString());

        assertThat(outcome.out())
                .contains("NVIDIA H200 MIG device 1  12267  13.2 GiB  ./gpu_burn\n")
                .contains("\nall 5 devices: reserved, free: not part of this output\n")
                .contains("device NVIDIA H200 MIG device 0: its memory is also that of MIG device 1: ")
                .doesNotContain("device 4: reserved");
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
