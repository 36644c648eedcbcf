package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static dev.ullage.worker.ranks.RankHarness.order;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RankSample;
import dev.ullage.worker.limits.LimitKeeper;
import dev.ullage.worker.testing.LogWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Ranks on a real socket, with the real admission and sessions behind it; the test plays the keeper. */
class RankServerTest {
    private static final MemoryBytes SOME = MemoryBytes.of(5);

    @RegisterExtension
    final LogWatch log = new LogWatch();

    private final RankHarness worker = new RankHarness(RankHarness.MAX_RANKS);
    private Path folder;
    private RankServer server;

    @BeforeEach
    void openTheSocket(@TempDir Path temporary) throws IOException {
        folder = temporary;
        server = worker.open(folder.resolve("ranks.sock"));
        for (int number = 0; number < RankHarness.MAX_RANKS; number++) {
            worker.processes.run(100 + number, 7L * (100 + number));
        }
    }

    @AfterEach
    void closeEverything() throws IOException {
        server.close();
        worker.close();
    }

    private RankClient helloOf(int number) throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(number, 100 + number, ""));
        return client;
    }

    @Test
    void aRankIsWelcomedGetsItsLimitsAndConfirmsThem() throws IOException {
        RankClient client = helloOf(3);

        JsonNode welcome = client.hear();
        assertThat(welcome.path("type").textValue()).isEqualTo("welcome");
        assertThat(welcome.path("session").textValue()).isEqualTo("job/3@103:721");
        assertThat(welcome.path("token").textValue()).hasSize(24);
        assertThat(welcome.path("deviceTotalBytes").longValue()).isEqualTo(100L << 30);
        LimitKeeper.Joined joined = worker.joined();
        assertThat(joined.instance()).isEqualTo(rank(3));
        assertThat(joined.claimedSequence()).isZero();
        assertThat(joined.claimedLimit()).isEqualTo(MemoryBytes.ZERO);

        joined.listener().tell(order(rank(3), 1));
        assertThat(client.hear().toString())
                .isEqualTo(
                        "{\"type\":\"limits\",\"sequence\":1,\"limitBytes\":{\"INIT\":5,\"FORWARD\":5,\"BACKWARD\":5,"
                                + "\"OPTIMIZER\":7,\"EVALUATION\":5,\"CHECKPOINT\":5,\"IDLE\":5}}");
        client.say("{\"type\":\"confirm\",\"sequence\":1,\"limitBytes\":7,\"enforcedBy\":\"torch\"}");

        worker.keeper.expectMessage(new LimitKeeper.Confirmed(rank(3), 1, MemoryBytes.of(7)));
        assertThat(worker.sample(rank(3), sample -> sample.enforcedBy() == EnforcedBy.TORCH)
                        .connected())
                .isTrue();
    }

    @Test
    void aLimitThatNeedsARestartIsReportedUntilAConfirmationSaysOtherwise() throws IOException {
        RankClient client = helloOf(3);
        client.hear();
        client.say("{\"type\":\"confirm\",\"sequence\":1,\"limitBytes\":9,\"enforcedBy\":\"env\","
                + "\"needsRestart\":{\"limitBytes\":7,\"reason\":\"fixed at start\"}}");

        assertThat(worker.sample(rank(3), sample -> sample.needsRestart().isPresent())
                        .needsRestart())
                .contains(new NeedsRestart(MemoryBytes.of(9), MemoryBytes.of(7), "fixed at start"));

        client.say("{\"type\":\"confirm\",\"sequence\":2,\"limitBytes\":9,\"enforcedBy\":\"env\"}");

        assertThat(worker.sample(rank(3), sample -> sample.needsRestart().isEmpty())
                        .enforcedBy())
                .isEqualTo(EnforcedBy.ENV);
    }

    @Test
    void theOverheadIsTheDefaultUntilItIsMeasuredAndAChangeRepeatsTheOrder() throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(3, 103, ",\"device\":\"GPU-b\""));
        client.hear();
        worker.otherKeeper
                .expectMessageClass(LimitKeeper.Joined.class)
                .listener()
                .tell(order(rank(3), 1));
        JsonNode first = client.hear();
        assertThat(first.path("overheadBytes").longValue()).isEqualTo(512L << 20);
        assertThat(first.path("overheadProvisional").booleanValue()).isTrue();

        client.say("{\"type\":\"phase\",\"phase\":\"FORWARD\"}\n{\"type\":\"usage\",\"reservedBytes\":1073741824}");
        worker.sample(rank(3), seen -> seen.use().reserved().isPresent());
        worker.clock.advance(Duration.ofSeconds(1));
        Map<Long, MemoryBytes> used = Map.of(rank(3).pid(), MemoryBytes.ofMebibytes(1024 + 700));
        worker.ask(sessions -> {
            sessions.measured(RankHarness.SECOND.id(), used, worker.clock.instant());
            return true;
        });
        worker.sample(
                rank(3), seen -> seen.enforcement().orElseThrow().processUsed().isPresent());
        worker.clock.advance(Duration.ofSeconds(1));
        client.say("{\"type\":\"usage\",\"reservedBytes\":1073741824}");

        JsonNode again = client.hear();
        assertThat(again.path("sequence").longValue()).isEqualTo(1);
        assertThat(again.path("overheadBytes").longValue()).isEqualTo(704L << 20);
        assertThat(again.path("overheadProvisional").booleanValue()).isFalse();
        assertThat(again.path("limitBytes")).isEqualTo(first.path("limitBytes"));
    }

    @Test
    void moreThanHoldsARankFromOutsideIsToldOnceThatWasRaisedOrTheOrderIsSaidAgain() throws IOException {
        RankClient client = helloOf(3);
        client.hear();
        LimitKeeper.Joined joined = worker.joined();
        hold(Optional.of(MemoryBytes.of(7)));
        joined.listener().tell(order(rank(3), 1));
        assertThat(client.hear().path("sequence").longValue()).isEqualTo(1);

        Order more = new Order(rank(3), 2, limits(SOME, MemoryBytes.of(9)));
        joined.listener().tell(more);
        hold(Optional.of(MemoryBytes.of(8)));
        assertThat(client.hearsNothing()).isTrue();
        hold(Optional.of(MemoryBytes.of(9)));
        assertThat(client.hear().path("sequence").longValue()).isEqualTo(2);

        Order evenMore = new Order(rank(3), 3, limits(SOME, MemoryBytes.of(10)));
        joined.listener().tell(evenMore);
        joined.listener().tell(evenMore);
        assertThat(client.hear().path("sequence").longValue()).isEqualTo(3);
    }

    /** Returns once the session has it. */
    private void hold(Optional<MemoryBytes> outside) {
        worker.ask(sessions -> {
            sessions.held(rank(3), outside);
            sessions.measured(RankHarness.FIRST.id(), Map.of(103L, outside.orElseThrow()), worker.clock.instant());
            return true;
        });
        worker.sample(
                rank(3), seen -> seen.enforcement().orElseThrow().processUsed().equals(outside));
    }

    @Test
    void whatARankSaysInOnePieceOrByteByByteIsTheSame() throws IOException {
        RankClient client = worker.connect(server);
        for (byte each : (RankClient.hello(3, 103, "") + "\n").getBytes(UTF_8)) {
            client.sayRaw(new byte[] {each});
        }
        client.hear();

        client.say("{\"type\":\"usage\",\"reservedBytes\":9}\n{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":4}\n"
                + "{\"type\":\"bye\"}");

        RankSample sample = worker.sample(rank(3), seen -> seen.activity().phase() == Phase.FORWARD);
        assertThat(sample.activity().step()).isEqualTo(OptionalLong.of(4));
        assertThat(sample.use())
                .isEqualTo(new RankUse(
                        Optional.empty(), Optional.of(MemoryBytes.of(9)), Optional.empty(), Optional.empty(), 0));
    }

    @Test
    void whatARankHasWatchedReachesItsSampleAndItIsAskedForItsCacheWhenTheDeviceIsShort() throws IOException {
        RankClient client = helloOf(3);
        assertThat(client.hear().path("snapshotSteps").intValue()).isEqualTo(500);
        client.say("{\"type\":\"phase-summary\",\"step\":4,\"epoch\":1,"
                + "\"phases\":{\"FORWARD\":{\"peakReservedBytes\":900}},"
                + "\"allocatedBytes\":500,\"reservedBytes\":1000,\"inactiveSplitBytes\":400}");
        client.say("{\"type\":\"snapshot\",\"step\":4,\"segments\":7}");
        RankSample sample = worker.sample(rank(3), seen -> seen.watch()
                .filter(watch -> !watch.snapshots().isEmpty())
                .isPresent());
        RankWatch watch = sample.watch().orElseThrow();
        assertThat(watch.phases())
                .containsExactly(
                        new RankWatch.PhasePeak(Phase.FORWARD, Optional.of(MemoryBytes.of(900)), Optional.empty()));
        assertThat(watch.progress().epoch()).hasValue(1);
        assertThat(watch.allocator().fragmentation()).contains(Share.ofPercent(40));

        MemoryBytes total = MemoryBytes.ofGibibytes(100);
        MemoryUse full = new MemoryUse(total, Optional.empty(), total, MemoryBytes.ZERO);
        worker.ask(sessions -> {
            sessions.read(RankHarness.FIRST.id(), full);
            return sessions;
        });
        assertThat(client.hear().toString()).isEqualTo("{\"type\":\"release-cache\"}");

        client.say("{\"type\":\"cache-released\",\"step\":5,\"beforeBytes\":1000,\"afterBytes\":600}");
        assertThat(worker.sample(
                                rank(3),
                                seen -> seen.watch().flatMap(RankWatch::release).isPresent())
                        .watch()
                        .flatMap(RankWatch::release)
                        .map(RankWatch.CacheRelease::gain))
                .contains(MemoryBytes.of(400));
    }

    @Test
    void aCallIsAnsweredWithTheNewestOrdersLimitForItsPhase() throws IOException {
        RankClient client = helloOf(3);
        JsonNode welcome = client.hear();
        RankClient call = worker.connect(server);
        call.attach(welcome);
        assertThat(call.hear().toString()).isEqualTo("{\"type\":\"attached\"}");

        call.say("{\"type\":\"phase\",\"phase\":\"FORWARD\",\"step\":17,\"id\":1}");
        assertThat(call.hear().toString())
                .isEqualTo("{\"type\":\"entered\",\"id\":1,\"sequence\":0,\"limitBytes\":null}");

        worker.joined().listener().tell(order(rank(3), 8));
        client.hear();
        call.say("{\"type\":\"phase\",\"phase\":\"BACKWARD\",\"step\":17}\n"
                + "{\"type\":\"phase\",\"phase\":\"OPTIMIZER\",\"id\":2}");
        assertThat(call.hear().toString()).isEqualTo("{\"type\":\"entered\",\"id\":2,\"sequence\":8,\"limitBytes\":7}");
        assertThat(worker.sample(rank(3), seen -> seen.activity().phase() == Phase.OPTIMIZER)
                        .activity()
                        .step())
                .isEqualTo(OptionalLong.of(17));
    }

    @Test
    void whatIsSaidTogetherWithTheAttachIsAnswered() throws IOException {
        JsonNode welcome = helloOf(3).hear();
        RankClient call = worker.connect(server);

        call.attach(welcome);
        call.say("{\"type\":\"phase\",\"phase\":\"IDLE\",\"id\":1}");

        assertThat(call.hear().path("type").textValue()).isEqualTo("attached");
        assertThat(call.hear().path("type").textValue()).isEqualTo("entered");
    }

    @Test
    void onlyTheSessionsOwnTokenOpensACall() throws IOException {
        JsonNode welcome = helloOf(3).hear();
        RankClient call = worker.connect(server);

        call.say("{\"type\":\"attach\",\"session\":\"" + welcome.path("session").textValue()
                + "\",\"token\":\"guessed\"}");

        call.expectError("BAD_MESSAGE", "no such session, or not its token");
    }

    @Test
    void onACallOnlyPhasesAreUnderstood() throws IOException {
        RankClient call = worker.connect(server);
        call.attach(helloOf(3).hear());
        call.hear();

        call.say("{\"type\":\"bye\"}");

        call.expectError("BAD_MESSAGE", "only phase and turn are understood on a call connection");
    }

    @Test
    void aCallWithALineThatIsTooLongIsToldSoAndClosed() throws IOException {
        RankClient call = worker.connect(server);
        call.attach(helloOf(3).hear());
        call.hear();

        call.sayRaw("x".repeat(LineBuffer.MAX_LINE_BYTES + 1).getBytes(UTF_8));

        call.expectError("BAD_MESSAGE", "a line is longer than 65536 bytes");
    }

    @Test
    void aSecondHelloOnAConnectionIsRefused() throws IOException {
        RankClient client = helloOf(3);
        client.hear();

        client.say(RankClient.hello(3, 103, ""));

        client.expectError("BAD_MESSAGE", "hello was said before on this connection");
    }

    @Test
    void aSessionsConnectionDoesNotBecomeACall() throws IOException {
        // It would block the socket's thread, and with it every rank, as soon as it is not read from.
        RankClient client = helloOf(3);

        client.attach(client.hear());

        client.expectError("BAD_MESSAGE", "attach must be the first line of a connection");
    }

    @Test
    void aProcessThatDoesNotExistIsRefused() throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(3, 99_999, ""));

        client.expectError("NO_SUCH_PROCESS", "process 99999 of rank job/3 does not exist on this host");
    }

    @Test
    void aRankWithoutADeviceIsRefused() throws IOException {
        RankClient client = worker.connect(server);
        client.say(RankClient.hello(3, 103, ",\"device\":\"7\""));

        client.expectError("NO_SUCH_DEVICE", "ULLAGE_DEVICE '7'");
    }

    @Test
    void garbageAndWhatComesTooEarlyAreRefused() throws IOException {
        RankClient garbage = worker.connect(server);
        garbage.sayRaw(new byte[] {1, 2, (byte) 0xff, '\n'});
        garbage.expectError("BAD_MESSAGE", "not JSON: ");

        RankClient early = worker.connect(server);
        early.say("{\"type\":\"usage\"}");
        early.expectError("BAD_MESSAGE", "the first line must be hello or attach");
    }

    @Test
    void aLineThatIsTooLongIsRefusedWithItsEndAndWithout() throws IOException {
        for (String end : List.of("", "\n")) {
            RankClient client = worker.connect(server);
            client.sayRaw(("x".repeat(LineBuffer.MAX_LINE_BYTES + 1) + end).getBytes(UTF_8));
            client.expectError("BAD_MESSAGE", "a line is longer than 65536 bytes");
        }
    }

    @Test
    void aConnectionThatSaysNothingIsClosedAfterFiveSeconds() throws IOException {
        RankClient silent = worker.connect(server);
        RankClient client = helloOf(3);
        client.hear();
        worker.clock.advance(Duration.ofMillis(5001));

        silent.awaitEnd();

        worker.joined().listener().tell(order(rank(3), 1));
        assertThat(client.hear().path("type").textValue()).isEqualTo("limits");
    }

    @Test
    void aRankThatNeverReadsIsDisconnectedAndDisturbsNobody() throws IOException {
        RankClient deaf = helloOf(3);
        deaf.hear();
        LimitKeeper.Joined deafs = worker.joined();
        RankClient other = helloOf(4);
        other.hear();
        LimitKeeper.Joined others = worker.joined();
        worker.sample(rank(3), RankSample::connected);

        for (int sequence = 1; sequence <= 6000; sequence++) {
            deafs.listener().tell(order(rank(3), sequence));
        }
        others.listener().tell(order(rank(4), 1));

        assertThat(other.hear().path("sequence").longValue()).isEqualTo(1);
        worker.sample(rank(3), sample -> !sample.connected());
    }

    @Test
    void theSameProcessThatComesBackKeepsItsSessionAndSaysWhatIsInForce() throws IOException {
        RankClient first = helloOf(3);
        JsonNode welcome = first.hear();
        worker.joined().listener().tell(order(rank(3), 41));
        first.hear();

        RankClient second = worker.connect(server);
        second.say(RankClient.hello(3, 103, ",\"inForce\":{\"sequence\":41,\"limitBytes\":7}"));

        assertThat(second.hear()).isEqualTo(welcome);
        first.awaitEnd();
        LimitKeeper.Joined again = worker.joined();
        assertThat(again.claimedSequence()).isEqualTo(41);
        assertThat(again.claimedLimit()).isEqualTo(MemoryBytes.of(7));
        again.listener().tell(order(rank(3), 42));
        assertThat(second.hear().path("sequence").longValue()).isEqualTo(42);
        assertThat(worker.sample(rank(3), RankSample::connected).connected()).isTrue();
    }

    @Test
    void aConnectionThatEndsRightAfterItsHelloDoesNotLookConnected() throws IOException {
        for (int number = 0; number < 50; number++) {
            RankClient client = helloOf(number);
            client.close();
        }

        for (int number = 0; number < 50; number++) {
            worker.sample(rank(number), sample -> !sample.connected());
        }
    }

    @Test
    void sixtyFourRanksAtOnceEachGetTheirOwnOrdersAndAnswers() throws IOException {
        List<RankClient> sessions = new ArrayList<>();
        for (int number = 0; number < 64; number++) {
            sessions.add(helloOf(number));
        }
        List<RankClient> calls = new ArrayList<>();
        for (RankClient session : sessions) {
            RankClient call = worker.connect(server);
            call.attach(session.hear());
            call.say("{\"type\":\"phase\",\"phase\":\"FORWARD\",\"id\":1}");
            session.say("{\"type\":\"usage\",\"reservedBytes\":9}");
            calls.add(call);
        }
        for (int i = 0; i < 64; i++) {
            LimitKeeper.Joined joined = worker.joined();
            joined.listener()
                    .tell(order(
                            joined.instance(), 100 + joined.instance().rank().rank()));
        }

        for (int number = 0; number < 64; number++) {
            assertThat(sessions.get(number).hear().path("sequence").longValue()).isEqualTo(100 + number);
            assertThat(calls.get(number).hear().path("type").textValue()).isEqualTo("attached");
            assertThat(calls.get(number).hear().path("id").longValue()).isEqualTo(1);
        }
    }

    @Test
    void anyLocalUserMayConnectAndAFileLeftOverIsReplaced() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(server.path())))
                .isEqualTo("rw-rw-rw-");
        Path leftOver = folder.resolve("left.sock");
        Files.writeString(leftOver, "x");

        worker.open(leftOver).close();

        assertThat(leftOver).doesNotExist();
    }

    @Test
    void closingEndsEveryConnectionAndRemovesTheSocket() throws IOException {
        RankClient client = helloOf(3);
        RankClient call = worker.connect(server);
        call.attach(client.hear());
        call.hear();

        server.close();

        client.awaitEnd();
        call.awaitEnd();
        assertThat(server.path()).doesNotExist();
        server.close();
    }

    @Test
    void aPathTooLongForASocketIsRefusedWithTheRule() {
        Path path = folder.resolve("x".repeat(120));

        assertThatThrownBy(() -> worker.open(path))
                .isInstanceOf(IOException.class)
                .hasMessage("the path of the rank socket is too long for a Unix socket (107 bytes at most): " + path
                        + "; use a shorter state folder");
    }
}
