package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage report} against golden texts; the documents are those of the coordinator's golden answers. */
class ReportCommandTest {
    private static final JsonMapper JSON = new JsonMapper();

    private final FakeServer server = new FakeServer();
    private final Path folder;

    ReportCommandTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
    }

    private record Outcome(int code, String out, String err) {}

    @AfterEach
    void stop() {
        server.close();
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ReportCommandTest.class.getResourceAsStream("/report/" + name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("report"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--server", server.uri().toString()));
        int code = UllageMain.commandLine(
                        new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private void assertText(String document, String golden) throws IOException {
        server.answerWith(200, resource(document));
        Outcome outcome = run("bert");

        assertThat(outcome.code()).as(outcome.err()).isZero();
        if (Boolean.getBoolean("ullage.golden.write")) {
            Files.writeString(Path.of("src/test/resources/report", golden), outcome.out());
        }
        assertThat(outcome.out()).isEqualTo(resource(golden));
    }

    @Test
    void aJobOfWhichEverythingIsKnownReadsLikeThis() throws IOException {
        assertText("known.json", "known.txt");
        assertThat(server.requests()).hasSize(1).first().satisfies(request -> assertThat(request.path())
                .isEqualTo("/api/v1/report"));
    }

    @Test
    void whatNobodyToldIsUnknownAndNoFigureIsZeroForThat() throws IOException {
        assertText("terse.json", "terse.txt");
        assertThat(resource("terse.txt"))
                .contains("unknown")
                .doesNotContain("null")
                .doesNotContain("NaN");
    }

    @Test
    void asJsonItIsTheAnswerAsItCame() throws IOException {
        server.answerWith(200, resource("known.json"));

        assertThat(JSON.readTree(run("bert", "--json").out())).isEqualTo(JSON.readTree(resource("known.json")));
    }

    @Test
    void aPageIsWrittenBesideTheText() throws IOException {
        server.answerWith(200, resource("known.json"));
        Path file = folder.resolve("bert.html");
        Outcome outcome = run("bert", "--html", file.toString());

        assertThat(outcome.out()).isEqualTo(resource("known.txt"));
        assertThat(Files.readString(file))
                .startsWith("<!doctype html>")
                .contains("id=\"data\"")
                .contains("\"job\":\"bert\"");
        Outcome refused = run("bert", "--html", folder.resolve("none/x.html").toString());
        assertThat(refused.code()).isEqualTo(ExitCode.FAILED.code());
        assertThat(refused.err()).contains("--html: '").contains("cannot be written");
    }

    @Test
    void aJobThatNobodyKnowsIsSaidWithThoseThatAreKnown() {
        server.answerWith(404, "{\"detail\":\"no job named bart has an account here; known: bert\"}");
        Outcome outcome = run("bart");

        assertThat(outcome.code()).isEqualTo(ExitCode.FAILED.code());
        assertThat(outcome.err()).contains("no job named bart has an account here; known: bert");
    }
}
