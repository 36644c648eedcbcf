package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.FakeServer.Request;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command as a script meets it: arguments in; text, errors and an exit code out. */
class UllageMainTest {
    private final Path home;
    private final FakeServer server;

    UllageMainTest(@TempDir Path home) throws IOException {
        this.home = home;
        this.server = new FakeServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private record Outcome(int code, String out, String err) {}

    @Test
    void theStatusIsATableUnlessJsonIsAskedFor() {
        server.answerWith(200, "{\"schema\":1,\"nodes\":[]}");

        assertThat(run("status").out()).startsWith("coordinator ").contains("no devices");
        assertThat(run("status", "--json")).isEqualTo(new Outcome(0, "{\"schema\":1,\"nodes\":[]}\n", ""));
    }

    @Test
    void aJobIsExplainedOrTheJobsThatAreKnownAreNamed() {
        server.answerWith(
                200,
                "{'schema':1,'nodes':[{'node':'a','devices':[{'uuid':'GPU-1','ranks':[{'job':'bert','rank':0}]}]}]}"
                        .replace('\'', '"'));

        assertThat(run("explain", "bert").out()).startsWith("bert/0 on a device GPU-1\n");
        assertThat(run("explain", "gpt")).isEqualTo(new Outcome(1, "", "ullage: no rank of job gpt; known: bert\n"));
    }

    @Test
    void theJobsAreATableUnlessJsonIsAskedFor() {
        server.answerWith(
                200,
                "{'schema':1,'time':'t','total':1,'items':[{'job':'bert','processCount':2,'rankCount':2,'nodes':['a'],"
                                .replace('\'', '"')
                        + "'devices':['GPU-1','GPU-2'],'targetBytes':null,'ceilingBytes':2147483648,'usedBytes':1073741824,'skewPercent':125,'turn':'waits'}]}"
                                .replace('\'', '"'));

        server.answerAt("/api/v1/requests", 404, "{\"detail\":\"there is nothing here\"}");
        assertThat(run("jobs").out())
                .isEqualTo(
                        """
                        JOB   RANKS  PROCESSES  NODES  DEVICES     USED  TARGET  CEILING   SKEW  TURN
                        bert      2          2      1        2  1.0 GiB       -  2.0 GiB  125 %  waits
                        """);
        assertThat(run("jobs", "--json").out()).startsWith("{\"schema\":1,\"time\":\"t\",\"jobs\":[{\"job\":\"bert\",");
    }

    @Test
    void jobsThatAskedForRoomComeFirstWithWhatTheyWaitFor() {
        server.answerWith(200, "{\"schema\":1,\"time\":\"t\",\"total\":0,\"items\":[]}");
        server.answerAt(
                "/api/v1/requests",
                200,
                ("{'schema':1,'items':[{'job':'large','state':'waiting','priority':'high','wants':'4 ranks',"
                                + "'position':1,'waitsFor':'4 devices; 2 have that now','startsInMillis':7500000,"
                                + "'basis':'b','waitedMillis':65000,'ranks':[],'notes':[]},"
                                + "{'job':'bert','state':'placed','priority':'low','wants':'1 rank','position':null,"
                                + "'waitsFor':null,'startsInMillis':null,'basis':null,'waitedMillis':900,"
                                + "'ranks':[{'rank':0,'node':'a'}],'notes':[]}]}")
                        .replace('\'', '"'));

        assertThat(run("jobs").out())
                .isEqualTo(
                        """
                        POSITION  JOB    STATE    PRIORITY    AGE  STARTS IN  WANTS    WAITS FOR, OR IS ON
                               1  large  waiting  high      1m 5s      2h 5m  4 ranks  4 devices; 2 have that now
                               -  bert   placed   low          0s          -  1 rank   a

                        no jobs
                        """);
        assertThat(run("jobs", "--json").out()).contains("\"requests\":[{\"job\":\"large\"");
    }

    // The node that is asked knows of queues, the coordinator is from before there were any and does not answer.
    @Test
    void jobsAreShownThoughNothingIsKnownOfTheQueue() {
        server.answerWith(200, "{\"schema\":1,\"time\":\"t\",\"total\":0,\"items\":[]}");
        server.answerAt("/api/v1/requests", 503, "{\"detail\":\"no coordinator answered\"}");

        assertThat(run("jobs"))
                .isEqualTo(new Outcome(
                        0,
                        "no jobs\n",
                        "ullage: the queue is not known: the coordinator did not answer; it may be older\n"));
        assertThat(run("jobs", "--json").out()).contains("\"requests\":null");
    }

    @Test
    void ranksOfAJobThatIsNotThereAreNoneAndTheNearestIsNamed() {
        server.answerWith(
                200,
                "{'schema':1,'nodes':[{'node':'a','devices':[{'uuid':'GPU-1','ranks':[{'job':'bert','rank':0}]}]}]}"
                        .replace('\'', '"'));

        assertThat(run("ranks", "--job", "Bert"))
                .isEqualTo(new Outcome(
                        0, "no ranks\n", "ullage: no rank of job Bert (did you mean bert?); known: bert\n"));
    }

    // Goal: a script that works. Method: bash itself, as it asks for a completion.
    @Test
    void bashCompletesCommandsWithTheScript(@TempDir Path folder) throws Exception {
        Path script = Files.writeString(
                folder.resolve("completion"),
                execute(List.of("completion", "bash")).out());
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        "source \"$0\" && COMP_WORDS=(ullage sta) COMP_CWORD=1 && _complete_ullage && printf '%s\n'"
                                + " \"${COMPREPLY[@]}\"",
                        script.toString())
                .redirectErrorStream(true)
                .start();
        String answer = new String(bash.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);

        assertThat(bash.waitFor()).as(answer).isZero();
        assertThat(answer.lines()).contains("status");
        assertThat(execute(List.of("completion", "tcsh")).err()).contains("'tcsh' must be bash, zsh or fish");
    }

