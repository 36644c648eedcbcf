package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a coordinator that takes over makes of jobs that were placed before it. */
class AdmissionTakeoverTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);
    private static final Share RESERVE = Share.ofPercent(20);
    private static final DeviceId FIRST = new DeviceId("GPU-node-0-0");
    private static final DeviceId SECOND = new DeviceId("GPU-node-1-0");

    private static JobRequest request(String job) {
        return VirtualCluster.request(job, 1, MOST);
    }

    // Goal: no room is kept for ever for a job that has ended. Method: as the simulation found it: the coordinator that
    // is told of the end is replaced before any ledger hears of it.
    @Test
    void roomThatWasGivenBackToAReplacedCoordinatorIsReleasedOnceItsSubmitterIsSilent() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(request("job"));
        cluster.ticks(4);
        cluster.falls("job");
        assertThat(cluster.desk.cancel(new JobId("job"), true, cluster.now)).isInstanceOf(Accepted.class);
        cluster.failOver();
        cluster.tick();
        assertThat(cluster.placed()).containsExactly("job");

        cluster.passes(Duration.ofSeconds(59));
        assertThat(cluster.placed()).containsExactly("job");
        cluster.passes(Duration.ofSeconds(3));

        assertThat(cluster.states()).isEmpty();
        assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();
    }

    /** A job with its room on the first device, and other room on the second, of which its submitter was told. */
    private static Optional<String> twoRooms(VirtualCluster cluster, JobRequest request) {
        cluster.submit(request);
        cluster.ticks(4);
        assertThat(cluster.state("job").ranks()).extracting(RankPlace::device).containsExactly(FIRST);
        cluster.hears("GPU-node-0-0", false);
        cluster.failOver();
        cluster.passes(cluster.settings.settleFor().plusSeconds(4));
        assertThat(cluster.state("job").ranks()).extracting(RankPlace::device).containsExactly(SECOND);
        Optional<String> room = cluster.room("job");
        cluster.falls("job");
        cluster.hears("GPU-node-0-0", true);
        return room;
    }

    // Goal: a job keeps the room that it was told of. Method: as the simulation found it: a device that is not heard of
    // for
    // a while keeps older room of the same job, and the next coordinator finds both whole.
    @Test
    void ofTwoRoomsOfAJobThatIsKeptInWhichItsSubmitterSaysItRuns() {
        for (boolean isFirstHeardFirst : List.of(true, false)) {
            VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1);
            Optional<String> room = twoRooms(cluster, request("job"));
            cluster.hears(isFirstHeardFirst ? "GPU-node-1-0" : "GPU-node-0-0", false);
            cluster.failOver();
            cluster.ticks(2);
            cluster.hears(isFirstHeardFirst ? "GPU-node-1-0" : "GPU-node-0-0", true);
            cluster.passes(Duration.ofSeconds(20));
            assertThat(cluster.jobsOnDevices()).as("both are kept").containsExactly(1, 1);

            cluster.runsIn(request("job"), room);
            cluster.passes(Duration.ofSeconds(3));

            assertThat(cluster.state("job").state()).isEqualTo(RequestState.PLACED);
            assertThat(cluster.room("job")).isEqualTo(room).isPresent();
            assertThat(cluster.jobsOnDevices()).containsExactly(0, 1);
        }
    }

    @Test
    void whoDoesNotSayInWhichRoomItRunsWasToldOfTheNewest() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1);
        Optional<String> room = twoRooms(cluster, request("job"));
        cluster.failOver();
        cluster.ticks(2);
        cluster.runsIn(request("job"), Optional.empty());
        cluster.passes(Duration.ofSeconds(3));

        assertThat(cluster.room("job")).isEqualTo(room);
        assertThat(cluster.jobsOnDevices()).containsExactly(0, 1);
    }

    @Test
    void roomThatIsFoundAfterItsSubmitterHasSpokenIsKeptOnlyIfItRunsThere() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1);
        Optional<String> room = twoRooms(cluster, request("job"));
        cluster.hears("GPU-node-1-0", false);
        cluster.failOver();
        cluster.runsIn(request("job"), room);
        cluster.passes(Duration.ofSeconds(3));
        assertThat(cluster.state("job").state())
                .as("it runs, and where it runs is not heard")
                .isEqualTo(RequestState.LOST);
        cluster.hears("GPU-node-1-0", true);
        cluster.passes(Duration.ofSeconds(3));

        assertThat(cluster.state("job").state()).isEqualTo(RequestState.PLACED);
        assertThat(cluster.jobsOnDevices()).containsExactly(0, 1);
    }

    @Test
    void ofTwoRoomsNoneIsLeftOnceItsSubmitterIsSilentOrItIsCancelled() {
        for (boolean isCancelled : List.of(true, false)) {
            VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1);
            twoRooms(cluster, request("job"));
            cluster.failOver();
            cluster.ticks(2);
            if (isCancelled) {
                cluster.desk.cancel(new JobId("job"), false, cluster.now);
            }
            cluster.passes(Duration.ofSeconds(isCancelled ? 3 : 63));

            assertThat(cluster.jobsOnDevices()).as("cancelled: " + isCancelled).containsExactly(0, 0);
        }
    }

    // Goal: nobody is told that it has room which is less than it asked for. Method: as the simulation found it: an
    // earlier
    // run of the same name has ended, and the coordinator that takes over finds its room.
    @Test
    void theRoomOfAnEarlierRunIsNotGivenToOneThatNeedsMore() {
        for (boolean isFoundFirst : List.of(true, false)) {
            VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2);
            cluster.submit(VirtualCluster.request("job", 1, MOST.dividedBy(4)));
            cluster.ticks(4);
            cluster.falls("job");
            cluster.hears("GPU-node-0-0", false);
            cluster.failOver();
            cluster.tick();
            cluster.hears("GPU-node-0-0", isFoundFirst);
            cluster.tick();
            for (JobRequest second : List.of(
                    VirtualCluster.request("job", 1, MOST.dividedBy(2)),
                    VirtualCluster.request("job", 2, MOST.dividedBy(4)))) {
                assertThat(cluster.say(second, 0, false))
                        .as("first %s, found first: %s", second.text(), isFoundFirst)
                        .isInstanceOf(isFoundFirst ? RequestRefused.class : Requests.class);
            }
            cluster.hears("GPU-node-0-0", true);
            cluster.passes(Duration.ofSeconds(9));

            assertThat(cluster.state("job").ranks())
                    .extracting(RankPlace::amount)
                    .hasSize(isFoundFirst ? 1 : 2)
                    .containsOnly(MOST.dividedBy(4));
            assertThat(cluster.isAllOrNone()).isTrue();
            assertThat(cluster.jobsOnDevices().stream()
                            .mapToInt(Integer::intValue)
                            .sum())
                    .isEqualTo(isFoundFirst ? 1 : 2);
        }
    }

    // Goal: nobody is given room for a job that runs already: another coordinator told it, and this one did not hear.
    @Test
    void aJobThatRunsIsNotGivenRoomASecondTime() {
        for (int ticks = 0; ticks < 8; ticks++) {
            VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
            cluster.tick();
            cluster.say(request("job"), 0, false);
            cluster.ticks(Math.min(ticks, 2));
            cluster.runsIn(request("job"), Optional.of("job#9:another#1"));
            cluster.passes(Duration.ofSeconds(3));

            assertThat(cluster.state("job").state()).isEqualTo(RequestState.LOST);
            assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();
            cluster.say(request("job"), 0, false);
            cluster.passes(Duration.ofSeconds(3));
            assertThat(cluster.placed()).containsExactly("job");
        }
    }

    @Test
    void whoSpeaksOnlyAfterItsRoomWasLostIsHeard() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(request("job"));
        cluster.ticks(4);
        cluster.falls("job");
        cluster.failOver();
        cluster.tick();
        cluster.loseLedger("GPU-node-0-0");
        cluster.passes(Duration.ofSeconds(17));
        assertThat(cluster.state("job").state()).isEqualTo(RequestState.LOST);

        assertThat(cluster.runsIn(request("job"), Optional.empty())).isInstanceOf(Requests.class);
    }

    @Test
    void aJobWithoutRanksCannotBePutToTheEnd() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(VirtualCluster.request("none", Priority.MEDIUM, List.of(), OptionalLong.empty()));
        assertThat(cluster.desk.requeue(new JobId("none"), cluster.now)).isInstanceOf(RequestRefused.class);
        cluster.ticks(4);

        assertThat(cluster.state("none").state()).isEqualTo(RequestState.PLACED);
    }
}
