package dev.ullage.coordinator.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.DeviceInfo;
import dev.ullage.common.model.DeviceKind;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.MigSlice;
import dev.ullage.common.model.Priority;
import dev.ullage.common.model.RankGroup;
import dev.ullage.common.model.Share;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * Requests for MIG instances: only those with the profile, the one with the least room that does, never a whole GPU.
 */
class MigRequestTest {
    private final VirtualCluster cluster = new VirtualCluster();

    MigRequestTest() {
        slice("large", 0, "3g.40gb", 40);
        slice("small-1", 1, "1g.10gb", 10);
        slice("medium", 2, "2g.20gb", 20);
        slice("small-2", 3, "1g.10gb", 10);
        cluster.add("node", 4, MemoryBytes.ofGibibytes(80), Share.NONE, MemoryBytes.ZERO);
    }

    private void slice(String name, int index, String profile, int gibibytes) {
        DeviceInfo info = new DeviceInfo(
                new DeviceId("MIG-" + name),
                index,
                "H100 MIG " + profile,
                DeviceKind.MIG,
                Optional.empty(),
                Optional.of(new MigSlice(
                        new DeviceId("GPU-parent"), OptionalInt.of(index), OptionalInt.empty(), Optional.of(profile))));
        cluster.add("node", info, MemoryBytes.ofGibibytes(gibibytes), Share.NONE, MemoryBytes.ZERO);
    }

    private static JobRequest asking(String job, int ranks, int gibibytes, Optional<String> profile) {
        JobRequest.Wanted any = JobRequest.Wanted.ANY;
        return new JobRequest(
                new JobId(job),
                "me",
                Priority.MEDIUM,
                List.of(RankGroup.ofMemory(ranks, MemoryBytes.ofGibibytes(gibibytes))),
                1,
                new JobRequest.Wanted(any.extent(), any.node(), any.model(), profile, any.host()),
                OptionalLong.empty());
    }

    private List<String> devicesOf(String job) {
        return cluster.state(job).ranks().stream()
                .map(rank -> rank.device().value())
                .toList();
    }

    @Test
    void theSmallestInstanceThatDoesIsTaken() {
        cluster.submit(asking("any", 1, 15, Optional.of("*")));
        cluster.ticks(4);

        assertThat(devicesOf("any")).containsExactly("MIG-medium");
    }

    @Test
    void anInstanceHasTheProfileThatWasAskedFor() {
        cluster.submit(asking("small", 2, 5, Optional.of("1g.*")));
        cluster.ticks(4);

        assertThat(devicesOf("small")).containsExactlyInAnyOrder("MIG-small-1", "MIG-small-2");
    }

    @Test
    void whoAsksForNoInstanceGetsAWholeDevice() {
        cluster.submit(asking("whole", 1, 5, Optional.empty()));
        cluster.ticks(4);

        assertThat(devicesOf("whole")).containsExactly("GPU-node-4");
    }

    @Test
    void moreThanTheInstancesOfAProfileCanEverHaveIsRefused() {
        assertThat(cluster.submit(asking("too-large", 1, 11, Optional.of("1g.*"))))
                .isInstanceOf(RequestRefused.class);
        assertThat(cluster.submit(asking("too-many", 3, 5, Optional.of("1g.*"))))
                .isInstanceOf(RequestRefused.class);
    }
}
