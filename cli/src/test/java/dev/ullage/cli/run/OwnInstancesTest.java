package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.common.model.MemoryBytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A host of three MIG instances: each rank is to see one of its own, and who cannot be given one is refused. */
class OwnInstancesTest {
    private static ObjectNode instances() {
        ObjectNode status = Clusters.JSON.createObjectNode().put("schema", 1);
        ArrayNode list =
                status.putArray("nodes").addObject().put("node", Clusters.NODE).putArray("devices");
        for (String name : List.of("a", "b", "c")) {
            list.addObject()
                    .put("uuid", "MIG-" + name)
                    .put("index", 0)
                    .put("name", "H100 MIG 1g.10gb")
                    .put("kind", "mig")
                    .put("allocatableBytes", 10 * MemoryBytes.GIBIBYTE)
                    .put("reserveBasisPoints", 0)
                    .put("foreignBytes", 0)
                    .put("ceilingBytes", 0)
                    .putArray("ranks");
        }
        return status;
    }

    private static RunPlan plan(String command, Map<String, String> variables) {
        return Clusters.plan(instances(), Clusters.terms(variables), List.of(command.split(" ")));
    }

    private static Optional<String> refusal(String command) {
        return OwnInstances.refusal(LauncherArguments.read(List.of(command.split(" ")), Map.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "torchrun --nproc-per-node 2 t.py",
                "torchrun --virtual-local-rank --nproc-per-node 2 t.py",
                "mpirun -np 2 python3 t.py",
                "srun -N1 -n2 python3 t.py",
                "horovodrun -np 2 python3 t.py"
            })
    void eachRankIsToSeeItsOwn(String command) {
        RunPlan plan = plan(command, Map.of());

        assertThat(plan.variables())
                .containsEntry("ULLAGE_OWN_DEVICES", Optional.of("MIG-a,MIG-b"))
                .containsEntry("CUDA_VISIBLE_DEVICES", Optional.of("MIG-a,MIG-b"));
        assertThat(plan.notes()).containsExactly(OwnInstances.NOTE);
        assertThat(plan.command()).containsSequence("ullage", "exec");
        assertThat(refusal(command)).isEmpty();
    }

    @Test
    void oneInstanceNeedsNoListOfItsOwn() {
        RunPlan plan = plan("torchrun t.py", Map.of());

        assertThat(plan.variables())
                .containsEntry("CUDA_VISIBLE_DEVICES", Optional.of("MIG-a"))
                .doesNotContainKey("ULLAGE_OWN_DEVICES");
    }

    @Test
    void theCallersListIsSharedOutAmongSeveralRanks() {
        Map<String, String> list = Map.of("CUDA_VISIBLE_DEVICES", "MIG-c, MIG-a");

        assertThat(plan("mpirun -np 2 ./t", list).variables())
                .containsEntry("ULLAGE_OWN_DEVICES", Optional.of("MIG-c,MIG-a"));
        assertThat(plan("python3 t.py", list).variables()).doesNotContainKey("ULLAGE_OWN_DEVICES");
        RunChecks.Verdict verdict = Clusters.check(
                instances(),
                Clusters.terms(Map.of("CUDA_VISIBLE_DEVICES", "MIG-c,MIG-x,MIG-c")),
                List.of("mpirun", "-np", "2", "./t"));
        assertThat(verdict.warnings())
                .containsExactly(
                        "CUDA_VISIBLE_DEVICES: 'MIG-x' names no device of this host",
                        "CUDA_VISIBLE_DEVICES: 'MIG-c' names a device a second time");
        assertThat(verdict.refusals()).singleElement().asString().contains("2 ranks, 1 visible device");
    }

    @Test
    void ranksShareInstancesInTurn() {
        RunPlan plan = Clusters.plan(
                instances(),
                Clusters.terms(Map.of(), 2, OptionalInt.empty(), Optional.empty()),
                List.of("mpirun", "-np", "4", "./t"));

        assertThat(plan.variables())
                .containsEntry("ULLAGE_OWN_DEVICES", Optional.of("MIG-a,MIG-b"))
                .containsEntry("ULLAGE_DEVICES", Optional.of("MIG-a,MIG-b"));
    }

    @Test
    void whoCannotBeGivenOneIsRefusedWithTheReason() {
        assertThat(refusal("deepspeed --num_gpus 2 t.py").orElseThrow())
                .contains("counts the devices that CUDA shows", "torchrun or mpirun");
        assertThat(refusal("python3 t.py").orElseThrow()).contains("one process sees one MIG instance");
        assertThat(refusal("torchrun --nproc-per-node gpu t.py").orElseThrow()).contains("--nproc-per-node N");
        assertThat(refusal("srun -n 2 --multi-prog f").orElseThrow()).contains("--multi-prog", "--no-wrap");
        assertThat(refusal("sh start.sh").orElseThrow()).contains("no launcher that is known here");
        assertThat(refusal("mpirun -np 2 python3 -m ullage exec -- ./t")).isEmpty();
        LaunchRequest trusted =
                LauncherArguments.read(List.of("sh", "start.sh"), Map.of()).left(LaunchRequest.NO_WRAP);
        assertThat(OwnInstances.refusal(trusted)).isEmpty();
    }
}
