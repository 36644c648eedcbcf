package dev.ullage.worker.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.JobReport;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.protocol.ToWorker.ReleaseCache;
import dev.ullage.common.testing.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks on a real socket run out of memory; the test plays the coordinator. */
class OutOfMemoryTest {
    private static final NodeId NODE = new NodeId("node-a");
    private static final CoordinatorToken TOKEN = new CoordinatorToken(2, "c");
    private static final String OOM =
            "{\"type\":\"oom\",\"sequence\":0,\"step\":7,\"phase\":\"BACKWARD\",\"retry\":true}";

    private final RankHarness worker = new RankHarness(RankHarness.MAX_RANKS);
    private final TestInbox<ToCoordinator> coordinator = TestInbox.create();
    private RankServer server;

    @BeforeEach
    void openTheSocket(@TempDir Path folder) throws IOException {
        server = worker.open(folder.resolve("ranks.sock"));
        for (int number = 0; number < 10; number++) {
            worker.processes.run(100 + number, 7L * (100 + number));
        }
    }

    @AfterEach
    void closeEverything() throws IOException {
        server.close();
        worker.close();
    }

    private RankClient join(int rank, int process, String more) throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(rank, process, more));
        assertThat(client.hear().path("type").textValue()).isEqualTo("welcome");
        return client;
    }

    private static JobDirective directive(long sequence) {
        return new JobDirective(
                new JobId("job"),
                sequence,
                7,
                OomLevel.MICRO_BATCH,
                new JobDirective.Sizes(OptionalInt.of(8), OptionalInt.of(2)),
                false,
                new JobDirective.Cause(0, Optional.empty(), List.of(), "rank 0 ran out"));
    }

    private void direct(CoordinatorToken from, JobDirective directive) {
        worker.ask(sessions -> {
            sessions.onDirect(new DirectJob(from, directive, coordinator.getRef()));
            return true;
        });
    }

    private boolean isReportDue() {
        return worker.ask(sessions -> sessions.changedJobs(NODE).isPresent());
    }

    private JobReport job() {
        return worker.ask(sessions -> sessions.jobs(NODE)).jobs().get(0);
    }

    private static void assertHears(RankClient client, long sequence, boolean resumed) throws IOException {
        JsonNode line = client.hear();
        assertThat(line.path("type").textValue()).isEqualTo("directive");
        assertThat(line.path("sequence").longValue()).isEqualTo(sequence);
        assertThat(line.path("microBatch").intValue()).isEqualTo(8);
        assertThat(line.path("resumed").booleanValue()).isEqualTo(resumed);
    }

    private void release(CoordinatorToken from, int rank, int process) {
        RankInstance instance = new RankInstance(new RankId(new JobId("job"), rank), process, 7L * process);
        worker.ask(sessions -> {
            sessions.release(new ReleaseCache(from, List.of(instance), coordinator.getRef()));
            return true;
        });
    }

    // Goal: no rank but the one named is asked, and nobody by a coordinator that was replaced. Method: what is sent
    // after it has come, so what was to be sent before it has too.
    @Test
    void aCacheIsAskedForOnceOfTheRankThatIsNamed() throws IOException {
        RankClient first = join(0, 100, "");
        RankClient second = join(1, 101, "");
        CoordinatorToken newer = new CoordinatorToken(99, "newer");
        worker.ask(sessions -> {
            sessions.learn(newer);
            return true;
        });

        release(TOKEN, 1, 101);
        release(newer, 0, 100);
        release(newer, 7, 107);
        direct(newer, directive(1));

        assertThat(first.hear().path("type").textValue()).isEqualTo("release-cache");
        assertHears(first, 1, false);
        assertHears(second, 1, false);
    }

    @Test
    void allRanksHearTheDirectiveOnceAndTheirAnswersAreReported() throws IOException {
        RankClient first = join(0, 100, "");
        RankClient second = join(1, 101, "");
        first.say(OOM);
        Eventually.eventually("the report", () -> !job().pending().isEmpty());
        assertThat(isReportDue()).isTrue();
        assertThat(isReportDue()).isFalse();

        direct(TOKEN, directive(1));
        direct(TOKEN, directive(1));

        assertHears(first, 1, false);
        assertHears(second, 1, false);
        assertThat(job().pending()).isEmpty();
        second.say("{\"type\":\"directive-applied\",\"directive\":{\"job\":\"job\",\"sequence\":1,\"step\":7,"
                + "\"level\":\"MICRO_BATCH\",\"restart\":false,\"rank\":0}}");
        Eventually.eventually("the answer", () -> !job().applied().isEmpty());
        assertThat(first.hearsNothing() && second.hearsNothing()).isTrue();
    }

    @Test
    void aLateReportIsAnsweredWithTheNewestDirective() throws IOException {
        RankClient rank = join(0, 100, "");
        direct(TOKEN, directive(1));
        assertHears(rank, 1, false);

        rank.say(OOM);

        assertHears(rank, 1, false);
        assertThat(job().pending()).isEmpty();
    }

    @Test
    void anOlderCoordinatorIsNotListenedTo() throws IOException {
        RankClient rank = join(0, 100, "");
        direct(TOKEN, directive(1));
        assertHears(rank, 1, false);

        direct(new CoordinatorToken(1, "z"), directive(9));

        assertThat(job().newest().orElseThrow().sequence()).isEqualTo(1);
        assertThat(rank.hearsNothing()).isTrue();
    }

    @Test
    void aNewConnectionHearsItAgainAndANewProcessThatItIsOfBeforeItsTime() throws IOException {
        assertHears(joinAfter(directive(1)), 1, false);
        assertHears(join(0, 100, ""), 1, false);
        assertHears(join(0, 105, ""), 1, true);
    }

    private RankClient joinAfter(JobDirective directive) throws IOException {
        RankClient rank = join(0, 100, "");
        direct(TOKEN, directive);
        return rank;
    }

    @Test
    void aWorkerThatWasStartedAnewLearnsFromARankWhatItHoldsAndTellsTheOthers() throws IOException {
        RankClient first = join(0, 100, "");
        String held = ",\"directive\":{\"job\":\"job\",\"sequence\":4,\"step\":7,\"level\":\"MICRO_BATCH\","
                + "\"microBatch\":8,\"restart\":false,\"rank\":0}";

        join(1, 101, held);

        assertHears(first, 4, false);
        assertThat(job().newest().orElseThrow().sequence()).isEqualTo(4);
    }

    @Test
    void whatADeadProcessSaidIsForgottenAndItsJobsDirectiveIsKeptForAWhile() throws IOException {
        RankClient rank = join(0, 100, "");
        direct(TOKEN, directive(1));
        assertHears(rank, 1, false);
        worker.processes.end(100);
        worker.ask(RankSessions::removeGone);
        assertThat(job().ranks()).isEmpty();
        assertThat(job().newest()).contains(directive(1));

        worker.clock.advance(JobBoard.KEPT_FOR.plusSeconds(1));
        worker.ask(RankSessions::removeGone);

        assertThat(worker.ask(sessions -> sessions.jobs(NODE)).jobs()).isEmpty();
    }
}
