package dev.ullage.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the client goes in front of the ranks of each launcher. */
class RunPlanTest {
    private static final String CLIENT = "ullage exec --require --python --";

    private static RunPlan plan(String command, Map<String, String> variables, Optional<String> client) {
        LaunchRequest request = LauncherArguments.read(List.of(command.split(" ")), variables);
        ClusterDevices cluster = ClusterDevices.of(Clusters.status(8));
        RunTerms terms = Clusters.terms(variables);
        return RunPlan.of(
                request,
                terms,
                RunChecks.check(request, terms, cluster, cluster.here(Clusters.NODE)),
                new RunPlan.Surroundings(
                        Optional.of("/run/r.sock"),
                        client,
                        Optional.of("job-1"),
                        Optional.of("growth"),
                        "python3",
                        true),
                variables);
    }

    private static String wrapped(String command) {
        return String.join(" ", plan(command, Map.of(), Optional.empty()).command());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "torchrun --nproc-per-node 2 t.py -x       | torchrun --nproc-per-node 2 -m CLIENT -u t.py -x",
                "torchrun --nproc-per-node 2 -- t.py       | torchrun --nproc-per-node 2 -m CLIENT -u t.py",
                "torchrun --nproc-per-node 2 -m pkg.t -x   | torchrun --nproc-per-node 2 -m CLIENT -u -m pkg.t -x",
                "torchrun --no-python --nproc-per-node 2 ./t | torchrun --no-python --nproc-per-node 2 python3 -m ullage exec --require -- ./t",
                "torchrun --no-python /opt/py/python3.12 t.py | torchrun --no-python /opt/py/python3.12 -m ullage exec --require -- /opt/py/python3.12 t.py",
                "mpirun -np 2 python3 t.py                 | mpirun -np 2 python3 -m ullage exec --require -- python3 t.py",
                "srun -n2 -N1 ./t                          | srun -n2 -N1 python3 -m ullage exec --require -- ./t",
                "horovodrun -np 2 python t.py              | horovodrun -np 2 python -m ullage exec --require -- python t.py",
                "deepspeed --num_gpus 2 t.py --deepspeed   | deepspeed --num_gpus 2 --module CLIENT -u t.py --deepspeed",
                "deepspeed --num_gpus 2 --module pkg.t     | deepspeed --num_gpus 2 --module CLIENT -u -m pkg.t",
                "deepspeed --num_gpus 2 --no_python ./t    | deepspeed --num_gpus 2 --module ullage exec --require -- ./t",
                "python3 t.py -x                           | python3 -m ullage exec --require -- python3 t.py -x",
                "accelerate launch t.py                    | accelerate launch t.py",
                "mpirun -np 2 python3 -m ullage exec -- ./t | mpirun -np 2 python3 -m ullage exec -- ./t",
            })
    void theClientStandsInFrontOfEachRank(String command, String expected) {
        assertThat(wrapped(command)).isEqualTo(expected.replace("CLIENT", CLIENT));
    }

    @Test
    void theRanksFindWorkerClientJobAndPolicyInTheEnvironment() {
        RunPlan plan = plan("mpirun -np 8 ./t", Map.of("PYTHONPATH", "/mine"), Optional.of("/opt/ullage/python"));

        assertThat(plan.variables())
                .containsEntry("ULLAGE_SOCKET", Optional.of("/run/r.sock"))
                .containsEntry("PYTHONPATH", Optional.of("/opt/ullage/python:/mine"))
                .containsEntry("ULLAGE_JOB", Optional.of("job-1"))
                .containsEntry("ULLAGE_POLICY", Optional.of("growth"));
    }

    @Test
    void aListThatIsRightStaysAsItIs() {
        RunPlan plan =
                plan("torchrun --nproc-per-node 2 t.py", Map.of("CUDA_VISIBLE_DEVICES", "5,3"), Optional.empty());

        assertThat(plan.variables()).doesNotContainKey("CUDA_VISIBLE_DEVICES");
        assertThat(plan.notes()).isEmpty();
    }

    @Test
    void isPrintedAsAShellWouldTakeIt() {
        String text = new RunPlan(
                        List.of("sh", "-c", "echo 'a b'"),
                        new java.util.TreeMap<>(Map.of("A", Optional.of("x y"), "B", Optional.empty())),
                        List.of())
                .text();

        assertThat(text).isEqualTo("export A='x y'\nunset B\nsh -c 'echo '\\''a b'\\'''\n");
    }
}
