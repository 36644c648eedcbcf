package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the launchers' own command lines say: who, how many, and where the ranks' command begins. */
class LauncherArgumentsTest {
    private static LaunchRequest read(String command) {
        return LauncherArguments.read(List.of(command.split(" ")), Map.of());
    }

    private static String count(OptionalInt number) {
        return number.isPresent() ? Integer.toString(number.getAsInt()) : "-";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "torchrun train.py                                              | TORCHRUN   | 1 | 1 | 1 | train.py",
                "torchrun --nproc_per_node 4 train.py --lr 1                    | TORCHRUN   | 4 | 4 | 1 | train.py --lr 1",
                "torchrun --nnodes=2 --nproc-per-node=8 -m pkg.train            | TORCHRUN   | 16 | 8 | 2 | pkg.train",
                "torchrun --nnodes 1:4 --nproc-per-node 8 --rdzv-id x t.py      | TORCHRUN   | 32 | 8 | 4 | t.py",
                "torchrun --standalone --no-python --nproc-per-node 2 ./t -n 3  | TORCHRUN   | 2 | 2 | 1 | ./t -n 3",
                "torchrun --virtual-local-rank --nproc-per-node 2 t.py          | TORCHRUN   | 2 | 2 | 1 | t.py",
                "torchrun --nproc-per-node gpu t.py                             | TORCHRUN   | - | - | 1 | t.py",
                "python3 -m torch.distributed.run --nproc_per_node 3 t.py       | TORCHRUN   | 3 | 3 | 1 | t.py",
                "/usr/bin/python3.11 -u -m torch.distributed.launch t.py        | TORCHRUN   | 1 | 1 | 1 | t.py",
                "mpirun -np 4 python3 t.py                                      | MPIRUN     | 4 | 4 | 1 | python3 t.py",
                "mpirun --allow-run-as-root --mca btl tcp,self -x A -n 2 ./t    | MPIRUN     | 2 | 2 | 1 | ./t",
                "mpirun -np 4 -H n1:2,n2:2 python3 t.py                         | MPIRUN     | 4 | - | 2 | python3 t.py",
                "mpirun -npernode 2 -H n1,n2 ./t                                | MPIRUN     | 4 | 2 | 2 | ./t",
                "mpirun -np 4 --hostfile h ./t                                  | MPIRUN     | 4 | - | - | ./t",
                "mpiexec -genv A 1 -n 3 ./t                                     | MPIRUN     | 3 | 3 | 1 | ./t",
                "srun python3 t.py                                              | SRUN       | 1 | 1 | 1 | python3 t.py",
                "srun -n4 -N1 --gpus-per-task=1 python3 t.py                    | SRUN       | 4 | 4 | 1 | python3 t.py",
                "srun --nodes 2 --ntasks-per-node 4 -lu ./t -n 9                | SRUN       | 8 | 4 | 2 | ./t -n 9",
                "srun --mpi=pmix --kill-on-bad-exit=1 -n 4 ./t                  | SRUN       | 4 | - | - | ./t",
                "srun -K1 -n 2 -N 1 ./t                                         | SRUN       | 2 | 2 | 1 | ./t",
                "horovodrun -np 4 -H localhost:4 python3 t.py                   | HOROVODRUN | 4 | 4 | 1 | python3 t.py",
                "horovodrun --num-proc 8 -H n1:4,n2:4 --verbose python3 t.py    | HOROVODRUN | 8 | - | 2 | python3 t.py",
                "deepspeed train.py --deepspeed                                 | DEEPSPEED  | - | - | 1 | train.py --deepspeed",
                "deepspeed --num_gpus 2 train.py                                | DEEPSPEED  | 2 | 2 | 1 | train.py",
                "deepspeed --num_nodes=2 --num_gpus=4 -H hosts train.py         | DEEPSPEED  | 8 | 4 | 2 | train.py",
                "deepspeed --include localhost:4,5 train.py                     | DEEPSPEED  | 2 | 2 | 1 | train.py",
                "python3 train.py --epochs 3                                    | PLAIN      | 1 | 1 | 1 | python3 train.py --epochs 3",
            })
    void readsWhoAndHowManyAndWhereTheCommandBegins(
            String command, Launcher launcher, String ranks, String perHost, String hosts, String rankCommand) {
        LaunchRequest request = read(command);

        assertThat(request.launcher()).isEqualTo(launcher);
        assertThat(request.problems()).isEmpty();
        assertThat(request.reasonNotToWrap()).isEmpty();
        assertThat(List.of(
                        count(request.size().ranks()),
                        count(request.size().perHost()),
                        count(request.size().hosts())))
                .containsExactly(ranks, perHost, hosts);
        assertThat(String.join(" ", request.rankCommand())).isEqualTo(rankCommand);
    }

    @Test
    void inAnAllocationSrunTakesItsDefaultsFromTheEnvironment() {
        LaunchRequest request =
                LauncherArguments.read(List.of("srun", "./t"), Map.of("SLURM_NTASKS", "8", "SLURM_JOB_NUM_NODES", "2"));

        assertThat(request.size().ranks()).hasValue(8);
        assertThat(request.size().hosts()).hasValue(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "torchrun --brand-new 4 t.py    | torchrun option --brand-new is not known here, so where the command of its ranks begins cannot be told",
                "mpirun -np 2 ./a : -np 1 ./b   | mpirun starts several programs, separated by \":\"",
                "srun -n 2 --multi-prog f.conf  | srun --multi-prog takes the commands of its ranks from a file",
                "torchrun --run-path t.py       | torchrun --run-path starts no command for a rank",
                "accelerate launch t.py         | accelerate is no launcher that is known here, so where the command of its ranks begins cannot be told",
            })
    void saysWhyTheClientCannotBePutInFrontOfTheRanks(String command, String reason) {
        assertThat(read(command).reasonNotToWrap()).hasValue(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mpirun -np four ./t               | -np must be a count, not 'four'",
                "mpirun -np 0 ./t                  | -np 0 asks for no ranks",
                "torchrun --nproc-per-node 2       | torchrun has no command to run",
                "torchrun --nnodes x t.py          | the number of nodes must be a count or a range, not 'x'",
                "deepspeed --include localhost:a t | --include localhost:a: 'a' is no device number",
            })
    void saysWhatCannotBeRead(String command, String problem) {
        assertThat(read(command).problems()).containsExactly(problem);
    }

    @Test
    void deepspeedThatExcludesDropsTheCallersList() {
        List<String> command = List.of("deepspeed", "--exclude", "localhost:1", "t.py");

        assertThat(LauncherArguments.read(command, Map.of()).problems()).isEmpty();
        assertThat(LauncherArguments.read(command, Map.of("CUDA_VISIBLE_DEVICES", "0,1"))
                        .problems())
                .containsExactly("deepspeed --exclude drops CUDA_VISIBLE_DEVICES=0,1: say with --include which devices"
                        + " to use");
    }

    @Test
    void srunForNoDeviceIsNotForThisCommand() {
        assertThat(read("srun --gpus-per-task=0 ./t").problems())
                .hasSize(1)
                .first()
                .asString()
                .contains("asks for no device (gpus-per-task=0)");
    }
}
