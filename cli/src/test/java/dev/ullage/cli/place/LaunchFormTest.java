package dev.ullage.cli.place;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ullage.cli.place.PlacementWish.Extent;
import dev.ullage.common.model.JobRequest.HostNeed;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.coordinator.planning.balance.PolicyKind;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text of each launcher, whole. */
class LaunchFormTest {
    /** Two ranks on one device, one on another of the same node, one on another node. */
    private static final List<PlacedRank> RANKS = List.of(
            new PlacedRank(0, "host-a", 0, "GPU-a0", 0),
            new PlacedRank(1, "host-a", 1, "GPU-a0", 0),
            new PlacedRank(2, "host-a", 2, "GPU-a3", 3),
            new PlacedRank(3, "host-b", 0, "GPU-b1", 1));

    private static final PlacementWish ONE_EACH = wish(OptionalInt.empty());

    private static PlacementWish wish(OptionalInt cores) {
        return new PlacementWish(
                4,
                1,
                Optional.of(MemoryBytes.ofGibibytes(1)),
                Optional.empty(),
                Extent.FEW_NODES,
                Optional.empty(),
                PolicyKind.FILL,
                cores,
                HostNeed.NONE);
    }

    private static final String EACH =
            """
            # rank 0: host-a, local rank 0, CUDA_VISIBLE_DEVICES=GPU-a0
            # rank 1: host-a, local rank 1, CUDA_VISIBLE_DEVICES=GPU-a0
            # rank 2: host-a, local rank 2, CUDA_VISIBLE_DEVICES=GPU-a3
            # rank 3: host-b, local rank 0, CUDA_VISIBLE_DEVICES=GPU-b1
            """;

    @Test
    void torchrun() {
        assertThat(LaunchForm.TORCHRUN.text(RANKS, ONE_EACH))
                .isEqualTo(
                        """
                        # on host-a
                        CUDA_VISIBLE_DEVICES=GPU-a0,GPU-a3 torchrun --nnodes=2 --node_rank=0 --master_addr=host-a \
                        --master_port=29500 --nproc_per_node=3 COMMAND
                        # on host-b
                        CUDA_VISIBLE_DEVICES=GPU-b1 torchrun --nnodes=2 --node_rank=1 --master_addr=host-a \
                        --master_port=29500 --nproc_per_node=1 COMMAND
                        """
                                + EACH);
    }

    @Test
    void torchrunOnOneNodeNeedsNobodyElse() {
        assertThat(LaunchForm.TORCHRUN.text(RANKS.subList(3, 4), ONE_EACH))
                .contains("CUDA_VISIBLE_DEVICES=GPU-b1 torchrun --standalone --nproc_per_node=1 COMMAND\n");
    }

    @Test
    void mpirun() {
        assertThat(LaunchForm.MPIRUN.text(RANKS, ONE_EACH))
                .isEqualTo(
                        """
                        # hostfile: host-a slots=3
                        # hostfile: host-b slots=1
                        mpirun -np 2 -H host-a:3 -x CUDA_VISIBLE_DEVICES=GPU-a0 COMMAND \
                        : -np 1 -H host-a:3 -x CUDA_VISIBLE_DEVICES=GPU-a3 COMMAND \
                        : -np 1 -H host-b:1 -x CUDA_VISIBLE_DEVICES=GPU-b1 COMMAND
                        """
                                + EACH);
    }

    @Test
    void horovodrun() {
        assertThat(LaunchForm.HOROVODRUN.text(RANKS, ONE_EACH))
                .isEqualTo(
                        """
                        # hostfile: host-a slots=3
                        # hostfile: host-b slots=1
                        horovodrun -np 4 -H host-a:3,host-b:1 COMMAND
                        """
                                + EACH);
    }

    @Test
    void deepspeedTakesNumbersAndOneRankForEachDevice() {
        PlacementWish two = new PlacementWish(
                2,
                2,
                Optional.of(MemoryBytes.ofGibibytes(1)),
                Optional.empty(),
                Extent.FEW_NODES,
                Optional.empty(),
                PolicyKind.FILL);

        assertThat(LaunchForm.DEEPSPEED.text(RANKS.subList(1, 4), ONE_EACH))
                .startsWith(
                        """
                        # hostfile: host-a slots=4
                        # hostfile: host-b slots=2
                        CUDA_DEVICE_ORDER=PCI_BUS_ID deepspeed --hostfile=HOSTFILE --include="host-a:0,3@host-b:1" COMMAND
                        """);
        assertThat(LaunchForm.DEEPSPEED.refusal(two)).isPresent();
        assertThat(LaunchForm.SRUN.refusal(two)).isEmpty();
    }

