package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.JOB;
import static dev.ullage.coordinator.Fixtures.T0;
import static dev.ullage.coordinator.Fixtures.gib;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.RolloutState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.ClusterStatus;
import dev.ullage.common.protocol.ToOperator.OomMoves;
import dev.ullage.common.protocol.ToOperator.Refused;
import dev.ullage.common.protocol.ToOperator.RolloutStatus;
import dev.ullage.common.protocol.ToOperator.Steering;
import dev.ullage.common.protocol.ToOperator.Wishes;
import dev.ullage.common.protocol.ToWorker.DesireLimits;
import dev.ullage.common.protocol.ToWorker.DirectJob;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import dev.ullage.config.QueueSettings;
import dev.ullage.coordinator.admission.AdmissionDesk;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The coordinator against workers that are the real ledgers; time moves only when a test says so. */
class CoordinatorActorTest {
    private static final CoordinatorSettings SETTINGS = CoordinatorSettings.defaults();
    private static final NodeId SELF = new NodeId("c-1");

    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final ManualTime time = ManualTime.get(kit.system());
    private final TestClock clock = new TestClock(T0);
    private final TestProbe<ToOperator> operator = kit.createTestProbe();
    private final ActorRef<ToCoordinator> coordinator =
            kit.spawn(CoordinatorActor.create(SETTINGS, LimitSettings.defaults(), SELF, () -> "me", clock));

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    private FakeWorker worker(String node) {
        return new FakeWorker(node, kit, coordinator);
    }

    /** One tick, this long after the last one, once all that was sent before has been received. */
    private void pass(Duration duration) {
        status();
        clock.advance(duration);
        time.timePasses(SETTINGS.tick());
        status();
    }

    private void tick() {
        pass(SETTINGS.tick());
    }

    private ClusterStatus status() {
        coordinator.tell(new StatusQuery(operator.getRef()));
        return operator.expectMessageClass(ClusterStatus.class);
    }

    private List<String> rollouts() {
        return status().rollouts().stream()
                .map(rollout -> rollout.revision() + " " + rollout.state())
                .toList();
    }

    /** A worker whose device obeys the coordinator, which is active. */
    private FakeWorker learned(String node) {
        FakeWorker worker = worker(node);
        worker.announce();
        pass(Duration.ofMillis(500));
        worker.learns();
        tick();
        assertThat(status().state()).isEqualTo("ACTIVE");
        return worker;
    }

    private static Map<Integer, MemoryBytes> limits(DesireLimits desired) {
        return desired.limits().stream()
                .collect(Collectors.toMap(limit -> limit.instance().rank().rank(), limit -> limit.limits()
                        .max()));
    }

    @Test
    void answersAStatusQueryWithoutAnyWorker() {
        pass(Duration.ofSeconds(5));

        assertThat(status())
                .isEqualTo(new ClusterStatus(
                        SELF,
                        Optional.empty(),
                        "CLAIMING",
                        List.of(),
                        List.of(),
                        Optional.of(new OomMoves(List.of())),
                        Optional.of(new Steering(
                                Optional.empty(),
                                Optional.of(new Wishes(List.of(), List.of())),
                                Optional.of(new AdmissionDesk(QueueSettings.defaults()).figures())))));
    }

    @Test
    void aRankThatJoinsIsPlannedWithinOneTickAndSettlesWhenItConfirms() {
        FakeWorker worker = learned("a");

        worker.joins(0);
        tick();
        DesireLimits desired = worker.desired();

        assertThat(desired.token()).isEqualTo(new CoordinatorToken(1, "me"));
        assertThat(desired.revision()).isEqualTo(1);
        assertThat(limits(desired)).isEqualTo(Map.of(0, gib(64)));
        assertThat(rollouts()).containsExactly("1 GROWING");
        worker.confirms(0);
        assertThat(rollouts()).containsExactly("1 SETTLED");
        pass(Duration.ofSeconds(3));
        worker.expectNothing();
    }

    @Test
    void theStatusSaysWhyARankHasItsLimit() {
        FakeWorker worker = learned("a");

        worker.joins(0);
        tick();

        assertThat(status().nodes()
                        .get(0)
                        .devices()
                        .get(0)
                        .explanation()
                        .orElseThrow()
                        .ranks())
                .singleElement()
                .satisfies(rank -> {
                    assertThat(rank.policy()).isEqualTo("rank-share");
                    assertThat(rank.reason()).isEqualTo("80.0 GiB less reserve 20% over 1 rank is 64.0 GiB");
                });
    }

    @Test
    void plansOnItsTickAndNotAtEveryMessage() {
        FakeWorker worker = learned("a");

        worker.joins(0);
        worker.joins(1);
        worker.joins(2);
        worker.expectNothing();
        tick();

        assertThat(limits(worker.desired())).hasSize(3);
        worker.expectNothing();
    }

