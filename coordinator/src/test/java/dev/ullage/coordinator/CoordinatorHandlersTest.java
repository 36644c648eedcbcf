package dev.ullage.coordinator;

import static dev.ullage.coordinator.Fixtures.JOB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.ReservationId;
import dev.ullage.common.model.SampleQuality;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.OperatorRecord;
import dev.ullage.common.protocol.ToCoordinator;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.DecisionsQuery;
import dev.ullage.common.protocol.ToCoordinator.DeviceSampled;
import dev.ullage.common.protocol.ToCoordinator.DeviceWatched;
import dev.ullage.common.protocol.ToCoordinator.DevicesSampled;
import dev.ullage.common.protocol.ToCoordinator.DrainNode;
import dev.ullage.common.protocol.ToCoordinator.EventsQuery;
import dev.ullage.common.protocol.ToCoordinator.HistoryQuery;
import dev.ullage.common.protocol.ToCoordinator.JobsReported;
import dev.ullage.common.protocol.ToCoordinator.ReleaseCaches;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.ReservationRefused;
import dev.ullage.common.protocol.ToCoordinator.SetLimit;
import dev.ullage.common.protocol.ToCoordinator.SetPolicy;
import dev.ullage.common.protocol.ToCoordinator.SetPriority;
import dev.ullage.common.protocol.ToCoordinator.SetReserve;
import dev.ullage.common.protocol.ToCoordinator.SetShare;
import dev.ullage.common.protocol.ToCoordinator.StaleCoordinator;
import dev.ullage.common.protocol.ToCoordinator.StatusQuery;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.UndrainNode;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToWorker;
import dev.ullage.common.testing.TestClock;
import dev.ullage.config.CoordinatorSettings;
import dev.ullage.config.LimitSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.UnhandledMessage;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.eventstream.EventStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No message that a coordinator may be sent is forgotten. */
class CoordinatorHandlersTest {
    private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
    private final TestProbe<ToOperator> operator = kit.createTestProbe();
    private final ActorRef<ToCoordinator> coordinator = kit.spawn(CoordinatorActor.create(
            CoordinatorSettings.defaults(),
            LimitSettings.defaults(),
            new NodeId("c-1"),
            () -> "me",
            new TestClock(Fixtures.T0)));

    @AfterEach
    void stop() {
        kit.shutdownTestKit();
    }

    @Test
    void everyMessageHasAHandler() {
        TestProbe<UnhandledMessage> unhandled = kit.createTestProbe();
        kit.system().eventStream().tell(new EventStream.Subscribe<>(UnhandledMessage.class, unhandled.getRef()));
        DeviceId device = new DeviceId("GPU-a");
        CoordinatorToken token = new CoordinatorToken(1, "other");
        ActorRef<ToWorker> worker = kit.<ToWorker>createTestProbe().getRef();
        DevicesSampled round = new DevicesSampled(new NodeId("a"), List.of(), List.of());
        List<ToCoordinator> messages = List.of(
                round,
                Fixtures.announced(new NodeId("a"), Optional.empty(), worker, device),
                new DeviceSampled(new NodeId("a"), device, 0, Optional.empty(), Optional.empty(), List.of(), List.of()),
                new DeviceWatched(new NodeId("a"), device, new SampleQuality(SampleState.FRESH, 0)),
                Fixtures.report(1, Fixtures.ledger(Fixtures.joined(0))),
                new StaleCoordinator(new NodeId("a"), device, token, token),
                new ReservationRefused(new NodeId("a"), device, new ReservationId(JOB, token, 1), "no room"),
                new JobsReported(new NodeId("a"), Optional.empty(), List.of()),
                new StatusQuery(operator.getRef()),
                new EventsQuery(Optional.empty(), operator.getRef()),
                new DecisionsQuery(Optional.empty(), Optional.empty(), 0, 1, operator.getRef()),
                new HistoryQuery(device, 0, 10, operator.getRef()),
                new ToCoordinator.AccountsQuery(JOB, operator.getRef()),
                new SetReserve(Optional.empty(), Share.NONE, operator.getRef()),
                new SetShare(JOB, OptionalInt.empty(), Share.ALL, operator.getRef()),
                new SetPolicy(JOB, Optional.empty(), operator.getRef()),
                new SetPriority(JOB, Optional.of(Priority.HIGH), operator.getRef()),
                new SetLimit(JOB, 0, Optional.empty(), operator.getRef()),
                new DrainNode(new NodeId("a"), Optional.empty(), Optional.empty(), operator.getRef()),
                new UndrainNode(new NodeId("a"), Optional.empty(), operator.getRef()),
                new WishesReported(
                        new NodeId("a"), new OperatorRecord(new OperatorRecord.Stamp(token, 1), List.of(), List.of())),
                new ReleaseCaches(JOB, OptionalInt.empty(), operator.getRef()),
                new SubmitRequest(
                        new JobRequest(
                                JOB, "me", Priority.LOW, List.of(), 1, JobRequest.Wanted.ANY, OptionalLong.empty()),
                        0,
                        false,
                        operator.getRef()),
                new RequestsQuery(Optional.empty(), operator.getRef()),
                new CancelRequest(JOB, false, operator.getRef()),
                new RequeueRequest(JOB, operator.getRef()));

        assertThat(messages)
                .extracting(Object::getClass)
                .as("a message of every kind")
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ToCoordinator.class.getPermittedSubclasses())
                        .filter(ToCoordinator.class::isAssignableFrom)
                        .toList());
        messages.forEach(coordinator::tell);
        operator.receiveSeveralMessages(17);
        unhandled.expectNoMessage(Duration.ofMillis(50));
    }
}
