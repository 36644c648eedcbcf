package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.show.Terminal;
import dev.ullage.common.testing.Requires;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ullage simulate} makes of files as they come, and of the files that it is to write. */
class SimulateFilesTest {
    private static final String NODES = "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,8,T4\n";
    private static final String HEADINGS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli";
    private static final String TIMES = HEADINGS + ",creation_time,deletion_time,scheduled_time";

    private final Path folder;

    SimulateFilesTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        Files.writeString(folder.resolve("nodes.csv"), NODES);
    }

    private record Outcome(int code, String out, String err) {}

    private Outcome run(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(
                List.of("simulate", "--nodes", folder.resolve("nodes.csv").toString()));
        Arrays.stream(arguments).map(Object::toString).forEach(all::add);
        int code = UllageMain.commandLine(new CliEnvironment(
                        Map.of("HOME", "/"), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private Path jobs(String name, String... lines) throws IOException {
        return Files.writeString(folder.resolve(name), String.join("\n", lines) + "\n");
    }

    private Path good() throws IOException {
        return jobs("good.csv", TIMES, "a,1,1,1,500,0,700,5", "b,1,1,2,1000,0,900,5");
    }

    private String refusal(Path file) {
        Outcome outcome = run("--pods", file, "--seeds=1", "--policy=pack");
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.BAD_SETTINGS.code());
        assertThat(outcome.out()).isEmpty();
        return outcome.err();
    }

    @Test
    void aFileFromElsewhereIsReadAsItIs() throws IOException {
        String plain = Files.readString(good());
        Files.writeString(
                folder.resolve("good.csv"),
                "\ufeff" + plain.replace("\n", "\r\n").replace("a,1", "\"a\",\"1\""));

        Outcome outcome = run("--pods", folder.resolve("good.csv"), "--seeds=1", "--policy=pack", "--json");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        Files.writeString(folder.resolve("good.csv"), plain);
        assertThat(run("--pods", folder.resolve("good.csv"), "--seeds=1", "--policy=pack", "--json")
                        .out())
                .isEqualTo(outcome.out());
    }

    @Test
    void aProblemHasTheLineOfTheFileAlsoAfterCellsOfSeveralLines() throws IOException {
        Path file = jobs("jobs.csv", HEADINGS, "\"a", "b", "c\",1,1,1,500", "", "bad,-7,1,1,500");

        assertThat(refusal(file))
                .contains("jobs.csv:5: line \"\": must have 5 cells and has 1")
                .contains("jobs.csv:6: cpu_milli \"-7\": must be");
    }

    @Test
    void whatStandsInAFileNeitherSteersNorFillsATerminal() throws IOException {
        Path file = jobs(
                "jobs.csv", HEADINGS + ",gpu_spec", "a," + "9".repeat(10_000) + ",1,1,500,\u001b]0;x\u0007\u001b[31m");

        assertThat(refusal(file))
                .contains("cpu_milli \"" + "9".repeat(60) + "...\": must be", "no node has the model \"?]0;x??[31m\"")
                .doesNotContain("\u001b", "\u0007");
    }

    @Test
    void aFileThatBreaksOffSaysWhere() throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEADINGS));
        for (int i = 0; i < 5_000; i++) {
            lines.add("job-%d,%d,1,1,500".formatted(i, (i * 7_919L) % 1_000));
        }
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
            gzip.write(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
        }
        byte[] half = Arrays.copyOf(zipped.toByteArray(), zipped.size() / 2);

        assertThat(refusal(Files.write(folder.resolve("half.csv.gz"), half)))
                .containsPattern("half.csv.gz: cannot be read: line \\d{3,4}: Unexpected end of ZLIB input stream\n")
                .doesNotContain("Exception");
        assertThat(refusal(jobs("open.csv", HEADINGS, "a,1,1,1,500", "\"b,1,1,1,500")))
                .contains("open.csv: cannot be read: line 3: Missing closing quote for value");
        assertThat(refusal(folder.resolve("none.csv"))).contains("none.csv: cannot be read: there is no such file");
    }

    @Test
    void timesThatCannotBeAreRefused() throws IOException {
        assertThat(refusal(
                        jobs("jobs.csv", TIMES, "a,1,1,1,500,10,20,9", "b,1,1,1,500,10,20,21", "c,1,1,1,500,10,20,")))
                .contains("2 problems")
                .contains("jobs.csv:2: scheduled_time \"9\": must not be before creation_time, which is 10")
                .contains("jobs.csv:3: scheduled_time \"21\": must not be after deletion_time, which is 20");
    }

    @Test
    void twoFilesCannotMakeOneWorkload() throws IOException {
        Path other = Files.copy(
                good(), Files.createDirectory(folder.resolve("other")).resolve("good.csv"));

        Outcome outcome = run("--pods", good(), other);
        assertThat(outcome.code()).isEqualTo(ExitCode.BAD_SETTINGS.code());
        assertThat(outcome.err()).contains("other/good.csv: another file makes a workload of this name, good");
    }

    @Test
    void aPublishedNameWithOtherJobsHasNoPublishedFigures() throws IOException {
        Path file = Files.move(good(), folder.resolve("openb_pod_list_default.csv"));

        Outcome outcome = run("--pods", file, "--seeds=1", "--policy=fgd", "--json");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).doesNotContain("published");
        assertThat(outcome.err())
                .contains("default: its jobs or nodes are not known to be those of the published trace");
    }

    @Test
    void seedsThatThereAreNotAreAMatterOfUsage() throws IOException {
        Outcome outcome = run("--pods", good(), "--seed=" + Long.MAX_VALUE, "--seeds=2");

        assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
        assertThat(outcome.err()).contains("--seed must be less than");
        assertThat(run("--pods", good(), "--longest=3", "--persistent=30").err())
                .contains("--longest says something only with --load; --persistent says something only with --load");
    }

    @Test
    void whereNoChartCanBeWrittenIsSaidBeforeAnythingIsWorkedOut() throws IOException {
        Path taken = Files.createDirectory(folder.resolve("taken.svg"));
        Stream.of(
                        "chart.pdf|must end in .svg or .png",
                        "chart|must end in .svg or .png",
                        "no/chart.svg|a folder that is not there",
                        taken.getFileName() + "|cannot be written")
                .map(text -> text.split("\\|"))
                .forEach(parts -> {
                    Outcome outcome = run("--pods", folder.resolve("none.csv"), "--chart", folder.resolve(parts[0]));
                    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE.code());
                    assertThat(outcome.err()).contains(parts[1]);
                });
    }

    @Test
    void aChartUnderLoadHasABarForEachModeAndLoad() throws Exception {
        Path chart = folder.resolve("load.svg");

        Outcome outcome =
                run("--pods", good(), "--load=0.5,1.5", "--longest=1", "--seeds=1", "--policy=pack", "--chart", chart);

        assertThat(outcome.code()).as(outcome.err()).isZero();
        // The background; and for waits and for use each, two loads in three modes, and three boxes of the legend.
        assertThat(DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(chart.toFile())
                        .getElementsByTagName("rect")
                        .getLength())
                .isEqualTo(1 + 2 * (2 * 3 + 3));
    }

    @Test
    void aChartMayBeAPng() throws Exception {
        Requires.that(Files.isDirectory(Path.of("/usr/share/fonts")), "no fonts; package fonts-dejavu-core");
        Path chart = folder.resolve("chart.PNG");

        Outcome outcome = run("--pods", good(), "--seeds=1", "--policy=pack,fgd", "--chart", chart);

        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(ImageIO.read(chart.toFile()).getWidth()).isEqualTo(2 * 720);
        assertThat(folder).isDirectoryNotContaining("glob:**.part");
    }
}
