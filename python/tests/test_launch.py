"""Rank discovery: the ten recorded environments, precedence, contradictions, and errors all at once."""

import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from ullage.errors import LaunchError
from ullage.launch import LocalIds, discover

from tests.fake_worker import FakeWorker
import ullage

CASES = {case["name"]: case for case in json.loads((Path(__file__).parent / "data" / "env-sets.json").read_text())}
LOCAL = LocalIds("host-a", 100, 50)
ROOT = Path(__file__).resolve().parent.parent


def found(**env):
    return discover(env, LOCAL)


class RecordedEnvironments(unittest.TestCase):
    """The ten sets of env-sets.json; each is used by exactly one test or by the table."""

    def test_all_ten_sets_are_covered(self):
        self.assertEqual(10, len(CASES))
        table = {name for name, case in CASES.items() if isinstance(case.get("expect"), dict)}
        others = {"mpirun -x forwards the launch host's list", "mpiexec -np 2 -x CUDA_VISIBLE_DEVICES=4,5",
                  "openmpi 5 under LSF, OMPI_* absent", "contradiction"}
        self.assertEqual(set(CASES), table | others)

    def test_sets_with_ranks(self):
        count = 0
        for name, case in CASES.items():
            expect = case.get("expect")
            if not isinstance(expect, dict):
                continue
            with self.subTest(name):
                info = found(ULLAGE_JOB="j", **case["env"])
                self.assertEqual((expect["rank"], expect["local_rank"], expect["world"]),
                                 (info.rank, info.local_rank, info.world_size))
                self.assertEqual((), info.problems)
            count += 1
        self.assertEqual(6, count)

    def test_missing_local_rank_is_left_to_the_worker(self):
        info = found(**CASES["openmpi 5 under LSF, OMPI_* absent"]["env"])
        self.assertEqual((9, None, None, "pmix", "mpi-prte-1"),
                         (info.rank, info.local_rank, info.world_size, info.launcher, info.job))

    def test_contradiction_names_both_values(self):
        info = found(**CASES["contradiction"]["env"])
        self.assertEqual(1, len(info.problems))
        self.assertIn("LOCAL_RANK=0", info.problems[0])
        self.assertIn("OMPI_COMM_WORLD_LOCAL_RANK=3", info.problems[0])
        self.assertIsNone(info.local_rank)

    def test_foreign_device_list_reaches_the_worker_as_it_is(self):
        case = CASES["mpirun -x forwards the launch host's list"]
        with FakeWorker() as worker, ullage.connect(worker.path, environ=case["launch_host_env"]):
            self.assertEqual("GPU-host1-a,GPU-host1-b", worker.wait_for("hello")["visibleDevices"])

    def test_order_and_container_reach_the_worker_as_they_are(self):
        env = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
               "NVIDIA_VISIBLE_DEVICES": "void"}
        with FakeWorker() as worker, ullage.connect(worker.path, environ=env):
            hello = worker.wait_for("hello")
            self.assertEqual(("PCI_BUS_ID", "void"), (hello["deviceOrder"], hello["containerDevices"]))

    def test_forwarded_list_and_local_rank_reach_the_worker(self):
        case = CASES["mpiexec -np 2 -x CUDA_VISIBLE_DEVICES=4,5"]
        with FakeWorker() as worker:
            for local_rank, device in case["expect_map"].items():
                env = {"CUDA_VISIBLE_DEVICES": "4,5", "PMI_RANK": local_rank, "PMI_SIZE": "2",
                       "MPI_LOCALRANKID": local_rank, "ULLAGE_JOB": "j"}
                with ullage.connect(worker.path, environ=env):
                    hello = worker.wait_for("hello", rank=int(local_rank))
                    self.assertEqual(str(device), hello["visibleDevices"].split(",")[hello["localRank"]])


