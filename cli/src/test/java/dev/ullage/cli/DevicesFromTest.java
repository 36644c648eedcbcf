package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ullage.cli.show.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage devices --from} with files as they come from people: in other encodings, broken, too large. */
class DevicesFromTest {
    private static final String CSV =
            """
            index, name, uuid, memory.total [MiB], memory.used [MiB], memory.free [MiB]
            0, NVIDIA A10, GPU-1, 23028 MiB, 1024 MiB, 21488 MiB
            """;
    private static final String NVML = "{\"calls\": [{\"fn\": \"nvmlDeviceGetMemoryInfo_v2\", \"rc\": 0,"
            + " \"total\": 24146608128, \"reserved\": 541917184, \"used\": 0, \"free\": 23604690944}]}";

    @TempDir
    private Path folder = Path.of("");

    private record Outcome(int code, String out, String err) {}

    private Outcome run(Path from, String... more) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] arguments = new String[3 + more.length];
        System.arraycopy(more, 0, arguments, 3, more.length);
        System.arraycopy(new String[] {"devices", "--from", from.toString()}, 0, arguments, 0, 3);
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", folder.toString()), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(arguments);
        return new Outcome(code, out.toString(), err.toString());
    }

    private Path file(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private static byte[] marked(String text, Charset charset) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("\ufeff".getBytes(charset));
        bytes.writeBytes(text.getBytes(charset));
        return bytes.toByteArray();
    }

    @Test
    void aFileThatWindowsWroteIsReadLikeAnyOther() throws IOException {
        int number = 0;
        for (Charset charset : List.of(StandardCharsets.UTF_8, StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
            for (String text : List.of(CSV, CSV.replace("\n", "\r\n"))) {
                for (byte[] bytes : List.of(text.getBytes(charset), marked(text, charset))) {
                    JsonNode device = json(run(file("a" + number++ + ".csv", bytes), "--json"))
                            .path("devices")
                            .path(0);
                    assertThat(device.path("usedBytes").longValue())
                            .as(charset + " " + number)
                            .isEqualTo(1024L << 20);
                    assertThat(device.path("totalBytes").longValue()).isEqualTo(23028L << 20);
                }
            }
            assertThat(json(run(file("n" + number + ".json", marked(NVML, charset)), "--json"))
                            .path("devices")
                            .path(0)
                            .path("freeBytes")
                            .longValue())
                    .isEqualTo(23604690944L);
        }
    }

    @Test
    void eachFileThatCannotBeReadSaysWhyAndHidesNoOther() throws IOException {
        file("good-query-gpu.csv", CSV.getBytes(StandardCharsets.UTF_8));
        file("headers-compute-apps.csv", "gpu_uuid, pid, used_gpu_memory [MiB]\n".getBytes(StandardCharsets.UTF_8));
        file("large.txt", new byte[17 << 20]);
        file("nothing.txt", new byte[0]);
        file("noise.csv", new byte[] {0, 1, 2, (byte) 0xff, (byte) 0xfe, 10, 0});
        file("nvml-deep.json", "[".repeat(100_000).getBytes(StandardCharsets.UTF_8));
        file("nvml-half.json", NVML.substring(0, 70).getBytes(StandardCharsets.UTF_8));
        file("half.xml", "<?xml version=\"1.0\"?><nvidia_smi_log><gpu id=\"1\">".getBytes(StandardCharsets.UTF_8));
        Files.createSymbolicLink(folder.resolve("dangling.txt"), folder.resolve("no-such-file"));
        Files.createDirectory(folder.resolve("folder.txt"));

        Outcome all = run(folder, "--json");

        assertThat(all.code()).as(all.err()).isZero();
        JsonNode document = json(all);
        assertThat(document.path("devices")).hasSize(1);
        assertThat(document.path("sources")).hasSize(8);
        for (JsonNode source : document.path("sources")) {
            boolean isGood = source.path("source").asText().startsWith("good");
            assertThat(source.path("problems").isEmpty()).as(source.toString()).isEqualTo(isGood);
        }
        assertThat(all.out())
                .contains("it is larger than 16 MiB", "it names no GPU: it ends behind its header line")
                .contains("it is not JSON: Document nesting depth")
                .contains("Unexpected end-of-input")
                .doesNotContain("Exception", "StreamReadFeature");
        for (JsonNode source : document.path("sources")) {
            String name = source.path("source").asText();
            if (!name.startsWith("good")) {
                Outcome alone = run(folder.resolve(name));
                assertThat(alone.code()).as(name).isEqualTo(3);
                assertThat(alone.err())
                        .as(name)
                        .contains(source.path("problems").path(0).asText())
                        .doesNotContain("\tat ");
            }
        }
    }

    @Test
    void aLinkToAFolderIsTheFolderAndLinksInItLeadNowhere() throws IOException {
        Path real = Files.createDirectory(folder.resolve("real"));
        Files.writeString(real.resolve("query-gpu.csv"), CSV);
        Files.createSymbolicLink(real.resolve("loop"), folder);
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);

        for (Path from : List.of(real, link)) {
            JsonNode sources = json(run(from, "--json"));
            assertThat(sources.path("devices").size()).isEqualTo(1);
            assertThat(sources.path("devices").path(0).path("usedBytes").longValue())
                    .isEqualTo(1024L << 20);
        }
    }

    @Test
    void anEmptyNameIsNotTheFolderOneIsIn() {
        Outcome outcome = run(Path.of(""));

        assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
        assertThat(outcome.err()).contains("--from is empty");
    }

    @Test
    void whatIsNotPartOfAnOutputIsSaidToBeNoPartOfIt() throws IOException {
        JsonNode device = json(run(file("query-gpu.csv", CSV.getBytes(StandardCharsets.UTF_8)), "--json"))
                .path("devices")
                .path(0);
        assertThat(device.path("processes").isNull()).isTrue();
        assertThat(device.path("problems").toString())
                .contains("reserved: not part of this output", "processes: not part of this output");
    }

    private static JsonNode json(Outcome outcome) throws IOException {
        return new ObjectMapper().readTree(outcome.out());
    }
}
