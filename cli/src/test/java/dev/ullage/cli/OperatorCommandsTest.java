package dev.ullage.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ullage.cli.show.Terminal;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.protocol.OperatorWrite;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.config.HttpSettings;
import dev.ullage.coordinator.http.HttpApi;
import dev.ullage.coordinator.http.OperatorToken;
import dev.ullage.coordinator.metrics.MetricsPage;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What an operator types arrives at a coordinator as it was meant, over the real API. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperatorCommandsTest {
    private static final JobId BERT = new JobId("bert");

    private final ActorTestKit kit = ActorTestKit.create();
    private final BlockingQueue<OperatorWrite> asked = new LinkedBlockingQueue<>();
    private final Path home;
    private final String url;

    private record Outcome(int code, String out, String err) {}

    OperatorCommandsTest(@TempDir Path home) throws Exception {
        this.home = home;
        OperatorToken token = OperatorToken.loadOrCreate(home.resolve(".local/state/ullage"));
        url = "http://127.0.0.1:"
                + HttpApi.start(
                                kit.system(),
                                new HttpSettings("127.0.0.1", 0, false),
                                kit.spawn(Behaviors.<ToCoordinator>receiveMessage(message -> {
                                    if (message instanceof OperatorWrite write) {
                                        asked.add(write);
                                        boolean isRefused = message instanceof SetLimit;
                                        write.replyTo().tell(isRefused ? new Refused("no room") : new Accepted("done"));
                                    }
                                    return Behaviors.same();
                                })),
                                new NodeId("host-a"),
                                token,
                                new MetricsPage(false))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .localAddress()
                        .getPort();
    }

    @AfterAll
    void stop() {
        kit.shutdownTestKit();
    }

    private Outcome run(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--server", url));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CliEnvironment environment = new CliEnvironment(
                Map.of("HOME", home.toString(), "USER", "ann"),
                new PrintWriter(out),
                new PrintWriter(err),
                Terminal.NONE);
        int code = UllageMain.commandLine(environment).execute(all.toArray(new String[0]));
        return new Outcome(code, out.toString(), err.toString());
    }

    private <T extends OperatorWrite> T asked(Class<T> kind) throws InterruptedException {
        OperatorWrite write = asked.poll(10, TimeUnit.SECONDS);
        assertThat(write).isInstanceOf(kind);
        return kind.cast(write);
    }

    @Test
    void aNodeIsDrainedWithReasonAndUserAndTakenBack() throws Exception {
        assertThat(run("drain", "n1", "--reason", "new fan")).isEqualTo(new Outcome(0, "done\n", ""));
        DrainNode drain = asked(DrainNode.class);
        assertThat(drain.node()).isEqualTo(new NodeId("n1"));
        assertThat(drain.reason()).contains("new fan");
        assertThat(drain.by()).contains("ann");

        assertThat(run("undrain", "n1", "--json").out()).isEqualTo("{\"schema\":1,\"message\":\"done\"}\n");
        assertThat(asked(UndrainNode.class).node()).isEqualTo(new NodeId("n1"));
    }

    @Test
    void jobsGetPolicyAndPriorityAndOffTakesThemBack() throws Exception {
        assertThat(run("set", "policy", "bert", "growth").code()).isZero();
        assertThat(asked(SetPolicy.class).policy()).contains("growth");
        assertThat(run("set", "policy", "bert", "off").code()).isZero();
        assertThat(asked(SetPolicy.class).policy()).isEmpty();
        assertThat(run("set", "priority", "bert", "high").code()).isZero();
        SetPriority high = asked(SetPriority.class);
        assertThat(high.job()).isEqualTo(BERT);
        assertThat(high.priority()).contains(Priority.HIGH);
        assertThat(run("set", "priority", "bert", "off", "--json").code()).isZero();
        assertThat(asked(SetPriority.class).priority()).isEmpty();
    }

    @Test
    void aRanksLimitIsASizeOrOffAndARefusalIsSaid() throws Exception {
        assertThat(run("set", "limit", "bert/3", "30GiB")).isEqualTo(new Outcome(6, "", "ullage: no room\n"));
        SetLimit limit = asked(SetLimit.class);
        assertThat(limit.job()).isEqualTo(BERT);
        assertThat(limit.rank()).isEqualTo(3);
        assertThat(limit.limit()).contains(MemoryBytes.ofGibibytes(30));
        assertThat(run("set", "limit", "bert/3", "off").code()).isEqualTo(6);
        assertThat(asked(SetLimit.class).limit()).isEmpty();
    }

    @Test
    void whatCannotBeMeantIsAUsageErrorThatSaysWhatCould() {
        assertThat(run("set", "limit", "bert", "30GiB").err()).contains("names no rank: say JOB/RANK");
        assertThat(run("set", "limit", "bert/3", "30gigs").err()).contains("30gigs");
        assertThat(run("set", "priority", "bert", "hgh").err())
                .contains("did you mean high?")
                .contains("or off");
        assertThat(run("drain", "n1", "--reason", "two\nlines").err()).contains("must be one line");
        assertThat(run("drain", "n1", "--reason", "two\nlines").code()).isEqualTo(2);
        assertThat(run("set").code()).isEqualTo(2);
        assertThat(asked).isEmpty();
    }

    @Test
    void theAnswerIsJsonWhenAskedFor() throws Exception {
        String answer = run("set", "reserve", "30%", "--json").out();
        assertThat(new JsonMapper().readTree(answer).path("message").asText()).isEqualTo("done");
        assertThat(run("release", "bert/1", "--json").code()).isZero();
        assertThat(run("set", "share", "bert", "50%", "--json").code()).isZero();
        assertThat(asked.size()).isEqualTo(3);
        asked.clear();
        assertThat(Optional.ofNullable(asked.peek())).isEmpty();
    }
}
