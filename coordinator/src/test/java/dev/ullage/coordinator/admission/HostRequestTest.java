package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.Extent;
import dev.ullage.common.model.HostAmount;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Requests that name processors and memory of the hosts: two nodes of four devices, 16 cpus and 64 GiB each. */
class HostRequestTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes SMALL = MemoryBytes.ofGibibytes(4);

    private final VirtualCluster cluster = VirtualCluster.of(Share.NONE, DEVICE, 4, 4);

    HostRequestTest() {
        cluster.host("node-0", 16, gibibytes(64));
        cluster.host("node-1", 16, gibibytes(64));
    }

    private static MemoryBytes gibibytes(int count) {
        return MemoryBytes.ofGibibytes(count);
    }

    private static HostNeed cpus(int count) {
        return new HostNeed(Optional.empty(), OptionalInt.of(count * 1000));
    }

    private static HostNeed memory(int gibibytes) {
        return new HostNeed(Optional.of(gibibytes(gibibytes)), OptionalInt.empty());
    }

    private static JobRequest asking(String job, int ranks, HostNeed each) {
        return VirtualCluster.on(VirtualCluster.request(job, ranks, SMALL), each);
    }

    private static JobRequest timed(String job, int ranks, HostNeed each, Duration time) {
        RankGroup group = RankGroup.ofMemory(ranks, SMALL);
        return VirtualCluster.on(
                VirtualCluster.request(job, Priority.MEDIUM, List.of(group), OptionalLong.of(time.toMillis())), each);
    }

    private static JobRequest onOneNode(JobRequest request) {
        return VirtualCluster.spread(request, Extent.SAME_NODE);
    }

    private String waitsFor(String job) {
        return cluster.state(job).waiting().orElseThrow().waitsFor();
    }

    private List<String> refusal(JobRequest request) {
        return cluster.submit(request) instanceof RequestRefused refused ? refused.reasons() : List.of();
    }

    @Test
    void jobsWhoseProcessorsDoNotFitTogetherRunOneAfterTheOther() {
        cluster.submit(onOneNode(asking("a", 2, cpus(5))));
        cluster.submit(onOneNode(asking("b", 2, cpus(6))));
        cluster.ticks(4);
        cluster.submit(onOneNode(asking("c", 1, cpus(7))));
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("a", "b");
        assertThat(waitsFor("c")).isEqualTo("cpus on node-0: asked 7, free 6, cpus on node-1: asked 7, free 4");
        assertThat(cluster.askedOf("node-0")).isEqualTo(new HostAmount(10_000, MemoryBytes.ZERO));
        assertThat(cluster.state("c").notes())
                .containsExactly(
                        "7 cpus for each rank: counted where jobs are placed, and advisory: nothing holds a rank"
                                + " to it");

        cluster.ends("b");
        cluster.ticks(6);
        assertThat(cluster.placed()).containsExactly("a", "c");
    }

    @Test
    void whoAsksForNoneIsHeldUpByNone() {
        cluster.submit(asking("all", 2, cpus(16)));
        cluster.ticks(4);
        cluster.submit(asking("none", 4, HostNeed.NONE));
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("all", "none");
    }

    @Test
    void whatNoHostEverHasIsRefusedAtOnceWithTheNumbers() {
        assertThat(refusal(asking("wide", 1, cpus(17))))
                .singleElement()
                .asString()
                .isEqualTo(
                        "this can never fit: 1 rank with 4.0 GiB, for each rank 17 cpus: cpus on node-0: asked 17, has"
                                + " 16, cpus on node-1: asked 17, has 16");
        assertThat(refusal(onOneNode(asking("tall", 3, memory(30)))))
                .singleElement()
                .asString()
                .endsWith("host memory on node-0: asked 90.0 GiB (30.0 GiB for each of 3 ranks), has 64.0 GiB, host"
                        + " memory on node-1: asked 90.0 GiB (30.0 GiB for each of 3 ranks), has 64.0 GiB");
        assertThat(refusal(asking("over-both", 5, memory(30))))
                .singleElement()
                .asString()
                .contains("host memory on node-0: asked 30.0 GiB for each of 5 ranks, has 64.0 GiB");
        assertThat(refusal(asking("both", 4, memory(30)))).isEmpty();
    }

    @Test
    void anAskOfEachRankIsMetOnSeveralNodesTogether() {
        cluster.submit(asking("both", 4, memory(30)));
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("both");
        assertThat(cluster.askedOf("node-0").memory()).isEqualTo(gibibytes(60));
        assertThat(cluster.askedOf("node-1").memory()).isEqualTo(gibibytes(60));
    }

    @Test
    void ofTheLastDeviceOfAGroupOnlyTheRanksThatItHasCount() {
        JobRequest three = new JobRequest(
                new JobId("three"),
                "me",
                Priority.MEDIUM,
                List.of(RankGroup.ofMemory(3, SMALL)),
                2,
                JobRequest.Wanted.ANY.with(cpus(8)),
                OptionalLong.empty());
        cluster.submit(asking("one", 1, cpus(8)));
        cluster.ticks(4);
        cluster.submit(three);
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("one", "three");
        assertThat(cluster.askedOf("node-0").cpuMilli()).isEqualTo(16_000);
        assertThat(cluster.askedOf("node-1").cpuMilli()).isEqualTo(16_000);
    }

    @Test
    void groupsThatShareDevicesUnevenlyCannotAskForEither() {
        JobRequest ragged = new JobRequest(
                new JobId("ragged"),
                "me",
                Priority.MEDIUM,
                List.of(RankGroup.ofMemory(3, SMALL), RankGroup.ofMemory(2, gibibytes(8))),
                2,
                JobRequest.Wanted.ANY.with(cpus(1)),
                OptionalLong.empty());

        assertThat(refusal(ragged)).singleElement().asString().contains("a multiple of the ranks per device");
    }

    @Test
    void ofANodeThatDoesNotSayNothingIsAssumed() {
        cluster.hostIsUnknown("node-1");
        cluster.submit(asking("a", 1, cpus(16)));
        cluster.ticks(4);
        cluster.submit(asking("b", 1, cpus(20)));
        cluster.submit(asking("c", 1, HostNeed.NONE));
        cluster.ticks(4);

        assertThat(cluster.placed()).containsExactly("a", "c");
        assertThat(waitsFor("b"))
                .as("that it is refused is not known before the other node says what it has")
                .isEqualTo("cpus on node-0: asked 20, free 0, node-1 does not say how many cpus it has");

        cluster.host("node-1", 24, gibibytes(64));
        cluster.ticks(8);
        assertThat(cluster.placed()).containsExactly("a", "b", "c");
    }

    @Test
    void memoryThatOthersUseIsNotThere() {
        cluster.hostIsUnknown("node-1");
        cluster.submit(asking("quiet", 1, memory(20)));
        cluster.ticks(4);
        // It uses what it asked for: that is counted once, not twice.
        cluster.starts("quiet", gibibytes(20));
        cluster.submit(asking("second", 1, memory(40)));
        cluster.ticks(4);
        assertThat(cluster.placed()).containsExactly("quiet", "second");
        assertThat(cluster.askedOf("node-0").memory()).isEqualTo(gibibytes(60));

        cluster.ends("second");
        cluster.ticks(4);
        // More than it asked for: what is measured to be there is what there is.
        cluster.starts("quiet", gibibytes(50));
        cluster.submit(asking("third", 1, memory(20)));
        cluster.ticks(4);
        assertThat(waitsFor("third"))
                .startsWith("host memory on node-0: asked 20.0 GiB, free 14.0 GiB, node-1 does not say");
    }

    @Test
    void ofWhomNoRankIsThereYetWillUseWhatItAskedFor() {
        cluster.hostIsUnknown("node-1");
        cluster.submit(asking("foreign", 1, HostNeed.NONE));
        cluster.ticks(4);
        cluster.starts("foreign", gibibytes(24));
        cluster.submit(asking("early", 1, memory(30)));
        cluster.ticks(4);
        cluster.submit(asking("next", 1, memory(20)));
        cluster.ticks(4);

        assertThat(waitsFor("next")).contains("asked 20.0 GiB, free 10.0 GiB");
    }

    @Test
    void theFirstKeepsProcessorsAsItKeepsDevices() {
        cluster.hostIsUnknown("node-1");
        cluster.submit(timed("runs", 1, cpus(12), Duration.ofSeconds(60)));
        cluster.ticks(4);
        cluster.submit(timed("first", 1, cpus(14), Duration.ofSeconds(60)));
        cluster.ticks(2);
        cluster.submit(timed("long", 1, cpus(4), Duration.ofHours(1)));
        cluster.submit(timed("short", 1, cpus(4), Duration.ofSeconds(20)));
        cluster.submit(timed("small", 1, cpus(2), Duration.ofHours(1)));
        cluster.ticks(4);

        // Who ends in time passes, on the processors that the first waits for too; then there are none left to pass on.
        assertThat(cluster.placed()).containsExactly("runs", "short");
        assertThat(cluster.state("first").waiting().orElseThrow().startsInMillis())
                .isPresent();
        cluster.ends("short");
        cluster.ticks(4);
        assertThat(cluster.placed()).as("who leaves it what it needs").containsExactly("runs", "small");
        cluster.ends("runs");
        cluster.ticks(4);
        assertThat(cluster.placed()).containsExactly("first", "small");
        assertThat(cluster.waiting()).containsExactly("long");
    }

    @Test
    void aCoordinatorThatTakesOverLearnsFromTheLedgersWhatWasAsked() {
        cluster.submit(asking("silent", 2, cpus(16)));
        cluster.ticks(4);
        cluster.starts("silent", MemoryBytes.ZERO);
        cluster.falls("silent");
        cluster.failOver();
        cluster.submit(asking("next", 1, cpus(1)));
        cluster.passes(cluster.settings.settleFor().plusSeconds(5));

        assertThat(cluster.placed()).containsExactly("silent");
        assertThat(waitsFor("next")).isEqualTo("cpus on node-0: asked 1, free 0, cpus on node-1: asked 1, free 0");
    }

    @Test
    void aHostWithALedgerThatHasNotReportedHasNothingLeft() {
        cluster.submit(onOneNode(asking("here", 1, cpus(16))));
        cluster.ticks(4);
        String device = cluster.state("here").ranks().get(0).device().value();
        cluster.hears(device, false);
        cluster.falls("here");
        cluster.failOver();
        cluster.submit(asking("next", 2, cpus(12)));
        cluster.passes(cluster.settings.settleFor().plusSeconds(5));

        assertThat(cluster.state("next").state()).isEqualTo(RequestState.WAITING);
        assertThat(waitsFor("next")).contains("free 0").contains("not known: ");
    }

    @Test
    void aJobWithoutDevicesIsToldThatNothingIsCounted() {
        cluster.submit(VirtualCluster.on(
                VirtualCluster.request("host-only", Priority.MEDIUM, List.of(), OptionalLong.empty()), cpus(99)));

        assertThat(cluster.state("host-only").state()).isEqualTo(RequestState.PLACED);
        assertThat(cluster.state("host-only").notes())
                .singleElement()
                .asString()
                .contains("nothing is counted for it");
    }
}