    @Test
    void aSecondRankGetsRoomOnlyAfterTheFirstHasConfirmedItsShrink() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);

        worker.joins(1);
        tick();

        assertThat(limits(worker.desired())).isEqualTo(Map.of(0, gib(32), 1, gib(32)));
        assertThat(rollouts()).containsExactly("1 SETTLED", "2 SHRINKING");
        worker.confirms(0);
        assertThat(rollouts()).containsExactly("1 SETTLED", "2 GROWING");
        pass(SETTINGS.resendAfter());
        worker.desired();
        worker.confirms(1);
        assertThat(rollouts()).containsExactly("1 SETTLED", "2 SETTLED");
    }

    @Test
    void aRankThatNeverConfirmsShowsAsStalledAndItsRoomStaysItsOwn() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);
        worker.joins(1);
        tick();
        for (int sent = 0; sent < 5; sent++) {
            worker.desired();
            pass(SETTINGS.resendAfter());
        }

        RolloutStatus rollout = status().rollouts().get(1);
        assertThat(rollout.state()).isEqualTo(RolloutState.STALLED);
        assertThat(rollout.reason())
                .contains("; stalled since 2026-01-01T00:00:11")
                .contains("rank job/0@100:1 may hold 64.0 GiB, wanted 32.0 GiB")
                .contains("rank job/1@101:1 may hold 0 B, wanted 32.0 GiB");
        worker.desired();
        worker.confirms(0);
        pass(SETTINGS.resendAfter());
        worker.desired();
        worker.confirms(1);
        assertThat(rollouts()).containsExactly("1 SETTLED", "2 SETTLED");
    }

    @Test
    void aLostPlanIsSentAgainUnchangedAfterAPause() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        DesireLimits lost = worker.loses();

        pass(SETTINGS.resendAfter().minus(SETTINGS.tick()));
        worker.expectNothing();
        tick();

        assertThat(worker.desired()).isEqualTo(lost);
    }

    @Test
    void aNewCoordinatorLearnsFromTheLedgersAndChangesNothingThatIsAsItShouldBe() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);
        coordinator.tell(new SetShare(JOB, OptionalInt.empty(), Share.ofPercent(50), operator.getRef()));
        operator.expectMessageClass(Accepted.class);
        tick();
        worker.desired();
        worker.confirms(0);
        worker.obeys(new CoordinatorToken(4, "between"));

        // The old coordinator dies unseen; the new one is this actor told of a higher token.
        worker.announce();
        assertThat(status().state()).isEqualTo("CLAIMING");
        pass(Duration.ofMillis(750));

        assertThat(worker.learns().token()).isEqualTo(new CoordinatorToken(5, "me"));
        tick();
        assertThat(status().state()).isEqualTo("ACTIVE");
        pass(Duration.ofSeconds(1));
        worker.expectNothing();
        worker.leaves(0);
        worker.joins(0);
        tick();
        assertThat(limits(worker.desired())).isEqualTo(Map.of(0, gib(32)));
    }

    @Test
    void waitsForDevicesThatDoNotReportOnlySoLong() {
        FakeWorker silent = worker("b");
        FakeWorker worker = worker("a");
        silent.announce();
        worker.announce();
        pass(Duration.ofMillis(500));
        worker.learns();
        worker.joins(0);

        pass(SETTINGS.learnFor().minus(SETTINGS.tick()));
        assertThat(status().state()).isEqualTo("LEARNING");
        tick();

        assertThat(status().state()).isEqualTo("ACTIVE");
        worker.desired();
    }

    @Test
    void aWorkerThatComesLaterIsAskedAtOnceAndPlannedOnceItObeys() {
        learned("a");
        FakeWorker late = worker("b");
        late.joins(0);

        late.announce();
        assertThat(late.learns().token()).isEqualTo(new CoordinatorToken(1, "me"));
        tick();

        assertThat(limits(late.desired())).isEqualTo(Map.of(0, gib(64)));
    }

    @Test
    void aDeviceThatDoesNotObeyIsNeverSentAPlan() {
        FakeWorker worker = learned("a");
        FakeWorker deaf = worker("b");
        deaf.announce();
        deaf.joins(0);
        pass(Duration.ofSeconds(1));

        worker.expectNothing();
        assertThat(rollouts()).isEmpty();
    }

    @Test
    void oneThatIsFencedOffClaimsAgainAfterABackOffAndDropsItsPlans() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.loses();
        worker.obeys(new CoordinatorToken(3, "rival"));

        worker.saysStale(new CoordinatorToken(1, "me"));

        assertThat(status().state()).isEqualTo("CLAIMING");
        assertThat(status().token()).isEmpty();
        assertThat(rollouts()).containsExactly("1 SUPERSEDED");
        pass(Duration.ofMillis(500));
        worker.expectNothing();
        tick();
        assertThat(worker.learns().token()).isEqualTo(new CoordinatorToken(4, "me"));
        tick();
        assertThat(worker.desired().revision()).isEqualTo(2);
    }

    @Test
    void noPlanRestsOnAStaleReport() {
        FakeWorker worker = learned("a");
        worker.joins(0);

        pass(SETTINGS.staleAfter().plusMillis(1));
        worker.learns();
        worker.expectNothing();
        tick();

        assertThat(limits(worker.desired())).isEqualTo(Map.of(0, gib(64)));
    }

    @Test
    void aReserveIsAcceptedPlannedAndThenTheLedgersOwn() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);

        coordinator.tell(new SetReserve(Optional.of(worker.device), Share.ofPercent(50), operator.getRef()));
        assertThat(operator.expectMessageClass(Accepted.class).message()).isEqualTo("reserve of GPU-a: 20% -> 50%");
        tick();
        DesireLimits desired = worker.desired();

        assertThat(desired.reserve()).isEqualTo(Share.ofPercent(50));
        assertThat(limits(desired)).isEqualTo(Map.of(0, gib(40)));
        worker.confirms(0);
        assertThat(rollouts()).containsExactly("1 SETTLED", "2 SETTLED");
        pass(Duration.ofSeconds(1));
        worker.expectNothing();
    }

    @Test
    void aReserveWishedTwiceEndsAtTheSecond() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);

        coordinator.tell(new SetReserve(Optional.empty(), Share.ofPercent(50), operator.getRef()));
        operator.expectMessageClass(Accepted.class);
        tick();
        coordinator.tell(new SetReserve(Optional.empty(), Share.ofPercent(20), operator.getRef()));
        operator.expectMessageClass(Accepted.class);
        worker.report();
        tick();
        worker.desired();
        DesireLimits second = worker.desired();

        assertThat(second.reserve()).isEqualTo(Share.ofPercent(20));
        assertThat(limits(second)).isEqualTo(Map.of(0, gib(64)));
    }

    @Test
    void aShareIsKeptForRanksThatJoinLater() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.desired();
        worker.confirms(0);

        coordinator.tell(new SetShare(JOB, OptionalInt.empty(), Share.ofPercent(25), operator.getRef()));
        operator.expectMessageClass(Accepted.class);
        tick();
        assertThat(limits(worker.desired())).isEqualTo(Map.of(0, gib(16)));
        worker.confirms(0);
        worker.joins(1);
        tick();

        assertThat(limits(worker.desired())).isEqualTo(Map.of(0, gib(8), 1, gib(8)));
    }

    @Test
    void refusesWhatItDoesNotKnowAndWritesBeforeItIsActive() {
        coordinator.tell(new SetShare(JOB, OptionalInt.empty(), Share.ALL, operator.getRef()));
        assertThat(operator.expectMessageClass(Refused.class).message())
                .isEqualTo("refused: the coordinator is CLAIMING and does not know the cluster yet; ask again in a"
                        + " moment");
        learned("a");

        coordinator.tell(new SetShare(JOB, OptionalInt.empty(), Share.ALL, operator.getRef()));
        assertThat(operator.expectMessageClass(Refused.class).message()).isEqualTo("refused no job job; known: none");
        coordinator.tell(new SetReserve(Optional.of(new DeviceId("GPU-x")), Share.ALL, operator.getRef()));
        assertThat(operator.expectMessageClass(Refused.class).message())
                .isEqualTo("refused no device GPU-x (did you mean GPU-a?); known: GPU-a");
    }

    @Test
    void aWorkerOfAnotherProtocolVersionIsIgnored() {
        worker("a").announceWithVersion(99);

        assertThat(status().nodes()).isEmpty();
    }

    @Test
    void aSilentNodeIsForgottenWithItsRollouts() {
        FakeWorker worker = learned("a");
        worker.joins(0);
        tick();
        worker.loses();
        pass(SETTINGS.forgetAfter().plusMillis(1));

        assertThat(status().nodes()).isEmpty();
        assertThat(rollouts()).containsExactly("1 SUPERSEDED");
    }

    // Ranks wait for it, so it does not wait for a tick; a worker that did not hear it is sent it again.
    @Test
    void anOutOfMemoryErrorIsDecidedAtOnceAndSentUntilTheWorkerHoldsIt() {
        FakeWorker worker = learned("a");
        CoordinatorToken token = status().token().orElseThrow();
        worker.reportsAJobThatRanOut(token);

        DirectJob sent = worker.isDirected();
        assertThat(sent.token()).isEqualTo(token);
        assertThat(sent.directive().sizes().microBatch()).hasValue(4);
        pass(SETTINGS.resendAfter());
        assertThat(worker.isDirected()).isEqualTo(sent);
        worker.reportsJobWith(token, sent.directive());
        pass(SETTINGS.resendAfter());
        worker.expectNothing();
        assertThat(status().ooms().orElseThrow().moves())
                .extracting(move -> move.directive().sequence() + " " + move.state())
                .containsExactly("1 ORDERED");
    }
}