    @Test
    void aWatchDrawsOverItselfUntilNobodyReads() {
        server.answerWith(200, "{\"schema\":1,\"nodes\":[]}");
        ClosingWriter out = new ClosingWriter(2);

        int code = commandLine(out, new StringWriter(), new Terminal(true, false, 120))
                .execute(
                        "status",
                        "--watch",
                        "--interval",
                        "100ms",
                        "--server",
                        server.uri().toString());

        assertThat(code).isZero();
        assertThat(out.frames).hasSize(2).allSatisfy(frame -> assertThat(frame)
                .startsWith("\u001b[H\u001b[2Jcoordinator ")
                .endsWith("no ranks\n"));
    }

    @Test
    void aWatchOutlivesTheCoordinator() {
        server.close();
        ClosingWriter out = new ClosingWriter(2);

        commandLine(out, new StringWriter(), Terminal.NONE)
                .execute(
                        "status",
                        "--watch",
                        "--interval",
                        "100ms",
                        "--server",
                        server.uri().toString());

        assertThat(out.frames).hasSize(2).allSatisfy(frame -> assertThat(frame)
                .startsWith("no coordinator at " + server.uri()));
    }

    /** The reading end of a pipe that closes after some frames; each flush ends one. */
    private static final class ClosingWriter extends Writer {
        private final List<String> frames = new ArrayList<>();
        private final StringBuilder frame = new StringBuilder();
        private final int maxFrames;

        ClosingWriter(int maxFrames) {
            this.maxFrames = maxFrames;
        }

        @Override
        public void write(char[] text, int offset, int length) throws IOException {
            frame.append(text, offset, length);
        }

        @Override
        public void flush() throws IOException {
            if (frame.length() > 0) {
                frames.add(frame.toString());
                frame.setLength(0);
            }
            if (frames.size() >= maxFrames) {
                throw new IOException("Broken pipe");
            }
        }

        @Override
        public void close() {}
    }

