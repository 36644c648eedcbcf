package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.cli.CommandFailure;
import dev.ullage.cli.ExitCode;
import dev.ullage.common.model.JobId;
import dev.ullage.coordinator.admission.RequestReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Job files in their three syntaxes: the same job, and what is wrong with one, all at once and with its place. */
class JobFileTest {
    private static final Path EXAMPLES = Path.of(
                    Optional.ofNullable(System.getProperty("ullage.root")).orElse(".."))
            .resolve("config/examples");

    @TempDir
    private Path folder = Path.of("");

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private JobFile yaml(String text) throws IOException, CommandFailure {
        return JobFile.read(write("job.yaml", text));
    }

    /** What reading it as a request says, with places; those of the file itself first. The folder is cut off. */
    private List<String> problems(JobFile file) {
        List<String> all = new ArrayList<>(file.problems());
        RequestReader.read(new JobId("j"), "me", file.fields()).problems().stream()
                .map(problem -> file.placed(problem, file.fields()))
                .forEach(all::add);
        return all.stream().map(line -> line.replace(folder + "/", "")).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"job.conf", "job.json", "job.yaml"})
    void theExamplesAreOneJob(String name) throws CommandFailure {
        JobFile job = JobFile.read(EXAMPLES.resolve(name));

        assertThat(job.problems()).isEmpty();
        assertThat(job.job()).contains("bert");
        assertThat(job.command()).containsExactly("torchrun", "--nproc-per-node", "4", "train.py", "--lr", "1e-3");
        assertThat(job.fields())
                .isEqualTo(Map.of(
                        "groups",
                        List.of(
                                Map.of("ranks", 2, "memoryPerRank", "20GiB"),
                                Map.of("ranks", 2, "memoryPerRank", "12GiB")),
                        "model",
                        "*H100*",
                        "extent",
                        "same-node",
                        "priority",
                        "high",
                        "runsFor",
                        "2h"));
        assertThat(RequestReader.read(new JobId("j"), "me", job.fields()).problems())
                .isEmpty();
    }

    @Test
    void allThatIsWrongIsSaidWithItsPlace() throws IOException, CommandFailure {
        String yaml =
                """
                job: [a]
                ranks: many
                memory-per-rank: 20GiX
                priority: urgent
                runs-for:   soon
                modle: x
                """;
        String conf = yaml.replace(":", " =");
        String json =
                """
                {"job": ["a"],
                 "ranks": "many",
                 "memory-per-rank": "20GiX",
                 "priority": "urgent",
                 "runs-for": "soon",
                 "modle": "x"}
                """;

        List<String> said = problems(yaml(yaml));

        assertThat(said).hasSize(6);
        assertThat(said)
                .anySatisfy(line -> assertThat(line).isEqualTo("job.yaml:1:6: job: must be text"))
                .anySatisfy(line ->
                        assertThat(line).isEqualTo("job.yaml:2:8: ranks = many: must be a whole number from 0 to 4096"))
                .anySatisfy(line -> assertThat(line).startsWith("job.yaml:3:18: memory-per-rank = 20GiX: "))
                .anySatisfy(line ->
                        assertThat(line).isEqualTo("job.yaml:4:11: priority = urgent: must be high, medium or low"))
                .anySatisfy(line -> assertThat(line).startsWith("job.yaml:5:13: runs-for = soon: "))
                .anySatisfy(line -> assertThat(line).startsWith("job.yaml:6:1: modle: there is no such field"));
        List<String> withoutColumns = said.stream()
                .map(line -> line.replaceFirst("^job.yaml:(\\d+):\\d+", "$1"))
                .toList();
        for (Path other : List.of(write("job.conf", conf), write("job.json", json))) {
            assertThat(problems(JobFile.read(other)).stream().map(line -> line.replaceFirst("^job.(?:conf|json):", "")))
                    .containsExactlyInAnyOrderElementsOf(withoutColumns);
        }
    }

    @Test
    void groupsAreNamedByTheirPlaceToo() throws IOException, CommandFailure {
        assertThat(
                        problems(
                                yaml(
                                        """
                        groups:
                          - ranks: 2
                            memory-per-rank: 20GiB
                          - ranks: -1
                            memory: 20GiB
                        """)))
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).startsWith("groups[1].memoryPerRank: must be set"))
                .anySatisfy(line -> assertThat(line).startsWith("job.yaml:4:12: groups[1].ranks = -1: must be a"))
                .anySatisfy(
                        line -> assertThat(line).startsWith("job.yaml:5:5: groups[1].memory: there is no such field"));
    }

    @Test
    void whatAnOptionSaysIsNotTheFiles() throws IOException, CommandFailure {
        JobFile file = yaml("memory-per-rank: 20GiB\n");

        assertThat(file.placed("memoryPerRank = x: rule", Map.of("memoryPerRank", "x")))
                .isEqualTo("memoryPerRank = x: rule");
        assertThat(file.placed("a launcher is told: no", Map.of())).isEqualTo("a launcher is told: no");
    }

    // YAML's older rules would have false, 8, 1000, 5400 and 31.
    @Test
    void whatLooksLikeSomethingElseStaysText() throws IOException, CommandFailure {
        JobFile job = yaml(
                """
                node: no
                model: on
                mig: 010
                ranks: 1_000
                runs-for: 1:30
                cpus: 0x1F
                job: 2024
                priority: Yes
                extent: !!str 4
                command: [run, 010, 1e-3, yes, 4.0, 0x1F, +5]
                """);

        assertThat(job.fields())
                .isEqualTo(Map.of(
                        "node",
                        "no",
                        "model",
                        "on",
                        "mig",
                        "010",
                        "ranks",
                        "1_000",
                        "runsFor",
                        "1:30",
                        "cpus",
                        "0x1F",
                        "priority",
                        "Yes",
                        "extent",
                        "4"));
        assertThat(job.job()).contains("2024");
        assertThat(job.command()).containsExactly("run", "010", "1e-3", "yes", "4.0", "0x1F", "+5");
        assertThat(problems(job))
                .anySatisfy(line -> assertThat(line).startsWith("job.yaml:4:8: ranks = 1_000: must be"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ranks: 1\\nranks: 2                 | job.yaml:2:1: ranks stands twice in its section, before at job.yaml:1:1",
                "ranks: !!int '2'                    | tags are not known here",
                "ranks: 2\\nmemory-per-rank: !gib 20 | tags are not known here",
                "priority:\\nranks: 1                | there is no value: leave the name out, or write null",
                "memoryPerRank: 1GiB\\nmemory-per-rank: 2GiB | memory-per-rank was given before by its other name",
                "a: &a {ranks: 1}\\ngroups: [{<<: *a}] | job.yaml:2:11: merge keys (<<) are not known here",
                "[a, b]: 1                           | job.yaml:1:1: a field has a name",
                "command: torchrun train.py          | job.yaml:1:10: command: must be a list of words",
                "command: [a, [b], null]             | job.yaml:1:14: command: must be a list of words",
            })
    void pitfallsAreProblemsOfTheFile(String text, String problem) throws IOException, CommandFailure {
        JobFile job = yaml(text.replace("\\n", "\n") + "\n");

        assertThat(problems(job)).anySatisfy(line -> assertThat(line).contains(problem));
        assertThatThrownBy(() -> job.requireRight(List.of()))
                .isInstanceOfSatisfying(
                        CommandFailure.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.BAD_SETTINGS));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ranks: [1                  | job.yaml:2:1: ",
                "- a                        | a job file has fields",
                "a: 1\\n---\\nb: 2          | expected a single document",
                "a: *gone                   | gone",
                "a: &a [*a]                 | a",
                "ranks: 1\\n\\tx: 2         | job.yaml:2:",
            })
    void whatIsNoJobFileIsRefusedWithItsPlace(String text, String problem) {
        assertThatThrownBy(() -> yaml(text.replace("\\n", "\n").replace("\\t", "\t") + "\n"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("cannot be read: ")
                .hasMessageContaining("job.yaml:")
                .hasMessageContaining(problem);
    }

    @Test
    void anchorsRepeatWhatTheyNameUpToABound() throws IOException, CommandFailure {
        JobFile job = yaml(
                """
                groups:
                  - &small {ranks: 2, memory-per-rank: &each 12GiB}
                  - *small
                  - {ranks: 1, memory-per-rank: *each}
                """);

        assertThat(problems(job)).isEmpty();
        assertThat(job.fields().get("groups"))
                .isEqualTo(List.of(
                        Map.of("ranks", 2, "memoryPerRank", "12GiB"),
                        Map.of("ranks", 2, "memoryPerRank", "12GiB"),
                        Map.of("ranks", 1, "memoryPerRank", "12GiB")));
        StringBuilder laughs = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 9; i++) {
            laughs.append("a%d: &a%d [".formatted(i, i))
                    .append("*a%d, ".formatted(i - 1).repeat(9));
            laughs.append("*a%d]\n".formatted(i - 1));
        }
        assertThatThrownBy(() -> yaml(laughs.toString()))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("at most 10000 values, with what aliases repeat");
        assertThatThrownBy(() -> yaml("a: " + "[".repeat(5000) + "]".repeat(5000)))
                .isInstanceOf(CommandFailure.class);
        assertThatThrownBy(() -> yaml("a: " + "[".repeat(40) + "]".repeat(40)))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("16 deep");
    }

    @Test
    void theSyntaxGoesByTheNameAndIsHoconOtherwise() throws IOException, CommandFailure {
        assertThat(JobFile.read(write("a.YML", "ranks: 3\n")).fields()).containsEntry("ranks", 3);
        assertThat(JobFile.read(write("a.job", "ranks = 3")).fields()).containsEntry("ranks", 3);
        assertThat(JobFile.read(write("empty.yaml", "# nothing\n")).fields()).isEmpty();
        Path json = write("a.json", "ranks = 3");
        assertThatThrownBy(() -> JobFile.read(json)).isInstanceOf(CommandFailure.class);
        Path twice = write("b.json", "{\"ranks\": 3, \"ranks\": 4}");
        assertThatThrownBy(() -> JobFile.read(twice)).isInstanceOf(CommandFailure.class);
        Path large = write("large.yaml", "#".repeat((1 << 20) + 1));
        assertThatThrownBy(() -> JobFile.read(large)).hasMessageContaining("more than 1048576 bytes");
        assertThatThrownBy(() -> JobFile.read(folder.resolve("none.yaml"))).isInstanceOf(CommandFailure.class);
        Path latin = Files.write(folder.resolve("latin.yaml"), new byte[] {'a', ':', ' ', (byte) 0xe4, '\n'});
        assertThatThrownBy(() -> JobFile.read(latin)).hasMessageContaining("it is not in UTF-8");
    }

    @Test
    void aFileThatIsNotThereIsSaidToBeMissing() {
        for (String name : List.of("none.yaml", "none.json", "none.conf")) {
            assertThatThrownBy(() -> JobFile.read(Path.of(name)))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessage("--job-file " + name + " cannot be read: there is no such file");
        }
    }
}
