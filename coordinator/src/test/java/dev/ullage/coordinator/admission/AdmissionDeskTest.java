package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestCounts;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.QueueFigures;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import dev.ullage.coordinator.events.EventKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class AdmissionDeskTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);
    private static final Share RESERVE = Share.ofPercent(20);
    private static final long HOUR = Duration.ofHours(1).toMillis();

    private static JobRequest timed(String job, Priority priority, int ranks, long millis) {
        return VirtualCluster.request(job, priority, List.of(RankGroup.ofMemory(ranks, MOST)), OptionalLong.of(millis));
    }

    private static JobRequest with(Priority priority, String job, int ranks) {
        return VirtualCluster.request(job, priority, List.of(RankGroup.ofMemory(ranks, MOST)), OptionalLong.empty());
    }

    @Test
    void aJobIsPlacedOnceEveryLedgerHasCommittedItsPart() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2, 2);
        cluster.submit(VirtualCluster.request("gang", 3, MemoryBytes.ofGibibytes(30)));
        assertThat(cluster.state("gang").state()).isEqualTo(RequestState.WAITING);
        cluster.tick();
        assertThat(cluster.state("gang").state()).isEqualTo(RequestState.PLACING);
        assertThat(cluster.state("gang").ranks()).isEmpty();
        cluster.ticks(3);

        RequestState placed = cluster.state("gang");
        assertThat(placed.state()).isEqualTo(RequestState.PLACED);
        assertThat(placed.ranks()).extracting(RankPlace::rank).containsExactly(0, 1, 2);
        assertThat(placed.ranks()).extracting(RankPlace::amount).containsOnly(MemoryBytes.ofGibibytes(30));
        assertThat(cluster.changes).extracting("text").anyMatch(text -> text.toString()
                .contains("has its room after"));
        QueueFigures figures = cluster.desk.figures();
        assertThat(figures.placed()).isEqualTo(1);
        assertThat(figures.running()).isEqualTo(1);
    }

    @Test
    void aDeviceThatDoesNotHearMakesTheWholeJobWaitAgainAndNothingIsLeftOfIt() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2);
        cluster.submit(VirtualCluster.request("gang", 2, MOST));
        cluster.hears("GPU-node-0-1", false);
        cluster.passes(Duration.ofSeconds(9));

        RequestState waiting = cluster.state("gang");
        assertThat(waiting.state()).isEqualTo(RequestState.WAITING);
        assertThat(waiting.notes()).singleElement().asString().contains("GPU-node-0-1");
        assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();
        assertThat(cluster.desk.figures().failed()).isEqualTo(1);

        cluster.hears("GPU-node-0-1", true);
        cluster.passes(Duration.ofSeconds(4));
        assertThat(cluster.placed()).containsExactly("gang");
    }

    @Test
    void whatCanNeverFitIsRefusedAtOnceWithTheNumbers() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 4, 4);

        assertThat(refusal(cluster, VirtualCluster.request("large", 2, MemoryBytes.ofGibibytes(70))))
                .isEqualTo("this can never fit: 2 ranks with 70.0 GiB each: that is 2 devices; of the cluster's 8"
                        + " devices 8 are ones that it accepts, and 0 of these could ever give 70.0 GiB; the most that"
                        + " one can promise is 64.0 GiB");
        assertThat(refusal(cluster, VirtualCluster.request("many", 9, MOST))).contains("9 devices", "8 devices");
        assertThat(refusal(cluster, VirtualCluster.spread(VirtualCluster.request("near", 5, MOST), Extent.SAME_NODE)))
                .contains("5 devices of one node", "at most 4 of one node");
        assertThat(refusal(cluster, VirtualCluster.wanting("model", "*B200*")))
                .endsWith("; models there are: H100-80G");
        assertThat(cluster.states()).isEmpty();
    }

    private static String refusal(VirtualCluster cluster, JobRequest request) {
        return ((RequestRefused) cluster.submit(request)).reasons().get(0);
    }

    @Test
    void zeroRanksAreGivenNoDeviceAndDoNotWait() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(VirtualCluster.request("none", Priority.MEDIUM, List.of(), OptionalLong.empty()));

        assertThat(cluster.state("none").state()).isEqualTo(RequestState.PLACED);
        assertThat(cluster.state("none").ranks()).isEmpty();
        cluster.ticks(4);
        assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();
    }

    @Test
    void whoIsOutTakesNothingAndTheReasonIsSaid() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1, 1);
        cluster.readings("GPU-node-0-0", SampleState.STALE);
        cluster.draining.add(new NodeId("node-1"));
        cluster.add("node-3", 0, DEVICE, RESERVE, MOST);
        cluster.submit(VirtualCluster.request("first", 1, MOST));
        cluster.submit(VirtualCluster.request("second", 1, MOST));
        cluster.ticks(6);

        assertThat(cluster.placed()).containsExactly("first");
        assertThat(cluster.state("first").ranks()).extracting(RankPlace::node).containsExactly(new NodeId("node-2"));
        assertThat(cluster.state("second").waiting().orElseThrow().waitsFor())
                .contains("its readings are stale", "its node takes nothing new");

        cluster.readings("GPU-node-0-0", SampleState.FRESH);
        cluster.ticks(6);
        assertThat(cluster.placed()).containsExactly("first", "second");
    }

    @Test
    void aHigherPriorityGoesFirstUntilTheOtherHasWaitedForIt() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(with(Priority.LOW, "runs", 1));
        cluster.ticks(4);
        cluster.submit(with(Priority.LOW, "low", 1));
        cluster.passes(Duration.ofMinutes(30));
        cluster.submit(with(Priority.HIGH, "high", 1));
        cluster.tick();
        assertThat(cluster.waiting()).containsExactly("high", "low");

        cluster.desk.setPriority(new JobId("low"), Optional.of(Priority.HIGH));
        cluster.passes(Duration.ofSeconds(10));
        assertThat(cluster.waiting()).containsExactly("low", "high");
        cluster.desk.setPriority(new JobId("low"), Optional.of(Priority.LOW));
        cluster.passes(Duration.ofMinutes(160));
        cluster.submit(with(Priority.HIGH, "late", 1));
        cluster.tick();
        assertThat(cluster.waiting()).containsExactly("high", "low", "late");
    }

    // Two nodes: the first of the queue needs both, and another may pass only if it is done by then.
    @Test
    void aShortJobPassesAndALongOneDoesNot() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2, 2);
        cluster.submit(timed("runs", Priority.MEDIUM, 3, HOUR));
        cluster.ticks(4);
        cluster.submit(timed("both", Priority.MEDIUM, 4, HOUR));
        cluster.submit(timed("long", Priority.MEDIUM, 1, 2 * HOUR));
        cluster.submit(timed("short", Priority.MEDIUM, 1, HOUR / 2));
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("runs", "short");
        assertThat(cluster.waiting()).containsExactly("both", "long");
        RequestState.Waiting both = cluster.state("both").waiting().orElseThrow();
        assertThat(both.startsInMillis().getAsLong()).isBetween(HOUR - 10_000, HOUR);
        assertThat(both.basis()).contains("the times that the jobs which run there were submitted with");
        assertThat(cluster.state("long")
                        .waiting()
                        .orElseThrow()
                        .startsInMillis()
                        .getAsLong())
                .isBetween(2 * HOUR - 10_000, 2 * HOUR);

        cluster.passes(Duration.ofMinutes(31));
        cluster.ends("short");
        cluster.passes(Duration.ofMinutes(29));
        cluster.ends("runs");
        cluster.ticks(8);
        assertThat(cluster.placed()).containsExactly("both");
    }

    // While the room of the one is on its way back the other is due: the first must not look for other devices then,
    // and let somebody in beside the other.
    @Test
    void endsOneLookApartDoNotMakeTheFirstBeginAgain() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 3);
        long tick = VirtualCluster.TICK.toMillis();
        cluster.submit(timed("ends", Priority.MEDIUM, 1, 10_000));
        cluster.submit(timed("long", Priority.MEDIUM, 1, HOUR));
        cluster.submit(half("next", 10_000 + tick));
        cluster.ticks(3);
        assertThat(cluster.placed()).containsExactly("ends", "long", "next");
        cluster.submit(timed("wide", Priority.MEDIUM, 2, HOUR));
        cluster.tick();
        cluster.submit(half("passer", HOUR / 2));
        cluster.passes(Duration.ofMillis(10_000 - tick));
        assertThat(startsInMillis(cluster, "wide")).hasValue(tick);
        cluster.ends("ends");
        cluster.tick();
        cluster.ends("next");
        cluster.ticks(5);

        assertThat(cluster.placed()).containsExactly("long", "wide");
    }

    // A job that ended has its part back from one device and not yet from the other: the one that is back is room once.
    @Test
    void roomThatIsBackAlreadyIsNotCountedAgainBecauseAnotherPartIsNot() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2);
        cluster.submit(VirtualCluster.request("stays", 1, MOST.dividedBy(2)));
        cluster.submit(VirtualCluster.request("ends", 2, MOST.dividedBy(2)));
        cluster.ticks(4);
        assertThat(cluster.jobsOnDevices()).containsExactlyInAnyOrder(1, 2);
        String deaf = cluster.jobsOnDevices().get(0) == 1 ? "GPU-node-0-0" : "GPU-node-0-1";
        cluster.hears(deaf, false);
        cluster.ends("ends");
        cluster.ticks(2);
        cluster.submit(with(Priority.MEDIUM, "wide", 2));
        cluster.ticks(2);

        assertThat(cluster.jobsOnDevices()).containsExactly(1, 1);
        assertThat(startsInMillis(cluster, "wide"))
                .as("nobody said when \"stays\" ends")
                .isEmpty();
    }

    private static JobRequest half(String job, long millis) {
        RankGroup group = RankGroup.ofMemory(1, MOST.dividedBy(2));
        return VirtualCluster.request(job, Priority.MEDIUM, List.of(group), OptionalLong.of(millis));
    }

    private static OptionalLong startsInMillis(VirtualCluster cluster, String job) {
        return cluster.state(job).waiting().orElseThrow().startsInMillis();
    }

    @Test
    void aRequestIsForgottenOnceItsSubmitterIsSilentForItsLease() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(with(Priority.MEDIUM, "runs", 1));
        cluster.submit(with(Priority.MEDIUM, "waits", 1));
        cluster.passes(Duration.ofSeconds(5));
        cluster.falls("waits");
        cluster.passes(Duration.ofSeconds(29));
        assertThat(cluster.waiting()).containsExactly("waits");
        cluster.passes(Duration.ofSeconds(4));
        assertThat(cluster.waiting()).isEmpty();

        // Room is kept longer: its ranks may be about to come.
        cluster.falls("runs");
        cluster.passes(Duration.ofSeconds(40));
        assertThat(cluster.placed()).containsExactly("runs");
        cluster.passes(Duration.ofSeconds(25));
        assertThat(cluster.states()).isEmpty();
        assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();
    }

    @Test
    void cancelledIsSaidToItsSubmitterAndFreesTheName() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        JobRequest request = with(Priority.MEDIUM, "job", 1);
        cluster.submit(request);
        cluster.ticks(4);
        assertThat(cluster.desk.cancel(new JobId("job"), false, cluster.now)).isInstanceOf(Accepted.class);
        cluster.passes(Duration.ofSeconds(6));
        assertThat(cluster.state("job").state()).isEqualTo(RequestState.CANCELLED);
        assertThat(cluster.jobsWithAPart(report -> true)).isEmpty();

        JobRequest another = new JobRequest(
                request.job(),
                "another",
                request.priority(),
                request.groups(),
                1,
                request.wanted(),
                request.runsForMillis());
        cluster.submit(another);
        cluster.ticks(4);
        assertThat(cluster.state("job").state()).isEqualTo(RequestState.PLACED);
        assertThat(cluster.say(request, 0, false)).isInstanceOf(RequestRefused.class);
    }

    @Test
    void aJobThatIsPutToTheEndGivesItsRoomBackAndWaitsOnceItHasEnded() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        JobRequest first = with(Priority.MEDIUM, "first", 1);
        cluster.submit(first);
        cluster.ticks(4);
        cluster.submit(with(Priority.MEDIUM, "second", 1));
        cluster.falls("first");
        assertThat(cluster.desk.requeue(new JobId("first"), cluster.now)).isInstanceOf(Accepted.class);
        cluster.say(first, 0, true);
        assertThat(cluster.state("first").state()).isEqualTo(RequestState.REQUEUED);
        cluster.ticks(8);
        assertThat(cluster.placed()).containsExactly("second");
        cluster.say(first, 0, false);

        assertThat(cluster.waiting()).containsExactly("first");
        assertThat(cluster.desk.requeue(new JobId("nobody"), cluster.now)).isInstanceOf(RequestRefused.class);
    }

    @Test
    void aCoordinatorThatTakesOverKeepsTheOrderAndFindsWhatRuns() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2);
        JobRequest runs = with(Priority.MEDIUM, "runs", 2);
        cluster.submit(runs);
        cluster.ticks(4);
        JobRequest old = with(Priority.MEDIUM, "old", 2);
        JobRequest young = with(Priority.MEDIUM, "young", 1);
        cluster.submit(old);
        cluster.passes(Duration.ofSeconds(20));
        cluster.submit(young);
        cluster.ticks(2);
        cluster.falls("runs");
        cluster.falls("old");
        cluster.falls("young");
        cluster.failOver();
        cluster.tick();
        assertThat(cluster.placed()).containsExactly("runs");

        // The younger is heard first.
        cluster.say(young, 3_000, false);
        cluster.ticks(4);
        cluster.say(old, 23_000, false);
        cluster.say(runs, 0, true);
        cluster.ticks(4);
        assertThat(cluster.waiting()).containsExactly("old", "young");
        assertThat(cluster.state("runs").ranks()).hasSize(2);

        cluster.desk.cancel(new JobId("runs"), true, cluster.now);
        cluster.passes(Duration.ofSeconds(8));
        assertThat(cluster.placed()).containsExactly("old");
    }

    @Test
    void aRunningJobThatNoLedgerKnowsIsSaidToBeLostAndNotQueued() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        JobRequest request = with(Priority.MEDIUM, "job", 1);
        cluster.submit(request);
        cluster.ticks(4);
        cluster.falls("job");
        cluster.loseLedger("GPU-node-0-0");
        cluster.failOver();
        cluster.tick();
        cluster.say(request, 0, true);
        cluster.passes(Duration.ofSeconds(10));
        assertThat(cluster.state("job").state()).isEqualTo(RequestState.LOST);
        assertThat(cluster.first(0).states()).isEmpty();
        assertThat(cluster.first(1).states()).isEqualTo(cluster.states());
        assertThat(cluster.first(1).counts()).contains(new RequestCounts(0, 0, 0, 0, 1));

        cluster.say(request, 0, false);
        cluster.ticks(4);
        assertThat(cluster.state("job").state()).isEqualTo(RequestState.PLACED);
    }

    @Test
    void ranksOfAJobStayTogetherWhereTheyMustAndApartWhereTheyShall() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 2, 3, 4);
        cluster.submit(VirtualCluster.spread(VirtualCluster.request("near", 3, MOST), Extent.SAME_NODE));
        cluster.ticks(4);
        assertThat(cluster.state("near").ranks()).extracting(RankPlace::node).containsOnly(new NodeId("node-1"));

        cluster.submit(VirtualCluster.spread(VirtualCluster.request("apart", 2, MOST), Extent.SPREAD));
        cluster.ticks(4);
        assertThat(cluster.state("apart").ranks())
                .extracting(RankPlace::node)
                .containsExactly(new NodeId("node-0"), new NodeId("node-2"));

        cluster.submit(VirtualCluster.request("rest", 4, MOST));
        cluster.ticks(4);
        assertThat(cluster.state("rest").ranks())
                .extracting(RankPlace::node)
                .containsExactly(
                        new NodeId("node-0"), new NodeId("node-2"), new NodeId("node-2"), new NodeId("node-2"));
    }

    // A submitter's request is on its way for some milliseconds; one that says it to the next coordinator is not new.
    @Test
    void onlyWhoHasJustComeIsTold() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.tick();
        cluster.say(with(Priority.MEDIUM, "new", 1), 40, false);
        cluster.say(with(Priority.MEDIUM, "old", 1), 60_000, false);
        cluster.tick();

        assertThat(cluster.changes)
                .filteredOn(change -> change.kind() == EventKind.JOB_SUBMITTED)
                .extracting(change -> change.about().job())
                .containsExactly(Optional.of(new JobId("new")));
    }

    @Test
    void noMoreRequestsThanThereMayBe() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        for (int i = 0; i < cluster.settings.maxRequests(); i++) {
            cluster.submit(with(Priority.MEDIUM, "job-" + i, 1));
        }

        assertThat(refusal(cluster, with(Priority.HIGH, "one-more", 1))).contains("1000 requests", "max-requests");
        Requests first = cluster.first(3);
        assertThat(first.states()).isEqualTo(cluster.states().subList(0, 3));
        assertThat(first.counts()).contains(new RequestCounts(1_000, 0, 0, 0, 0));
        assertThat(cluster.states().get(999).waiting().orElseThrow().waitsFor()).isEqualTo("999 jobs stand before it");
    }
}