class Precedence(unittest.TestCase):
    def test_plain_process_is_rank_0_of_1(self):
        info = found()
        self.assertEqual(("local-host-a-100", 0, 1, 0, "plain"),
                         (info.job, info.rank, info.world_size, info.local_rank, info.launcher))

    def test_an_unknown_launcher_is_a_plain_process(self):
        self.assertEqual("plain", found(FLUX_TASK_RANK="3", JSM_NAMESPACE_RANK="3").launcher)

    def test_mpirun_inside_an_sbatch_wins_without_a_problem(self):
        info = found(OMPI_COMM_WORLD_RANK="5", OMPI_COMM_WORLD_SIZE="8", SLURM_PROCID="0", SLURM_NTASKS="8",
                     SLURM_JOB_ID="77", PMIX_NAMESPACE="123", PMIX_RANK="5")
        self.assertEqual(("openmpi", 5, "mpi-123", ()), (info.launcher, info.rank, info.job, info.problems))

    def test_torchrun_inside_mpirun_is_no_contradiction(self):
        info = found(RANK="1", WORLD_SIZE="2", LOCAL_RANK="0", TORCHELASTIC_RUN_ID="abc",
                     TORCHELASTIC_RESTART_COUNT="2", OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2")
        self.assertEqual((1, 2, "abc", 2, ()), (info.rank, info.world_size, info.job, info.restart, info.problems))

    def test_hand_set_rank_that_disagrees_with_mpi_is_reported(self):
        info = found(RANK="2", WORLD_SIZE="8", OMPI_COMM_WORLD_RANK="5", OMPI_COMM_WORLD_SIZE="8", ULLAGE_JOB="j")
        self.assertEqual(2, info.rank)
        self.assertEqual(("RANK=2 and OMPI_COMM_WORLD_RANK=5 contradict each other; used RANK",), info.problems)

    def test_world_smaller_than_the_one_around_is_reported(self):
        info = found(RANK="0", WORLD_SIZE="1", OMPI_COMM_WORLD_RANK="5", OMPI_COMM_WORLD_SIZE="8", ULLAGE_JOB="j")
        self.assertIn("WORLD_SIZE=1 is smaller than OMPI_COMM_WORLD_SIZE=8", info.problems[0])

    def test_stray_local_rank_beside_mpi_is_reported(self):
        info = found(LOCAL_RANK="0", OMPI_COMM_WORLD_RANK="5", OMPI_COMM_WORLD_SIZE="8",
                     OMPI_COMM_WORLD_LOCAL_RANK="3", ULLAGE_JOB="j")
        self.assertEqual(3, info.local_rank)
        self.assertIn("OMPI_COMM_WORLD_LOCAL_RANK=3 and LOCAL_RANK=0 contradict", info.problems[0])

    def test_horovod_before_mpi(self):
        info = found(HOROVOD_RANK="1", HOROVOD_SIZE="2", HOROVOD_LOCAL_RANK="1", OMPI_COMM_WORLD_RANK="1",
                     OMPI_COMM_WORLD_SIZE="2", PMIX_NAMESPACE="9")
        self.assertEqual(("horovod", "mpi-9", ()), (info.launcher, info.job, info.problems))

    def test_deepspeed_is_told_from_torchrun(self):
        info = found(RANK="3", WORLD_SIZE="4", LOCAL_RANK="1", LOCAL_SIZE="2", CROSS_RANK="1", CROSS_SIZE="2",
                     MASTER_ADDR="10.0.0.1", MASTER_PORT="29500")
        self.assertEqual(("deepspeed", 2, "10.0.0.1:29500", ()),
                         (info.launcher, info.local_world_size, info.job, info.problems))

    def test_rank_without_size_is_ignored_and_said(self):
        info = found(RANK="captain")
        self.assertEqual("plain", info.launcher)
        self.assertEqual(("RANK=captain is set without WORLD_SIZE; ignored",), info.problems)

    def test_slurm_tasks_per_node(self):
        env = {"SLURM_PROCID": "7", "SLURM_NTASKS": "8", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "5",
               "SLURM_STEP_ID": "0", "SLURM_STEP_TASKS_PER_NODE": "3(x2),2", "SLURM_NODEID": "2"}
        self.assertEqual(("slurm-5.0", 2), (found(**env).job, found(**env).local_world_size))


class JobIds(unittest.TestCase):
    def test_ullage_job_wins(self):
        self.assertEqual("mine", found(ULLAGE_JOB="mine", RANK="0", WORLD_SIZE="1", TORCHELASTIC_RUN_ID="x").job)

    def test_run_id_none_gives_way_to_the_master_address(self):
        for run in ("none", ""):
            self.assertEqual("h:1", found(RANK="0", WORLD_SIZE="1", TORCHELASTIC_RUN_ID=run, MASTER_ADDR="h",
                                          MASTER_PORT="1").job)

    def test_a_loopback_master_address_means_another_job_on_each_host(self):
        for address in ("127.0.0.1", "localhost", "::1"):
            self.assertEqual(f"host-a@{address}:29500",
                             found(RANK="0", WORLD_SIZE="1", MASTER_ADDR=address, MASTER_PORT="29500").job)

    def test_horovod_uses_its_rendezvous(self):
        self.assertEqual("10.0.0.1:7", found(HOROVOD_RANK="0", HOROVOD_SIZE="1", HOROVOD_GLOO_RENDEZVOUS_PORT="7",
                                             HOROVOD_GLOO_RENDEZVOUS_ADDR="10.0.0.1").job)

    def test_torchrun_without_any_id_is_told_apart_by_the_parent_and_said(self):
        info = found(RANK="0", WORLD_SIZE="1")
        self.assertEqual("local-host-a-50", info.job)
        self.assertIn("set ULLAGE_JOB", info.problems[0])

    def test_open_mpi_without_pmix_uses_its_own_job_id(self):
        self.assertEqual("mpi-42", found(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1",
                                         OMPI_MCA_ess_base_jobid="42").job)


class Errors(unittest.TestCase):
    def test_all_bad_values_at_once_each_with_its_rule(self):
        with self.assertRaises(LaunchError) as caught:
            found(RANK="x", WORLD_SIZE="-1", LOCAL_RANK="9", LOCAL_WORLD_SIZE="2", ULLAGE_JOB=" ")
        self.assertEqual((
            "ULLAGE_JOB=' ': must be 1 to 200 printable characters, not all blank",
            "RANK='x': must be an integer",
            "WORLD_SIZE=-1: must be 1 or more",
            "LOCAL_RANK=9: must be below LOCAL_WORLD_SIZE=2",
        ), caught.exception.problems)

    def test_rank_must_be_below_the_size(self):
        with self.assertRaisesRegex(LaunchError, "SLURM_PROCID=4: must be below SLURM_NTASKS=4"):
            found(SLURM_PROCID="4", SLURM_NTASKS="4")

    def test_negative_rank(self):
        with self.assertRaisesRegex(LaunchError, "PMI_RANK=-1: must be 0 or more"):
            found(PMI_RANK="-1", PMI_SIZE="2")

    def test_connect_does_not_break_the_training_over_it(self):
        with self.assertLogs("ullage", "WARNING") as logs:
            rank = ullage.connect("/nonexistent/ranks.sock", environ={"RANK": "x", "WORLD_SIZE": "2"})
        self.assertIn("RANK='x': must be an integer", logs.output[0])
        self.assertTrue(rank.closed)
        rank.enter_phase("forward")
        self.assertEqual("FORWARD", rank.current_phase)
        self.assertIsNone(rank.wait_for_limit(1.0))
        rank.close()


@unittest.skipIf(shutil.which("mpirun") is None, "no mpirun here")
class RealLauncher(unittest.TestCase):
    def test_mpirun(self):
        result = subprocess.run(
            ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", sys.executable, "-m", "ullage", "env",
             "--json"], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
        self.assertEqual(0, result.returncode, result.stderr)
        decoder, text, infos = json.JSONDecoder(), result.stdout.strip(), []
        while text:
            info, end = decoder.raw_decode(text)
            infos.append(info)
            text = text[end:].strip()
        self.assertEqual({0, 1}, {info["rank"] for info in infos})
        self.assertEqual({2}, {info["local_world_size"] for info in infos})
        self.assertEqual(1, len({info["job"] for info in infos}))
        self.assertTrue(infos[0]["job"].startswith("mpi-"), infos[0]["job"])
        self.assertEqual([[], []], [info["problems"] for info in infos])


if __name__ == "__main__":
    unittest.main()