    @Test
    void srun() {
        assertThat(LaunchForm.SRUN.text(RANKS, ONE_EACH))
                .isEqualTo(
                        """
                        # SLURM_HOSTFILE: host-a
                        # SLURM_HOSTFILE: host-a
                        # SLURM_HOSTFILE: host-a
                        # SLURM_HOSTFILE: host-b
                        SLURM_HOSTFILE=HOSTFILE srun --nodes=2 --ntasks=4 --distribution=arbitrary sh -c \
                        'case $SLURM_PROCID in 0) d=GPU-a0;; 1) d=GPU-a0;; 2) d=GPU-a3;; 3) d=GPU-b1;; esac; \
                        CUDA_VISIBLE_DEVICES=$d exec "$@"' sh COMMAND
                        """
                                + EACH);
    }

    @Test
    void hostfileAndNodelist() {
        assertThat(LaunchForm.HOSTFILE.text(RANKS, ONE_EACH)).isEqualTo("host-a slots=3\nhost-b slots=1\n");
        assertThat(LaunchForm.NODELIST.text(RANKS, ONE_EACH)).isEqualTo("host-a,host-b\n");
    }

    @Test
    void rankfileGivesEachRankCoresOfItsOwn() {
        assertThat(LaunchForm.RANKFILE.text(RANKS, wish(OptionalInt.of(4))))
                .isEqualTo(
                        """
                        # mpirun --rankfile RANKFILE -np 2 -H host-a:3 -x CUDA_VISIBLE_DEVICES=GPU-a0 COMMAND \
                        : -np 1 -H host-a:3 -x CUDA_VISIBLE_DEVICES=GPU-a3 COMMAND \
                        : -np 1 -H host-b:1 -x CUDA_VISIBLE_DEVICES=GPU-b1 COMMAND
                        rank 0=host-a slot=0-3
                        rank 1=host-a slot=4-7
                        rank 2=host-a slot=8-11
                        rank 3=host-b slot=0-3
                        """
                                + EACH);
        assertThat(LaunchForm.RANKFILE.text(RANKS, wish(OptionalInt.of(1)))).contains("rank 2=host-a slot=2\n");
        assertThat(LaunchForm.RANKFILE.refusal(ONE_EACH))
                .hasValue("rankfile needs --cores: Open MPI binds each rank to the cores that its line names");
        assertThat(LaunchForm.RANKFILE.refusal(wish(OptionalInt.of(1)))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu_1", "-a", "a-", "a..b", "a b", "fe80::1", "höst", "a:2"})
    void aNameThatIsNoHostNameIsRefusedWhereALauncherIsToReachIt(String name) {
        List<PlacedRank> ranks = List.of(new PlacedRank(0, name, 0, "GPU-a0", 0));

        for (LaunchForm form : LaunchForm.values()) {
            assertThat(form.refusal(ranks).isPresent()).as(form.label()).isEqualTo(form != LaunchForm.JSON);
        }
        assertThat(LaunchForm.MPIRUN.refusal(ranks).orElseThrow())
                .startsWith("node name '" + name + "' is no host name (letters, digits and hyphens");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "gpu-1", "10.0.0.7", "gpu1.cluster.local", "A1"})
    void hostNamesAreTaken(String name) {
        assertThat(LaunchForm.MPIRUN.refusal(List.of(new PlacedRank(0, name, 0, "GPU-a0", 0))))
                .isEmpty();
    }

    // CUDA shows a process one MIG instance, whatever it was told to see.
    @Test
    void severalMigInstancesOfANodeNeedALauncherThatTellsEachRankItsOwn() {
        List<PlacedRank> two =
                List.of(new PlacedRank(0, "host-a", 0, "MIG-1", 0), new PlacedRank(1, "host-a", 1, "MIG-2", 1));

        assertThat(LaunchForm.TORCHRUN.refusal(two).orElseThrow())
                .isEqualTo("the ranks on host-a have 2 devices, MIG instances among them, of which a process sees only"
                        + " the first; torchrun cannot give each rank its own: use --format mpirun or srun");
        assertThat(LaunchForm.HOROVODRUN.refusal(two)).isPresent();
        assertThat(LaunchForm.MPIRUN.refusal(two)).isEmpty();
        assertThat(LaunchForm.SRUN.refusal(two)).isEmpty();
        assertThat(LaunchForm.RANKFILE.refusal(two)).isEmpty();
        assertThat(LaunchForm.TORCHRUN.refusal(two.subList(0, 1))).isEmpty();
    }

    @Test
    void json() {
        assertThat(LaunchForm.JSON.text(RANKS.subList(0, 1), ONE_EACH))
                .isEqualTo(
                        "{\"schema\":1,\"reserved\":false,\"ranks\":[{\"rank\":0,\"node\":\"host-a\",\"localRank\":0,"
                                + "\"device\":\"GPU-a0\",\"index\":0}]}\n");
    }
}
