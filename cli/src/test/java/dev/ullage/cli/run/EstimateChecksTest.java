package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.estimate.JobEstimate;
import dev.ullage.cli.run.EstimateChecks.Findings;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** An estimate held against what a launcher starts and what devices could ever give: 64 GiB of 80, 20 % in reserve. */
class EstimateChecksTest {

    /** Stages that need so many GiB at most, and ten less at their point. */
    private static JobEstimate estimate(int ranks, long... uppers) {
        List<PlannedNeeds> stages = new ArrayList<>();
        for (long upper : uppers) {
            MemoryBytes point = MemoryBytes.ofGibibytes(upper - 10);
            Need need = new Need(point, point, MemoryBytes.ofGibibytes(upper), MemoryBytes.ZERO);
            Need nothing = new Need(MemoryBytes.ZERO, MemoryBytes.ZERO, MemoryBytes.ZERO, MemoryBytes.ZERO);
            stages.add(new PlannedNeeds(
                    stages.size(),
                    uppers.length,
                    true,
                    OptionalInt.empty(),
                    new PlannedNeeds.Phases(need, need, need, need, need),
                    nothing));
        }
        return new JobEstimate(ranks, stages, List.of());
    }

    private static Findings check(JobEstimate estimate, ObjectNode status, RunTerms terms, String command) {
        ClusterDevices cluster = ClusterDevices.of(status);
        LaunchRequest request = LauncherArguments.read(List.of(command.split(" ")), Map.of());
        Optional<ClusterDevices.Host> here = cluster.here(Clusters.NODE);
        RunChecks.Verdict verdict = RunChecks.check(request, terms, cluster, here);
        assertThat(verdict.refusals()).isEmpty();
        return EstimateChecks.check(estimate, request, terms, verdict, cluster, here);
    }

    private static Findings check(JobEstimate estimate, String command) {
        return check(estimate, Clusters.status(4), Clusters.terms(Map.of()), command);
    }

    private static RunTerms perDevice(int ranks) {
        return Clusters.terms(Map.of(), ranks, OptionalInt.empty(), Optional.empty());
    }

    @Test
    void anEstimateThatFitsPasses() {
        Findings findings = check(estimate(4, 64, 30), "torchrun --nproc-per-node 4 t.py");

        assertThat(findings.refusals()).isEmpty();
        assertThat(findings.warnings()).isEmpty();
    }

    @Test
    void anotherNumberOfRanksIsRefusedWithBoth() {
        assertThat(check(estimate(8, 30), "torchrun --nproc-per-node 4 t.py").refusals())
                .containsExactly("the estimate is of 8 ranks (tp x pp x cp x dp), torchrun starts 4");
    }

    // Stage 0 has ranks 0 and 1, and rank 1 is on device 1.
    @Test
    void aRankWhoseUpperEndItsDeviceCanNeverGiveIsRefusedWithTheNumbers() {
        assertThat(check(estimate(4, 65, 30), "torchrun --nproc-per-node 4 t.py")
                        .refusals())
                .containsExactly(
                        "rank 0 (stage 0) is estimated at 55.0 GiB, at most 65.0 GiB, but device 0 (H100-80G) can never"
                                + " give more than 64.0 GiB (80.0 GiB less the reserve of 20%)",
                        "rank 1 (stage 0) is estimated at 55.0 GiB, at most 65.0 GiB, but device 1 (H100-80G) can never"
                                + " give more than 64.0 GiB (80.0 GiB less the reserve of 20%)");
    }

    @Test
    void ranksOfOneDeviceCountTogether() {
        assertThat(check(estimate(4, 40, 20), Clusters.status(2), perDevice(2), "torchrun --nproc-per-node 4 t.py")
                        .refusals())
                .isEmpty();
        assertThat(check(estimate(4, 40, 30), Clusters.status(2), perDevice(2), "torchrun --nproc-per-node 4 t.py")
                        .refusals()
                        .get(0))
                .startsWith("ranks 0, 2 are estimated at 70.0 GiB together at most, but device 0 (H100-80G)");
    }

    @Test
    void whatIsTakenNowIsAWarning() {
        ObjectNode status = Clusters.status(1);
        ((ObjectNode) status.at("/nodes/0/devices/0")).put("ceilingBytes", 40 * MemoryBytes.GIBIBYTE);

        Findings findings =
                check(estimate(1, 30), status, Clusters.terms(Map.of()), "torchrun --nproc-per-node 1 t.py");

        assertThat(findings.refusals()).isEmpty();
        assertThat(findings.warnings())
                .containsExactly("rank 0 (stage 0) is estimated at 20.0 GiB, at most 30.0 GiB, but device 0 (H100-80G)"
                        + " has 24.0 GiB to promise now; less until others shrink or end");
    }

    // Which rank comes to which device of several hosts is the launcher's matter: the largest needs the largest place.
    @Test
    void onSeveralHostsThereMustBeAPlaceForEachRank() {
        ObjectNode status = Clusters.status(2);
        Clusters.host(status.withArray("nodes"), "host-b", 2);
        ((ObjectNode) status.at("/nodes/1/devices/0")).put("allocatableBytes", 40 * MemoryBytes.GIBIBYTE);
        String command = "torchrun --nnodes 2 --nproc-per-node 2 t.py";

        assertThat(check(estimate(4, 64, 32), status, Clusters.terms(Map.of()), command)
                        .refusals())
                .isEmpty();
        assertThat(check(estimate(4, 64, 33), status, Clusters.terms(Map.of()), command)
                        .refusals())
                .containsExactly("4 ranks are estimated at 33.0 GiB or more at most each, but only 3 places of the"
                        + " cluster could ever give a rank that much (the next one: 32.0 GiB)");
    }

    @Test
    void whatTheLauncherDoesNotSayCannotBeCheckedAndIsSaid() {
        Findings findings = check(estimate(4, 30), Clusters.status(4), Clusters.terms(Map.of()), "mpirun python3 t.py");

        assertThat(findings.refusals()).isEmpty();
        assertThat(findings.warnings())
                .containsExactly(
                        "how many ranks mpirun starts cannot be told, so the estimate of 4 was not held against"
                                + " it: say --ranks");
    }
}
