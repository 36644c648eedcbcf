package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.RequestState.RankPlace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Since when jobs run, and so when they end: known, whoever placed them, or not known, but never wrong. */
class RunTimeTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);
    private static final Share RESERVE = Share.ofPercent(20);
    private static final Duration RUNS_FOR = Duration.ofMinutes(10);
    private static final Duration RAN = Duration.ofMinutes(2);
    private static final Duration LEFT = RUNS_FOR.minus(RAN);
    /** Of messages that place a job, and of looks at the queue. */
    private static final Duration GIVE_OR_TAKE = Duration.ofSeconds(4);

    private static final JobRequest RUNS = VirtualCluster.request(
            "runs", Priority.MEDIUM, List.of(RankGroup.ofMemory(1, MOST)), OptionalLong.of(RUNS_FOR.toMillis()));

    /** One device, on which a job of ten minutes has run for two; another waits for it to end. */
    private static VirtualCluster afterTwoMinutes() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1);
        cluster.submit(RUNS);
        cluster.passes(RAN);
        cluster.submit(VirtualCluster.request("waits", 1, MOST));
        cluster.ticks(4);
        return cluster;
    }

    private static void takeOver(VirtualCluster cluster) {
        cluster.falls("runs");
        cluster.failOver();
        cluster.ticks(2);
    }

    private static OptionalLong ranMillis(VirtualCluster cluster) {
        return cluster.ranMillis("runs");
    }

    private static OptionalLong startsInMillis(VirtualCluster cluster) {
        return cluster.state("waits").waiting().orElseThrow().startsInMillis();
    }

    private static void assertNear(OptionalLong millis, Duration expected) {
        assertThat(millis).isPresent();
        assertThat(millis.getAsLong())
                .isBetween(
                        expected.minus(GIVE_OR_TAKE).toMillis(),
                        expected.plus(GIVE_OR_TAKE).toMillis());
    }

    @Test
    void whoPlacedAJobCountsFromThenWhateverItsSubmitterSays() {
        VirtualCluster cluster = afterTwoMinutes();
        assertNear(ranMillis(cluster), RAN);
        assertNear(startsInMillis(cluster), LEFT);

        cluster.runsIn(RUNS, cluster.room("runs"), OptionalLong.of(7));
        cluster.passes(Duration.ofSeconds(2));

        assertNear(ranMillis(cluster), RAN);
        assertNear(startsInMillis(cluster), LEFT);
    }

    @Test
    void afterATakeoverNoEndIsKnownUntilItsSubmitterSaysHowLongItHasRun() {
        VirtualCluster cluster = afterTwoMinutes();
        Optional<String> room = cluster.room("runs");
        takeOver(cluster);
        cluster.passes(cluster.settings.settleFor());
        assertThat(ranMillis(cluster)).isEmpty();
        assertThat(startsInMillis(cluster)).isEmpty();

        cluster.runsIn(RUNS, room, OptionalLong.of(RAN.toMillis()));
        cluster.passes(Duration.ofSeconds(2));

        assertNear(ranMillis(cluster), RAN);
        assertNear(startsInMillis(cluster), LEFT);
    }

    // Counted from the takeover, its end would be two minutes too late.
    @Test
    void ofAnOlderSubmitterNoEndIsKnownAfterATakeover() {
        VirtualCluster cluster = afterTwoMinutes();
        Optional<String> room = cluster.room("runs");
        takeOver(cluster);
        cluster.runsIn(RUNS, room);
        cluster.passes(cluster.settings.settleFor().plusSeconds(2));

        assertThat(cluster.placed()).containsExactly("runs");
        assertThat(ranMillis(cluster)).isEmpty();
        assertThat(startsInMillis(cluster)).isEmpty();
        assertThat(cluster.state("waits").waiting().orElseThrow().basis()).contains("no known end");
    }

    @Test
    void whatASubmitterSaidBeforeItsRoomWasFoundCounts() {
        VirtualCluster cluster = afterTwoMinutes();
        Optional<String> room = cluster.room("runs");
        cluster.hears("GPU-node-0-0", false);
        takeOver(cluster);
        cluster.runsIn(RUNS, room, OptionalLong.of(RAN.toMillis()));
        assertThat(cluster.state("runs").state()).isEqualTo(RequestState.LOST);
        assertNear(ranMillis(cluster), RAN);

        cluster.hears("GPU-node-0-0", true);
        cluster.passes(cluster.settings.settleFor().plusSeconds(2));

        assertThat(cluster.placed()).containsExactly("runs");
        assertNear(startsInMillis(cluster), LEFT.minus(cluster.settings.settleFor()));
    }

    // Method: a coordinator that does not hear of the device where a job runs places it anew; its submitter says that
    // it runs in the first room, so the time of the second is not its own.
    @Test
    void aJobThatRunsInOtherRoomThanThoughtHasRunForAsLongAsItsSubmitterSays() {
        VirtualCluster cluster = VirtualCluster.of(RESERVE, DEVICE, 1, 1);
        cluster.submit(RUNS);
        cluster.passes(RAN);
        Optional<String> room = cluster.room("runs");
        cluster.hears("GPU-node-0-0", false);
        cluster.failOver();
        cluster.passes(cluster.settings.settleFor().plusSeconds(4));
        assertThat(cluster.state("runs").ranks())
                .extracting(RankPlace::device)
                .containsExactly(new DeviceId("GPU-node-1-0"));
        cluster.falls("runs");

        cluster.runsIn(RUNS, room, OptionalLong.of(RAN.toMillis()));

        assertNear(ranMillis(cluster), RAN);
    }

    @Test
    void whatWaitsOrIsOverHasNotRun() {
        VirtualCluster cluster = afterTwoMinutes();
        assertThat(cluster.ranMillis("waits")).isEmpty();
        cluster.desk.requeue(RUNS.job(), cluster.now);
        cluster.runsIn(RUNS, Optional.empty(), OptionalLong.of(RAN.toMillis()));
        assertThat(ranMillis(cluster)).isEmpty();
        cluster.say(RUNS, 0, false);
        assertThat(ranMillis(cluster)).isEmpty();
        cluster.desk.cancel(RUNS.job(), false, cluster.now);

        assertThat(ranMillis(cluster)).isEmpty();
    }
}
