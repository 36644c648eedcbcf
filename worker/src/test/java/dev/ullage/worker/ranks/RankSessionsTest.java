package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Fixtures.rank;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who is known to a worker, and when their grants are taken back. Serves two ranks at most. */
class RankSessionsTest {
    private static final RankInstance A = rank(0);
    private static final RankInstance B = rank(1);

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final RankHarness worker = new RankHarness(2);
    private final FakeChannel channel = new FakeChannel();

    /** A connection that remembers what was sent over it. */
    private static final class FakeChannel implements RankChannel {
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();

        @Override
        public void send(byte[] line) {
            lines.add(new String(line, UTF_8));
        }

        @Override
        public void close() {
            lines.add("closed");
        }
    }

    @BeforeEach
    void twoProcessesRun() {
        worker.processes.run(A.pid(), A.startTicks());
        worker.processes.run(B.pid(), B.startTicks());
    }

    @AfterEach
    void stopTheWorker() throws IOException {
        worker.close();
    }

    private void admit(RankInstance instance, DeviceInfo device) {
        admit(instance, device, 0);
    }

    private void admit(RankInstance instance, DeviceInfo device, int restart) {
        RankMessage.Hello hello = new RankMessage.Hello(
                instance.rank(),
                instance.pid(),
                Optional.empty(),
                new RankFacts(OptionalInt.of(8), OptionalInt.of(0), "torchrun", restart, Optional.empty(), List.of()),
                new RankMessage.DeviceWish(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty());
        worker.on(new RankSessions.Admit(new RankAdmission.Admitted(
                instance, device, new RankSession.Connected(hello, channel, handle -> ("welcome " + handle.id())
                        .getBytes(UTF_8)))));
    }

    private List<RankInstance> removeGone() {
        return worker.ask(RankSessions::removeGone);
    }

    @Test
    void aProcessThatIsGoneLosesItsGrantAndOnlyThat() {
        admit(A, RankHarness.FIRST);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);
        admit(B, RankHarness.SECOND);
        worker.otherKeeper.expectMessageClass(LimitKeeper.Joined.class);
        assertThat(removeGone()).isEmpty();

        worker.processes.end(A.pid());

        assertThat(removeGone()).containsExactly(A);
        worker.keeper.expectMessage(new LimitKeeper.Left(A));
        worker.otherKeeper.expectNoMessage(Duration.ofMillis(20));
        assertThat(worker.gonePids).containsExactly(A.pid());
        assertThat(worker.ask(RankSessions::byPid)).containsOnlyKeys(B.pid());
        assertThat(removeGone()).isEmpty();
    }

    // A job is started again at once: were the first one's grant still counted, the second would begin with half.
    @Test
    void aProcessThatComesRightAfterAnotherHasEndedDoesNotShareWithIt() {
        admit(A, RankHarness.FIRST);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);
        worker.processes.end(A.pid());

        admit(B, RankHarness.FIRST);

