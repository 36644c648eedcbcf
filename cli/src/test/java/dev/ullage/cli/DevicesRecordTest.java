package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.testing.Requires;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage devices --record}, over the stand-in for NVML, and {@code --from} what it wrote. */
class DevicesRecordTest {
    private static final Path SOURCE = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .resolve("worker/src/test/c/fake_nvml.c");

    @TempDir
    private Path folder = Path.of("");

    private record Outcome(int code, String out, String err) {}

    private Path driver(String... script) throws Exception {
        Requires.command("gcc", "gcc");
        Path library = folder.resolve("libnvidia-ml-fake.so.1");
        Process compiler = new ProcessBuilder(List.of(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-Wl,-Bsymbolic",
                        "-o",
                        library.toString(),
                        SOURCE.toString(),
                        "-ldl"))
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor()).as(output).isZero();
        Map<String, String> values = new TreeMap<>();
        for (String line : script) {
            values.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
        new ObjectMapper().writeValue(Path.of(library + ".json").toFile(), values);
        return Files.writeString(
                folder.resolve("nvml.conf"), "ullage.worker.devices.nvml-library = \"" + library + "\"");
    }

    // Before anything is asked: a recording of a fault that cannot be made again is not to be lost.
    @Test
    void aPlaceThatNoNewFileCanHaveIsRefusedAtOnce() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nowhere"));

        for (Path place : List.of(link, folder.resolve("none/nvml.json"))) {
            Outcome outcome = run("devices", "--record", place.toString());

            assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
            assertThat(outcome.err())
                    .contains("--record: '" + place + "' is a link, or no file of a folder that exists");
        }
    }

    @Test
    void whatWasRecordedIsShownAsItWasSeen() throws Exception {
        Path settings = driver(
                "count=2",
                "driver=550.54.15",
                "device.0.uuid=GPU-a",
                "device.0.name=NVIDIA A10",
                "device.0.pci=00000000:01:00.0",
                "device.0.memory=24146608128,541917184,1073741824,22530949120",
                "device.0.compute=100:1073741824",
                "device.1.uuid=GPU-b",
                "device.1.rc.nvmlDeviceGetMemoryInfo_v2=15");
        Path file = folder.resolve("report.json");
        Outcome seen = run("devices", "--json", "--config", settings.toString(), "--record", file.toString());
        Outcome shown = run("devices", "--json", "--from", file.toString());

        assertThat(seen.code()).as(seen.err()).isZero();
        assertThat(seen.err()).matches("recorded \\d+ calls of NVML to " + file + "\n");
        assertThat(json(shown).path("sources").path(0).path("driverVersion").asText())
                .isEqualTo("550.54.15");
        assertThat(withoutSource(shown)).isEqualTo(withoutSource(seen)).hasSize(2);
        assertThat(Files.readString(file)).doesNotContain("/proc", System.getProperty("user.name") + "@");
        Outcome again = run("devices", "--config", settings.toString(), "--record", file.toString());
        assertThat(again.code()).isEqualTo(2);
        assertThat(again.err()).contains("is there already");
    }

    @Test
    void aDriverThatDoesNotStartIsRecordedAsWell() throws Exception {
        Path settings = driver("rc.nvmlInit_v2=9");
        Path file = folder.resolve("report.json");
        Outcome seen = run("devices", "--config", settings.toString(), "--record", file.toString());

        assertThat(seen.code()).isEqualTo(3);
        assertThat(seen.err()).contains("the NVIDIA kernel module is not loaded");
        assertThat(run("devices", "--from", file.toString()).out())
                .contains("no devices", "the NVIDIA kernel module is not loaded");
    }

    @Test
    void everythingThatIsWrongWithAFileIsSaidAtOnce() throws Exception {
        Path file = Files.writeString(
                folder.resolve("nvml.json"),
                "{\"calls\": [{\"fn\": \"nvmlNothing\", \"rc\": 0}, {\"fn\": \"nvmlDeviceGetUUID(0)\", \"rc\": 0}]}");
        for (Path from : List.of(file, folder)) {
            Outcome outcome = run("devices", "--from", from.toString());
            assertThat(outcome.code()).isEqualTo(3);
            assertThat(outcome.err())
                    .contains("'" + from + "'", "calls[0].fn is \"nvmlNothing\"", "calls[1].uuid is missing");
        }
    }

    @Test
    void onlyRealDevicesCanBeRecorded() {
        Outcome outcome = run("devices", "--simulate", "1xH100-80G", "--record", "x.json");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("leave out --from and --simulate");
    }

    private static JsonNode json(Outcome outcome) throws IOException {
        return new ObjectMapper().readTree(outcome.out());
    }

    private static JsonNode withoutSource(Outcome outcome) throws IOException {
        JsonNode devices = json(outcome).path("devices");
        devices.forEach(device -> ((com.fasterxml.jackson.databind.node.ObjectNode) device).remove("source"));
        return devices;
    }

    private Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", folder.toString()), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(arguments);
        return new Outcome(code, out.toString(), err.toString());
    }
}
