package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.facts;
import static dev.ullage.common.testing.Fixtures.rank;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RankInstance;
import dev.ullage.worker.ranks.BadMessageException.Code;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A user reaches its own processes only. */
class RankAdmissionTest {
    private final FakeProcessTable processes = new FakeProcessTable();
    private final List<RankAdmission.Admitted> admitted = new ArrayList<>();
    private final RankAdmission admission = new RankAdmission(
            new NodeId("node-a"),
            processes,
            hello -> aDevice().info(),
            device -> Optional.empty(),
            new SessionDirectory(),
            new RankCodec(500),
            admitted::add);

    private Optional<RankMessage.Namespace> namespace = Optional.empty();

    private void hello(String peerUser) throws BadMessageException, IOException {
        RankMessage.Hello hello = new RankMessage.Hello(
                rank(0).rank(),
                100,
                namespace,
                facts(),
                new RankMessage.DeviceWish(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty());
        try (SocketChannel channel = SocketChannel.open()) {
            admission.hello(
                    hello, peerUser, new SessionConnection(channel, Runnable::run, closed -> {}, Instant.EPOCH));
        }
    }

    private BadMessageException refused(String peerUser) {
        return catchThrowableOfType(BadMessageException.class, () -> hello(peerUser));
    }

    @Test
    void aUserMaySpeakForItsOwnProcess() throws Exception {
        processes.runAs(100, 700, "alice");

        hello("alice");

        assertThat(admitted).extracting(RankAdmission.Admitted::instance).containsExactly(rank(0));
    }

    @Test
    void aProcessInAContainerIsKnownByItsPidOnTheHost() throws Exception {
        processes.runAs(4100, 700, "alice");
        processes.contain(4100, 100, 99);
        namespace = Optional.of(new RankMessage.Namespace(99, 700));

        hello("alice");

        assertThat(admitted)
                .extracting(RankAdmission.Admitted::instance)
                .containsExactly(new RankInstance(rank(0).rank(), 4100, 700));
    }

    @Test
    void aContainerWhoseProcessesTheWorkerDoesNotSeeIsRefused() {
        processes.runAs(100, 700, "alice");
        namespace = Optional.of(new RankMessage.Namespace(99, 700));

        BadMessageException refusal = refused("alice");

        assertThat(refusal.code()).isEqualTo(Code.NO_SUCH_PROCESS);
        assertThat(refusal)
                .hasMessage("process 100 of rank job/0 is in a pid namespace of its own (99), and of the processes this"
                        + " worker sees none, or more than one, can be it: the worker must run on the host or share its pid"
                        + " namespace");
        assertThat(admitted).isEmpty();
    }

    // The pid of another user's process, by way of a namespace: the owner of what is found must still be the peer.
    @Test
    void aNamespaceOpensNoDoorToAnothersProcess() {
        processes.runAs(4100, 700, "alice");
        processes.contain(4100, 100, 99);
        namespace = Optional.of(new RankMessage.Namespace(99, 700));

        assertThat(refused("bob").code()).isEqualTo(Code.NOT_YOURS);
    }

    @Test
    void aUserMayNotSpeakForTheProcessOfAnother() {
        processes.runAs(100, 700, "alice");

        BadMessageException refusal = refused("bob");

        assertThat(refusal).hasMessage("process 100 belongs to user alice, the connection to user bob");
        assertThat(refusal.code()).isEqualTo(Code.NOT_YOURS);
        assertThat(admitted).isEmpty();
    }

    @Test
    void nobodyButRootSpeaksForRoot() throws Exception {
        processes.runAs(100, 700, "root");

        assertThat(refused("alice").code()).isEqualTo(Code.NOT_YOURS);
        hello("root");

        assertThat(admitted).hasSize(1);
    }

    @Test
    void rootMaySpeakForAnyProcess() throws Exception {
        processes.runAs(100, 700, "alice");

        hello("root");

        assertThat(admitted).hasSize(1);
    }

    @Test
    void aProcessThatCannotBeLookedAtIsNotLetIn() {
        processes.becomeUnreadable();

        assertThat(refused("root")).hasMessage("process 100 cannot be looked at: too many open files");
        assertThat(refused("root").code()).isEqualTo(Code.NO_SUCH_PROCESS);
    }
}
