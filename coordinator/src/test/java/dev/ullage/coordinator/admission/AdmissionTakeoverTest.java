package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToOperator.Accepted;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a coordinator that takes over makes of jobs that were placed before it. */
class AdmissionTakeoverTest {
    private static final MemoryBytes DEVICE = MemoryBytes.ofGibibytes(80);
    private static final MemoryBytes MOST = MemoryBytes.ofGibibytes(64);
    private static final Share RESERVE = Share.ofPercent(20);

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
}
