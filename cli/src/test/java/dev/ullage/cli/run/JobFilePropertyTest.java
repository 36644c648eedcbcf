package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValueFactory;
import dev.ullage.cli.CommandFailure;
import dev.ullage.common.model.JobId;
import dev.ullage.coordinator.admission.RequestReader;
import dev.ullage.coordinator.admission.RequestReader.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.yaml.snakeyaml.Yaml;

/** Whatever a job asks for, its file says the same in YAML, JSON and HOCON, right or wrong. */
class JobFilePropertyTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static Path folder = Path.of("");

    @BeforeContainer
    static void makeFolder() throws IOException {
        folder = Files.createTempDirectory("ullage-job-files");
    }

    @AfterContainer
    static void removeFolder() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static Arbitrary<Object> words() {
        return Arbitraries.oneOf(
                Arbitraries.of(
                        "no",
                        "yes",
                        "on",
                        "~",
                        "null",
                        "true",
                        "010",
                        "1_000",
                        "0x1F",
                        "1:30",
                        ".5",
                        "1e3",
                        "",
                        " a",
                        "a: b",
                        "# c",
                        "*H100*",
                        "&a",
                        "!x",
                        "- x",
                        "2g.*",
                        "{a}",
                        "[b]",
                        "<<",
                        "20GiB",
                        "50%",
                        "2h",
                        "high",
                        "spread",
                        "a\tb",
                        "a\nb",
                        "\u00e4\u4e2d",
                        "'",
                        "\"",
                        "\\",
                        "${x}",
                        "a,b",
                        "@",
                        "%"),
                Arbitraries.strings().withCharRange(' ', '~').ofMaxLength(12));
    }

    private static Arbitrary<Object> values() {
        return Arbitraries.oneOf(
                words(),
                Arbitraries.integers().between(-3, 5000).asGeneric(),
                Arbitraries.longs().asGeneric(),
                Arbitraries.of(0.5, 2.0, 1e-3, -7.25, 1e21).asGeneric(),
                Arbitraries.of(true, false).asGeneric());
    }

    @Provide
    Arbitrary<Map<String, Object>> jobs() {
        Arbitrary<String> names = Arbitraries.of(
                "memory-per-rank",
                "ranks",
                "ranks-per-device",
                "priority",
                "extent",
                "node",
                "model",
                "mig",
                "runs-for",
                "modle");
        Arbitrary<Map<String, Object>> fields =
                Arbitraries.maps(names, values()).ofMaxSize(6);
        Arbitrary<List<Map<String, Object>>> groups = Arbitraries.maps(
                        Arbitraries.of("ranks", "memory-per-rank", "memory"), values())
                .list()
                .ofMaxSize(3);
        return Combinators.combine(
                        fields,
                        groups,
                        words().list().ofMaxSize(4),
                        Arbitraries.integers().between(0, 3))
                .as((said, list, command, which) -> {
                    Map<String, Object> job = new HashMap<>(said);
                    if (which % 2 == 1) {
                        job.put("groups", list);
                    }
                    if (which > 1) {
                        job.put("command", command);
                    }
                    return job;
                });
    }

    private static JobFile read(String name, String text) throws IOException, CommandFailure {
        return JobFile.read(Files.writeString(folder.resolve(name), text));
    }

    @Property(tries = 200)
    void theSameJobIsTheSameRequest(@ForAll("jobs") Map<String, Object> job)
            throws JsonProcessingException, IOException, CommandFailure {
        JobFile yaml = read("job.yaml", new Yaml().dump(job));
        String hocon = ConfigValueFactory.fromMap(job)
                .render(ConfigRenderOptions.concise().setJson(false).setFormatted(true));

        for (JobFile other : List.of(read("job.json", JSON.writeValueAsString(job)), read("job.conf", hocon))) {
            assertThat(yaml.command()).isEqualTo(other.command());
            assertThat(yaml.fields()).isEqualTo(other.fields());
            assertThat(yaml.problems()).hasSameSizeAs(other.problems());
            Reading reading = reading(yaml);
            assertThat(reading).isEqualTo(reading(other));
            // All that the reader of requests says of a field has its place in each file.
            assertThat(reading.problems().stream()
                            .map(problem -> yaml.placed(problem, yaml.fields()))
                            .filter(problem -> problem.startsWith(folder.toString())))
                    .hasSameSizeAs(reading.problems().stream()
                            .map(problem -> other.placed(problem, other.fields()))
                            .filter(problem -> problem.startsWith(folder.toString()))
                            .toList());
        }
    }

    private static Reading reading(JobFile file) {
        return RequestReader.read(new JobId("j"), "me", file.fields());
    }
}
