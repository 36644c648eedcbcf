package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.BudgetTerms;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.config.LimitSettings;
import dev.ullage.coordinator.decisions.Decision.Kind;
import dev.ullage.coordinator.decisions.Decision.Subject;
import dev.ullage.coordinator.decisions.DecisionBook;
import dev.ullage.coordinator.decisions.PlannerSettings;
import dev.ullage.coordinator.journal.DecisionJson;
import dev.ullage.coordinator.planning.DeviceInput;
import dev.ullage.coordinator.planning.DeviceInput.RankInput;
import dev.ullage.coordinator.planning.DeviceTarget;
import dev.ullage.coordinator.planning.LimitPlanner;
import dev.ullage.coordinator.planning.LimitPlanner.Decided;
import dev.ullage.coordinator.planning.RankRequest;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ullage replay} as a script meets it. */
class ReplayCommandTest {
    private static final Duration STALE_AFTER = Duration.ofSeconds(5);
    private static final CoordinatorToken TOKEN = new CoordinatorToken(3, "me");
    private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");
    private static final JobId JOB = new JobId("bert");

    private final Path folder;
    private final Path log;
    private final DecisionBook book = new DecisionBook(PlannerSettings.of(STALE_AFTER, LimitSettings.defaults()));

    ReplayCommandTest(@TempDir Path folder) {
        this.folder = folder;
        this.log = folder.resolve("decisions.jsonl");
    }

    private record Outcome(int code, String out, String err) {}

    private Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("replay"));
        all.addAll(List.of(arguments));
        int code = UllageMain.commandLine(
                        new CliEnvironment(Map.of(), new PrintWriter(out), new PrintWriter(err), Terminal.NONE))
                .execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    /** Two ranks join a device of 80 GiB with a reserve of 20%: 32 GiB each. */
    private String plan(String device) {
        List<RankInput> ranks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            RankInstance instance = new RankInstance(new RankId(JOB, i), 100L + i, 1);
            ranks.add(new RankInput(new RankRequest(instance, Share.ALL), true));
        }
        DeviceInput input = new DeviceInput(
                new DeviceId(device),
                new BudgetTerms(MemoryBytes.ofGibibytes(80), Share.ofPercent(20), MemoryBytes.ZERO),
                false,
                new DeviceTarget(Share.ofPercent(20), new TreeMap<>(), Optional.empty(), false),
                Duration.ofMillis(100),
                Optional.empty(),
                ranks,
                Optional.empty(),
                Optional.empty());
        Decided decided = new Decided(
                input, LimitPlanner.of(STALE_AFTER, LimitSettings.defaults()).decide(input));
        return DecisionJson.line(book.planned(decided, 1, TOKEN, AT)) + "\n";
    }

    private String write() {
        return DecisionJson.line(book.other(Kind.OPERATOR, Subject.of(JOB), "share -> 50%", TOKEN, AT)) + "\n";
    }

    @Test
    void aLogAsItWasWrittenIsDecidedTheSameAgain() throws IOException {
        Files.writeString(folder.resolve("decisions.jsonl.1"), plan("GPU-0") + write());
        Files.writeString(log, plan("GPU-1"));

        assertThat(run(folder.toString()))
                .isEqualTo(new Outcome(
                        0,
                        """
                        2 decisions planned again: 2 the same, 0 different
                          1 of kind operator, which is no plan
                        """,
                        ""));
        assertThat(run(folder.toString(), "--device", "GPU-1").out())
                .isEqualTo("1 decision planned again: 1 the same, 0 different\n");
    }

    @Test
    void anAlteredRecordIsShownWithBothValues() throws IOException {
        Files.writeString(log, plan("GPU-0") + plan("GPU-1").replaceFirst("\"forward\":34359738368", "\"forward\":7"));

        assertThat(run(log.toString()))
                .isEqualTo(new Outcome(
                        1,
                        log + ":2: plan of GPU-1 at 2026-01-01T00:00:00Z (token 3:me, number 2)\n"
                                + "  limit of bert/0 in FORWARD: recorded 7, now 34359738368\n"
                                + "2 decisions planned again: 1 the same, 1 different\n",
                        ""));
    }

    @Test
    void anotherReasonIsNoDifference() throws IOException {
        Files.writeString(log, plan("GPU-0").replaceAll("over 2 ranks", "among two"));

        assertThat(run(log.toString()).code()).isZero();
        assertThat(run(log.toString()).out()).contains("1 of the same with a reason that reads differently");
    }

    @Test
    void anotherPolicyIsComparedWithWhatWasDecided() throws IOException {
        Files.writeString(log, plan("GPU-0"));

        assertThat(run(log.toString(), "--policy", "rank-share").code()).isZero();
        Outcome unknown = run(log.toString(), "--policy", "fairest");
        assertThat(unknown.code()).isEqualTo(2);
        assertThat(unknown.err()).contains("'fairest' is no policy; known: rank-share, ");
    }

    @Test
    void aLastLineThatIsCutOffIsLeftOut() throws IOException {
        Files.writeString(log, plan("GPU-0") + plan("GPU-1").substring(0, 300));

        assertThat(run(log.toString()))
                .isEqualTo(new Outcome(
                        0,
                        "1 decision planned again: 1 the same, 0 different\n"
                                + "  the last record is cut off and left out: " + log + ":2\n",
                        ""));
    }

    @Test
    void everyLineThatIsNoRecordIsNamed() throws IOException {
        Files.writeString(log, "{\"schema\":9}\n" + plan("GPU-0") + "nonsense\n");
        Path missing = folder.resolve("missing");

        Outcome outcome = run(log.toString(), missing.toString());

        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.out()).startsWith("1 decision planned again: 1 the same, 0 different");
        assertThat(outcome.err())
                .contains(log + ":1: a record of schema 9, this version reads 1\n")
                .contains(log + ":3: Unrecognized token 'nonsense'")
                .contains(missing + ": cannot be read: there is no such file");
    }

    @Test
    void theResultAsJson() throws IOException {
        Files.writeString(
                log,
                plan("GPU-0")
                        + "{\"schema\":1,\"kind\":\"dropped\",\"records\":3}\n{\"schema\":1,\"kind\":\"later\"}\n"
                        + plan("GPU-1").replaceFirst("\"reserve\":2000,\"limits\"", "\"reserve\":1000,\"limits\""));

        JsonNode json = new JsonMapper().readTree(run(log.toString(), "--json").out());

        assertThat(json.path("same").intValue()).isEqualTo(1);
        assertThat(json.path("different").intValue()).isEqualTo(1);
        assertThat(json.path("dropped").intValue()).isEqualTo(3);
        assertThat(json.path("unknown").intValue()).isEqualTo(1);
        assertThat(json.at("/differences/0/where").asText()).isEqualTo(log + ":4");
        assertThat(json.at("/differences/0/differences").toString())
                .isEqualTo("[{\"what\":\"reserve\",\"recorded\":\"10%\",\"now\":\"20%\"}]");
    }
}
