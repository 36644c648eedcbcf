package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Eventually.eventually;
import static dev.ullage.common.testing.Fixtures.rank;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankAccount;
import dev.ullage.common.model.RankAccount.PhaseTime;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RankAccounts;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.watch.TrainingReport;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client has counted: its line, and its way through the session to what the worker tells. */
class ReportsTest {
    private static final RankInstance RANK = rank(0);
    private static final String LINE =
            """
            {"type":"report","step":12,"steps":10,"elapsedMillis":5000,"samples":320,"megaflopsPerStep":7,
             "phaseMillis":{"FORWARD":2000,"INIT":1000,"A_NEWER_PHASE":5},"turnWaitMillis":3,"limitWaitMillis":4,
             "timedAllocations":8,"allocationMicros":9,"lossBillionths":-2500000000,"lossesLeftOut":1}""";

    private final RankHarness worker = new RankHarness(2);
    private final RankCodec codec = new RankCodec(500);

    @AfterEach
    void stopTheWorker() throws IOException {
        worker.close();
    }

    private TrainingReport report(String line) throws BadMessageException {
        return ((RankMessage.Reported) codec.parse(line.getBytes(UTF_8))).report();
    }

    @Test
    void theLineIsReadInFull() throws BadMessageException {
        TrainingReport report = report(LINE);

        assertThat(report.step()).isEqualTo(12);
        assertThat(report.counts()).isEqualTo(new TrainingReport.Counts(10, OptionalLong.of(320), OptionalLong.of(7)));
        assertThat(report.phases())
                .containsExactly(new PhaseTime(Phase.INIT, 1000), new PhaseTime(Phase.FORWARD, 2000));
        assertThat(report.waits()).isEqualTo(new RankAccount.Waits(OptionalLong.of(3), OptionalLong.of(4)));
        assertThat(report.latency()).isEqualTo(new RankAccount.Latency(OptionalLong.of(8), OptionalLong.of(9)));
        assertThat(report.loss()).isEqualTo(new TrainingReport.Loss(OptionalLong.of(-2_500_000_000L), 1));
    }

    @Test
    void whatIsLeftOutIsUnknown() throws BadMessageException {
        TrainingReport report =
                report("{\"type\":\"report\",\"step\":1,\"steps\":1,\"elapsedMillis\":5,\"samples\":null}");

        assertThat(report.counts().samples()).isEmpty();
        assertThat(report.phases()).isEmpty();
        assertThat(report.waits().turnMillis()).isEmpty();
        assertThat(report.loss().billionths()).isEmpty();
    }

    @Test
    void whatCannotBeIsRefusedWithFieldAndRule() {
        assertThatThrownBy(() -> report("{\"type\":\"report\",\"step\":1,\"steps\":-1,\"elapsedMillis\":5}"))
                .hasMessage("steps must be a whole number of 0 or more, is -1");
        assertThatThrownBy(() -> report(
                        "{\"type\":\"report\",\"step\":1,\"steps\":1,\"elapsedMillis\":5,\"lossBillionths\":2.5}"))
                .hasMessageContaining("lossBillionths must be a whole number from -9007199254740991 to");
        assertThatThrownBy(() -> report("{\"type\":\"report\",\"step\":1,\"steps\":1}"))
                .hasMessageContaining("elapsedMillis");
    }

    @Test
    void theWelcomeSaysThatReportsAreUnderstood() {
        String welcome = new String(
                codec.welcome(
                        new SessionHandle(
                                "s",
                                "t",
                                TestProbe.<RankSession.Command>create(worker.system())
                                        .ref(),
                                new TurnSeat(worker.desk, RANK, RankHarness.FIRST.id()),
                                worker.clock.instant()),
                        new NodeId("node-a"),
                        RankHarness.FIRST,
                        Optional.empty(),
                        OptionalInt.empty()),
                UTF_8);
        assertThat(welcome).contains("\"reports\":true");
    }

    // Goal: a report is there after the process has gone. Method: a session hears a report, its process ends, and the
    // worker's next messages are looked at.
    @Test
    void whatARankCameToIsToldWhileItLivesAndAfterItsEnd() throws BadMessageException {
        worker.processes.run(RANK.pid(), RANK.startTicks());
        AtomicReference<SessionHandle> handle = new AtomicReference<>();
        RankMessage.Hello hello = new RankMessage.Hello(
                RANK.rank(),
                RANK.pid(),
                Optional.empty(),
                new RankFacts(OptionalInt.of(8), OptionalInt.of(0), "torchrun", 0, Optional.empty(), List.of()),
                new RankMessage.DeviceWish(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty());
        worker.on(new RankSessions.Admit(new RankAdmission.Admitted(
                RANK, RankHarness.FIRST, new RankSession.Connected(hello, new SilentChannel(), found -> {
                    handle.set(found);
                    return new byte[0];
                }))));
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);
        Objects.requireNonNull(handle.get()).session().tell(new RankSession.Said(codec.parse(LINE.getBytes(UTF_8))));

        eventually("a living account", () -> told().stream()
                .anyMatch(account ->
                        account.endedAgoMillis().isEmpty() && account.training().isPresent()));
        worker.processes.end(RANK.pid());
        worker.ask(RankSessions::removeGone);

        RankAccount last = told().stream()
                .filter(account -> account.endedAgoMillis().isPresent())
                .findFirst()
                .orElseThrow();
        assertThat(last.instance()).isEqualTo(RANK);
        assertThat(last.worldSize()).hasValue(8);
        assertThat(last.training().orElseThrow().steps()).isEqualTo(10);
        assertThat(last.training().orElseThrow().losses().points())
                .containsExactly(new RankAccount.LossPoint(12, -2_500_000_000L));
    }

    private List<RankAccount> told() {
        return worker.ask(sessions -> sessions.jobsWithAccounts(new NodeId("node-a")))
                .accounts()
                .map(RankAccounts::accounts)
                .orElseThrow();
    }

    private static final class SilentChannel implements RankChannel {
        @Override
        public void send(byte[] line) {}

        @Override
        public void close() {}
    }
}
