package dev.ullage.common.protocol;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.Extent;
import dev.ullage.common.model.HostCapacity;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Reservation;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToCoordinator.CancelRequest;
import dev.ullage.common.protocol.ToCoordinator.RequestsQuery;
import dev.ullage.common.protocol.ToCoordinator.RequeueRequest;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.WishesHeld;
import dev.ullage.common.protocol.ToCoordinator.WorkerAnnounced;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.typed.ActorRef;

/** The parts of {@link WireSamples} that are about requests. */
final class RequestSamples {
    private static final NodeId NODE = new NodeId("host-a");
    private static final DeviceId DEVICE = new DeviceId("GPU-5a7c1e2d-0000-4000-8000-0123456789ab");

    private static final JobId JOB = new JobId("bert-large");
    private static final String ROOM = "bert-large#7:7f3a#12";

    static final HostCapacity HOST = new HostCapacity(
            OptionalInt.of(64_000),
            Optional.of(MemoryBytes.ofGibibytes(512)),
            Optional.of(MemoryBytes.ofGibibytes(400)));

    private RequestSamples() {}

    static List<WireMessage> full(ActorRef<ToOperator> operator) {
        return List.of(
                new SubmitRequest(request(), 61_000, true, operator, Optional.of(ROOM), OptionalLong.of(42_000)),
                new RequestsQuery(Optional.of(JOB), OptionalInt.of(50), operator),
                new CancelRequest(JOB, true, operator),
                new RequeueRequest(JOB, operator),
                new Requests(
                        List.of(requestState()),
                        Optional.of(new RequestCounts(34, 2, 7, 1, 3)),
                        Optional.of(ROOM),
                        OptionalLong.of(42_000)),
                new RequestRefused(List.of("no job bart; known: bert-large"), Optional.of(new NotKnown("job"))));
    }

    static List<WireMessage> sparse(ActorRef<ToOperator> operator) {
        return List.of(
                new SubmitRequest(sparseRequest(), 0, false, operator),
                new RequestsQuery(Optional.empty(), operator),
                new CancelRequest(JOB, false, operator),
                new RequeueRequest(JOB, operator),
                new Requests(List.of(sparseRequestState())),
                new RequestRefused(List.of()));
    }

    static WorkerAnnounced announced(
            CoordinatorToken token, DeviceInfo info, OperatorRecord.Stamp stamp, ActorRef<ToWorker> worker) {
        return new WorkerAnnounced(
                NODE,
                Protocol.VERSION,
                Optional.of(token),
                List.of(info),
                Optional.of(new WishesHeld(Optional.of(stamp))),
                Optional.of(HOST),
                worker);
    }

    static Reservation withHosts(Reservation reservation) {
        return reservation.with(request().wanted().host());
    }

    private static JobRequest request() {
        return new JobRequest(
                new JobId("bert-large"),
                "host-a-4242",
                Priority.HIGH,
                List.of(
                        RankGroup.ofMemory(4, MemoryBytes.ofGibibytes(20)),
                        RankGroup.ofMemory(2, MemoryBytes.ofGibibytes(10))),
                2,
                new JobRequest.Wanted(
                        Extent.SAME_NODE,
                        Optional.of(NODE),
                        Optional.of("*H100*"),
                        Optional.of("2g.20gb"),
                        new JobRequest.HostNeed(Optional.of(MemoryBytes.ofGibibytes(64)), OptionalInt.of(8_000))),
                OptionalLong.of(3_600_000));
    }

    private static JobRequest sparseRequest() {
        return new JobRequest(
                new JobId("bert-large"),
                "me",
                Priority.MEDIUM,
                List.of(RankGroup.ofShare(1, Share.ALL)),
                1,
                JobRequest.Wanted.ANY,
                OptionalLong.empty());
    }

    private static RequestState requestState() {
        return new RequestState(
                request(),
                RequestState.WAITING,
                Optional.of(new RequestState.Waiting(
                        OptionalInt.of(2),
                        "3 devices with 40.0 GiB each; 1 has that now",
                        OptionalLong.of(600_000),
                        "the times that the jobs which run there were submitted with")),
                61_000,
                30_000,
                List.of(new RequestState.RankPlace(3, NODE, 1, DEVICE, OptionalInt.of(1), MemoryBytes.ofGibibytes(20))),
                List.of("8 cpus and 64.0 GiB of host memory for each rank are advisory: nothing holds a rank to them"));
    }

    private static RequestState sparseRequestState() {
        return new RequestState(
                sparseRequest(), RequestState.PLACED, Optional.empty(), 0, 30_000, List.of(), List.of());
    }

    static QueueFigures queueFigures() {
        return new QueueFigures(
                3,
                1,
                7,
                List.of(
                        new QueueFigures.Bucket(OptionalLong.of(60), 5),
                        new QueueFigures.Bucket(OptionalLong.empty(), 2)),
                412_000,
                7,
                1);
    }
}