    @Test
    void nobodyThereIsExitCodeFive() {
        server.close();

        Outcome outcome = run("status");

        assertThat(outcome.code()).isEqualTo(5);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err())
                .isEqualTo("ullage: no coordinator at " + server.uri()
                        + ": connection refused; start one with \"ullage up\", or say where it is with --server\n");
    }

    @Test
    void anotherServerIsExitCodeOne() {
        server.answerWith(200, "<html>");

        assertThat(run("status").code()).isEqualTo(1);
    }

    @Test
    void aChangeUsesTheTokenOfTheStateFolder() throws IOException {
        String secret =
                OperatorToken.loadOrCreate(home.resolve(".local/state/ullage")).secret();
        server.answerWith(200, "{\"message\":\"reserve of all devices: 25%\"}");

        Outcome outcome = run("set", "reserve", "25%");

        assertThat(outcome).isEqualTo(new Outcome(0, "reserve of all devices: 25%\n", ""));
        assertThat(server.requests())
                .containsExactly(new Request(
                        "POST", "/api/v1/reserve", "Bearer " + secret, "{\"reserve\":\"25%\",\"device\":null}"));
    }

    @ParameterizedTest
    @CsvSource({"bert, bert, null", "bert/3, bert, 3", "team/bert, team/bert, null", "team/bert/3, team/bert, 3"})
    void aShareIsSetForAJobOrForOneRank(String target, String job, String rank) throws IOException {
        OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        server.answerWith(200, "{\"message\":\"done\"}");

        assertThat(run("set", "share", target, "0.5").code()).isZero();

        assertThat(server.requests().get(0).body())
                .isEqualTo("{\"job\":\"" + job + "\",\"rank\":" + rank + ",\"share\":\"50%\"}");
    }

    @ParameterizedTest
    @CsvSource({"bert, bert, null", "team/bert/3, team/bert, 3"})
    void cachesAreAskedForOfAJobOrOfOneRank(String target, String job, String rank) throws IOException {
        OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        server.answerWith(200, "{\"message\":\"done\"}");

        assertThat(run("release", target)).isEqualTo(new Outcome(0, "done\n", ""));

        assertThat(server.requests().get(0).path()).isEqualTo("/api/v1/release");
        assertThat(server.requests().get(0).body()).isEqualTo("{\"job\":\"" + job + "\",\"rank\":" + rank + "}");
    }

    @Test
    void aRefusalIsExitCodeSixAndSaysWhy() throws IOException {
        OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        server.answerWith(409, "{\"detail\":\"no device GPU-9\"}");

        assertThat(run("set", "reserve", "25%", "--device", "GPU-9"))
                .isEqualTo(new Outcome(6, "", "ullage: no device GPU-9\n"));
    }

    @ParameterizedTest
    @CsvSource({"cancel bart", "requeue bart", "set priority bart high", "drain host-b"})
    void aChangeToWhatIsNotKnownIsRefusedWithWhatIs(String command) throws IOException {
        OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        server.answerWith(404, "{\"detail\":\"refused: none; known: bert\",\"errors\":[],\"notKnown\":\"job\"}");

        assertThat(run(command.split(" "))).isEqualTo(new Outcome(6, "", "ullage: refused: none; known: bert\n"));
    }

    // A coordinator from before there was a queue has no such path: that is no answer about the job.
    @Test
    void aPathThatAnOlderCoordinatorDoesNotHaveIsNoRefusal() throws IOException {
        OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        server.answerWith(404, "{\"detail\":\"there is nothing here; known: /\",\"errors\":[]}");

        assertThat(run("cancel", "bert")).isEqualTo(new Outcome(1, "", "ullage: there is nothing here; known: /\n"));
    }

    @Test
    void aTokenThatCannotBeUsedIsExitCodeSeven() throws IOException {
        Path file = home.resolve("token");
        Files.writeString(file, "x");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        Outcome outcome = run("set", "reserve", "25%", "--token-file", file.toString());

        assertThat(outcome.code()).isEqualTo(7);
        assertThat(outcome.err()).contains(file + " is open to others");
        assertThat(server.requests()).isEmpty();
    }

    @Test
    void thePathOfTheTokenFollowsTheSettings() throws IOException {
        Path config = Files.writeString(home.resolve("ullage.conf"), "ullage.node.state-dir = \"/var/lib/ullage\"");

        assertThat(run("token").out()).isEqualTo(home.resolve(".local/state/ullage/operator.token") + "\n");
        assertThat(run("token", "--config", config.toString()).out()).isEqualTo("/var/lib/ullage/operator.token\n");
    }

    @Test
    void brokenSettingsAreExitCodeFourAndAllNamed() throws IOException {
        Path config =
                Files.writeString(home.resolve("ullage.conf"), "ullage.http.port = x\nullage.limits.reserve = 200%");

        Outcome outcome = run("token", "--config", config.toString());

        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.err())
                .startsWith("ullage: 2 problems in the settings:\n")
                .contains(config + ": 1", config + ": 2")
                .doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "stat",
                "set",
                "set reserve",
                "set reserve 150%",
                "set reserve NaN",
                "status --interval 5",
                "status --server ftp://x",
                "status --server http://x/path",
                "status --nonsense"
            })
    void whatCannotBeUnderstoodIsExitCodeTwoWithoutATrace(String arguments) {
        Outcome outcome = execute(arguments.isEmpty() ? List.of() : Arrays.asList(arguments.split(" ")));

        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).startsWith("ullage: ").contains("--help\".").doesNotContain("\tat ");
    }

    @Test
    void aTraceIsShownOnlyWhenAskedFor() {
        server.close();

        assertThat(run("status").err()).doesNotContain("\tat ");
        assertThat(run("status", "--debug").err()).contains("\tat dev.ullage.cli.client.ApiClient");
    }

    @Test
    void theHelpListsEveryExitCode() {
        String help = execute(List.of("--help")).out();

        for (ExitCode code : ExitCode.values()) {
            assertThat(help)
                    .contains("   " + code.code() + " ")
                    .contains(code.meaning().split(",")[0]);
        }
    }

    @Test
    void theVersionIsOneLine() {
        assertThat(execute(List.of("--version")).out())
                .matches("ullage .* \\(protocol 1, Pekko 1\\.7\\.0, Java .*\\)\n");
    }

    @Test
    void theCommandAndARealServerUnderstandEachOther() throws Exception {
        ActorTestKit kit = ActorTestKit.create();
        try {
            OperatorToken token = OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
            String url = "http://127.0.0.1:"
                    + HttpApi.start(
                                    kit.system(),
                                    new HttpSettings("127.0.0.1", 0, false),
                                    coordinator(kit),
                                    new NodeId("host-a"),
                                    token,
                                    new MetricsPage(false))
                            .toCompletableFuture()
                            .get(10, TimeUnit.SECONDS)
                            .localAddress()
                            .getPort();

            Outcome json = execute(List.of("status", "--json", "--server", url));
            assertThat(json.code()).isZero();
            JsonNode status = JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build()
                    .readTree(json.out());
            assertThat(status.path("nodes").isArray()).isTrue();
            assertThat(status.path("nodes")).isEmpty();

            assertThat(execute(List.of("set", "reserve", "25%", "--server", url)))
                    .isEqualTo(new Outcome(0, "reserve 25%\n", ""));
            assertThat(execute(List.of("set", "share", "bert/3", "50%", "--server", url)))
                    .isEqualTo(new Outcome(6, "", "ullage: no job bert\n"));
        } finally {
            kit.shutdownTestKit();
        }
    }

    private static ActorRef<ToCoordinator> coordinator(ActorTestKit kit) {
        return kit.spawn(Behaviors.receiveMessage(message -> {
            if (message instanceof StatusQuery query) {
                query.replyTo()
                        .tell(new ClusterStatus(
                                new NodeId("host-a"), Optional.empty(), "ACTIVE", List.of(), List.of()));
            } else if (message instanceof SetReserve set) {
                set.replyTo().tell(new Accepted("reserve " + set.reserve()));
            } else if (message instanceof SetShare set) {
                set.replyTo().tell(new Refused("no job " + set.job()));
            }
            return Behaviors.same();
        }));
    }

    private Outcome run(String... arguments) {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        if (!all.contains("token")) {
            all.addAll(List.of("--server", server.uri().toString()));
        }
        return execute(all);
    }

    private Outcome execute(List<String> arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = commandLine(out, err, Terminal.NONE).execute(arguments.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private CommandLine commandLine(Writer out, Writer err, Terminal terminal) {
        return UllageMain.commandLine(new CliEnvironment(
                Map.of("HOME", home.toString()), new PrintWriter(out), new PrintWriter(err), terminal));
    }

    @Test
    void whatACommandSaysOfAnInternalErrorIsForPeople() {
        assertThat(UllageMain.internalError(new CommandFailure(ExitCode.INTERNAL, "the API did not start within 2m")))
                .isEqualTo("ullage: internal error: the API did not start within 2m");
        assertThat(UllageMain.internalError(new IllegalStateException("why")))
                .isEqualTo("ullage: internal error: java.lang.IllegalStateException: why");
    }
}
