package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.Accepted;
import dev.ullage.common.protocol.ToOperator.NotKnown;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** A submitter that says something else than before, at any stage, zero ranks among it. */
class ChangedRequestTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);

    private final VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(20), DEVICE, 2);

    private static JobRequest ranks(String job, int count) {
        List<RankGroup> groups = count == 0 ? List.of() : List.of(RankGroup.ofMemory(count, MOST));
        return VirtualCluster.request(job, Priority.MEDIUM, groups, OptionalLong.empty());
    }

    private String stateOf(String job) {
        return stateOf(cluster, job);
    }

    private static String stateOf(VirtualCluster cluster, String job) {
        return cluster.state(job).state();
    }

    private static String refusal(ToOperator answer) {
        assertThat(answer).isInstanceOf(RequestRefused.class);
        return ((RequestRefused) answer).reasons().get(0);
    }

    @Test
    void whoWaitsAndThenNeedsNothingWaitsNoMore() {
        cluster.submit(ranks("runs", 2));
        cluster.ticks(4);
        cluster.submit(ranks("job", 2));
        cluster.ticks(2);
        assertThat(stateOf("job")).isEqualTo(RequestState.WAITING);

        cluster.say(ranks("job", 0), 1_000, false);
        cluster.ticks(2);
        assertThat(stateOf("job")).isEqualTo(RequestState.PLACED);
        assertThat(cluster.state("job").ranks()).isEmpty();
    }

    @Test
    void aRunningJobOfNoRanksIsNotLostAtTheNextCoordinator() {
        cluster.say(ranks("job", 0), 1_000, true);

        assertThat(stateOf("job")).isEqualTo(RequestState.PLACED);
    }

    @Test
    void whatNeedsNothingIsNotPutToTheEndOfTheQueue() {
        cluster.submit(ranks("job", 0));

        assertThat(refusal(cluster.desk.requeue(new JobId("job"), cluster.now))).contains("no device");
        cluster.ticks(2);
        assertThat(stateOf("job")).isEqualTo(RequestState.PLACED);
    }

    @Test
    void whatIsPlacedIsNotSilentlySomethingElse() {
        cluster.submit(ranks("job", 1));
        cluster.ticks(4);

        assertThat(refusal(cluster.say(ranks("job", 2), 0, true)))
                .isEqualTo("job job is placed, with 1 rank with 64.0 GiB; it can ask for other room once it has ended");
        assertThat(refusal(cluster.say(ranks("job", 0), 0, true))).contains("is placed");
        assertThat(cluster.state("job").ranks()).hasSize(1);
        cluster.say(ranks("job", 1), 0, true);
        assertThat(stateOf("job")).isEqualTo(RequestState.PLACED);
    }

    @Test
    void aJobThatNobodyAskedForIsNotKnownAndThoseThatAreAreNamed() {
        assertThat(cluster.desk.cancel(new JobId("job"), false, cluster.now))
                .isEqualTo(notKnown("no request of job job; known: none"));
        cluster.submit(ranks("jab", 1));
        cluster.submit(ranks("other", 1));
        cluster.ticks(2);

        RequestRefused expected = notKnown("no request of job job (did you mean jab?); known: jab, other");
        assertThat(cluster.desk.cancel(new JobId("job"), false, cluster.now)).isEqualTo(expected);
        assertThat(cluster.desk.requeue(new JobId("job"), cluster.now)).isEqualTo(expected);
    }

    private static RequestRefused notKnown(String why) {
        return new RequestRefused(List.of(why), Optional.of(new NotKnown("job")));
    }

    @Test
    void ofRanksThatNeedDifferentAmountsEachIsSaidWithHowManyDevicesHaveIt() {
        VirtualCluster three = VirtualCluster.of(Share.ofPercent(20), MemoryBytes.ofGibibytes(80), 3);
        three.submit(VirtualCluster.request("holds", 1, MemoryBytes.ofGibibytes(40)));
        three.ticks(4);
        List<RankGroup> groups = List.of(
                RankGroup.ofMemory(1, MemoryBytes.ofGibibytes(60)), RankGroup.ofMemory(3, MemoryBytes.ofGibibytes(20)));
        three.submit(VirtualCluster.request("mixed", Priority.MEDIUM, groups.subList(0, 1), OptionalLong.empty()));
        three.ticks(4);
        assertThat(three.placed()).containsExactly("holds", "mixed");

        three.submit(VirtualCluster.request(
                "waits",
                Priority.MEDIUM,
                List.of(groups.get(0), RankGroup.ofMemory(2, MemoryBytes.ofGibibytes(20))),
                OptionalLong.empty()));
        three.ticks(4);

        assertThat(three.state("waits").waiting().orElseThrow().waitsFor())
                .startsWith("1 device with 60.0 GiB, 2 devices with 20.0 GiB each; 1 has 60.0 GiB now,"
                        + " 2 have 20.0 GiB now;");
        ToOperator never = three.submit(VirtualCluster.request("never", Priority.MEDIUM, groups, OptionalLong.empty()));
        assertThat(((RequestRefused) never).reasons().get(0))
                .contains("3 of these could ever give 60.0 GiB, 3 of these could ever give 20.0 GiB");
    }

    @Test
    void whatEndedByItselfIsNotCalledCancelled() {
        cluster.submit(ranks("job", 1));
        cluster.ticks(4);
        assertThat(cluster.desk.cancel(new JobId("job"), true, cluster.now)).isInstanceOf(Accepted.class);
        cluster.ticks(2);

        assertThat(stateOf("job")).isEqualTo(RequestState.ENDED);
        assertThat(cluster.desk.cancel(new JobId("job"), false, cluster.now))
                .isEqualTo(new RequestRefused(List.of("job job is over already: it has ended")));
        assertThat(cluster.desk.requeue(new JobId("job"), cluster.now))
                .isEqualTo(new RequestRefused(List.of("job job is over already: it has ended")));
        cluster.falls("job");
        cluster.passes(Duration.ofSeconds(31));
        assertThat(cluster.states()).isEmpty();
    }

    @Test
    void whatHasEndedIsAskedForAnewUnlessItsLastWordsAreOnlyLate() {
        cluster.submit(ranks("job", 1));
        cluster.ticks(4);
        cluster.ends("job");
        cluster.say(ranks("job", 1), 0, true);
        cluster.ticks(4);
        cluster.say(ranks("job", 1), 2_000, false);
        cluster.ticks(4);
        assertThat(stateOf("job")).isEqualTo(RequestState.ENDED);

        cluster.submit(ranks("job", 2));
        cluster.ticks(6);
        assertThat(stateOf("job")).isEqualTo(RequestState.PLACED);
        assertThat(cluster.state("job").ranks()).hasSize(2);
    }

    // Each look must go through: an exception there is a coordinator that starts again from nothing.
    @Property(tries = 200)
    void nothingThatIsSaidStopsTheCoordinator(
            @ForAll @Size(min = 1, max = 12) List<@IntRange(min = 0, max = 3) Integer> counts,
            @ForAll @Size(12) List<@IntRange(min = 0, max = 5) Integer> acts) {
        JobId job = new JobId("job");
        VirtualCluster cluster = VirtualCluster.of(Share.ofPercent(20), DEVICE, 2);
        cluster.submit(ranks("other", 1));
        for (int i = 0; i < counts.size(); i++) {
            switch (acts.get(i)) {
                case 0 -> cluster.desk.requeue(job, cluster.now);
                case 1 -> cluster.desk.cancel(job, i % 2 == 0, cluster.now);
                case 2 -> cluster.failOver();
                default -> cluster.say(ranks("job", counts.get(i)), 500L * i, acts.get(i) == 3);
            }
            cluster.ticks(1 + i % 3);
        }
        cluster.passes(Duration.ofSeconds(20));
        assertThat(cluster.isAllOrNone()).isTrue();
        assertThat(stateOf(cluster, "other")).isIn(RequestState.PLACED, RequestState.WAITING);
    }
}