        worker.keeper.expectMessage(new LimitKeeper.Left(A));
        assertThat(worker.keeper.expectMessageClass(LimitKeeper.Joined.class).instance())
                .isEqualTo(B);
    }

    @Test
    void aPidWithAnotherStartTimeIsAnotherProcess() {
        admit(A, RankHarness.FIRST);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);

        worker.processes.run(A.pid(), A.startTicks() + 1);

        assertThat(removeGone()).containsExactly(A);
        worker.keeper.expectMessage(new LimitKeeper.Left(A));
    }

    @Test
    void aProcessThatCannotBeLookedAtKeepsItsGrant() {
        admit(A, RankHarness.FIRST);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);

        worker.processes.becomeUnreadable();

        assertThat(removeGone()).isEmpty();
        assertThat(log.warnings())
                .containsExactly("rank=job/0@100:700 reason=\"its process cannot be looked at; its grant stays: too"
                        + " many open files\"");
    }

    @Test
    void aGrantOfTheLedgerIsWatchedWithoutASession() {
        worker.ask(sessions -> {
            sessions.watch(RankHarness.FIRST.id(), A);
            sessions.watch(RankHarness.FIRST.id(), B);
            return 0;
        });
        assertThat(worker.ask(RankSessions::byPid)).containsOnlyKeys(A.pid(), B.pid());

        worker.processes.end(B.pid());

        assertThat(removeGone()).containsExactly(B);
        worker.keeper.expectMessage(new LimitKeeper.Left(B));
    }

    @Test
    void aProcessWithAGrantOnOneDeviceIsRefusedOnAnother() {
        worker.ask(sessions -> {
            sessions.watch(RankHarness.FIRST.id(), A);
            return 0;
        });

        admit(A, RankHarness.SECOND);
        removeGone();

        assertThat(channel.lines)
                .containsExactly(
                        "{\"type\":\"error\",\"code\":\"NO_SUCH_DEVICE\",\"message\":\"rank job/0@100:700 is already on"
                                + " device GPU-a\"}\n",
                        "closed");
        worker.otherKeeper.expectNoMessage(Duration.ofMillis(20));
    }

    @Test
    void oneRankMoreThanAreServedIsRefusedUntilOneHasLeft() {
        RankInstance third = rank(2);
        worker.processes.run(third.pid(), third.startTicks());
        admit(A, RankHarness.FIRST);
        admit(B, RankHarness.FIRST);
        worker.keeper.receiveSeveralMessages(2);

        admit(third, RankHarness.FIRST);
        removeGone();

        assertThat(channel.lines)
                .contains("{\"type\":\"error\",\"code\":\"TOO_MANY_RANKS\",\"message\":\"this worker serves at most 2"
                        + " ranks\"}\n");
        worker.processes.end(A.pid());
        removeGone();
        worker.keeper.expectMessage(new LimitKeeper.Left(A));
        admit(third, RankHarness.FIRST);
        assertThat(worker.keeper.expectMessageClass(LimitKeeper.Joined.class).instance())
                .isEqualTo(third);
    }

    // torchrun starts the ranks anew and counts; a process of an earlier count that comes late is none of the job.
    @Test
    void aProcessOfAnEarlierRestartIsRefusedWhileOneOfALaterRuns() {
        RankInstance late = new RankInstance(A.rank(), 900, 70);
        worker.processes.run(late.pid(), late.startTicks());
        admit(A, RankHarness.FIRST, 2);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);

        admit(late, RankHarness.FIRST, 1);
        removeGone();

        assertThat(channel.lines)
                .contains("{\"type\":\"error\",\"code\":\"STALE_RESTART\",\"message\":\"rank job/0@900:70 is of"
                        + " restart 1, and job/0@100:700 of a later one runs: its launcher has given it up\"}\n");
        worker.keeper.expectNoMessage(Duration.ofMillis(20));
        worker.processes.end(A.pid());
        admit(late, RankHarness.FIRST, 1);
        worker.keeper.expectMessage(new LimitKeeper.Left(A));
        assertThat(worker.keeper.expectMessageClass(LimitKeeper.Joined.class).instance())
                .isEqualTo(late);
    }

    @Test
    void aProcessThatIsKnownKeepsItsGrantWhateverIsRestarted() {
        RankInstance next = new RankInstance(A.rank(), 900, 800);
        worker.processes.run(next.pid(), next.startTicks());
        admit(A, RankHarness.FIRST, 0);
        admit(next, RankHarness.FIRST, 1);
        worker.keeper.receiveSeveralMessages(2);

        admit(A, RankHarness.FIRST, 0);

        assertThat(worker.keeper.expectMessageClass(LimitKeeper.Joined.class).instance())
                .isEqualTo(A);
    }

    @Test
    void restartsOfOtherRanksDoNotMatter() {
        admit(A, RankHarness.FIRST, 3);
        worker.keeper.expectMessageClass(LimitKeeper.Joined.class);

        admit(B, RankHarness.SECOND, 0);

        worker.otherKeeper.expectMessageClass(LimitKeeper.Joined.class);
    }
}
