"""What ``ullage run`` puts in front of a rank: the interpreter, the argument in its place, the device."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ullage
from ullage.__main__ import rank_command
from ullage.launch import listed_device, see_own_device

from tests.fake_worker import FakeWorker, uniform

ROOT = Path(__file__).resolve().parent.parent
SHOW = "import os, sys, json; print(json.dumps([sys.executable, sys.argv[1:], os.environ.get('ULLAGE_LOCAL_RANK')]))"


class RankCommand(unittest.TestCase):
    def test_a_program_stays_as_it_is(self):
        self.assertEqual(["train", "-x"], rank_command(["train", "-x"], False, None))

    def test_a_script_runs_on_this_interpreter(self):
        self.assertEqual([sys.executable, "-u", "train.py", "--lr", "1"],
                         rank_command(["-u", "train.py", "--lr", "1"], True, None))

    def test_the_local_rank_comes_right_after_the_script(self):
        self.assertEqual([sys.executable, "-u", "train.py", "--local_rank=3", "--lr", "1"],
                         rank_command(["-u", "train.py", "--lr", "1"], True, "3"))
        self.assertEqual([sys.executable, "-u", "-m", "pkg.train", "--local_rank=0", "x"],
                         rank_command(["-u", "-m", "pkg.train", "x"], True, "0"))
        self.assertEqual(["./train", "--local_rank=1", "x"], rank_command(["./train", "x"], False, "1"))

    def test_as_deepspeed_starts_it(self):
        """``python -u -m ullage --local_rank=1 exec --python -- -u train.py a``: deepspeed's own order of words."""
        with FakeWorker(sequence=1, limits=uniform(1 << 30)) as worker, tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "train.py"
            script.write_text(SHOW)
            env = dict(os.environ, ULLAGE_SOCKET=worker.path, PYTHONPATH=str(ROOT), RANK="1", WORLD_SIZE="2",
                       LOCAL_RANK="1", LOCAL_SIZE="2", CROSS_RANK="0", CROSS_SIZE="1", ULLAGE_JOB="ds")
            result = subprocess.run([sys.executable, "-u", "-m", "ullage", "--local_rank=1", "exec", "--require",
                                     "--python", "--", "-u", str(script), "a"], env=env, capture_output=True,
                                    text=True, timeout=60, check=False)
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertEqual([sys.executable, ["--local_rank=1", "a"], "1"], json.loads(result.stdout))
            self.assertEqual("deepspeed", worker.wait_for("hello")["launcher"])


class ListedDevices(unittest.TestCase):
    def test_ranks_take_them_in_turn(self):
        env = {"ULLAGE_DEVICES": "GPU-a, GPU-b"}
        self.assertEqual(["GPU-a", "GPU-b", "GPU-a"], [listed_device(env, rank) for rank in range(3)])

    def test_without_list_or_local_rank_there_is_none(self):
        self.assertIsNone(listed_device({}, 0))
        self.assertIsNone(listed_device({"ULLAGE_DEVICES": " ,"}, 0))
        self.assertIsNone(listed_device({"ULLAGE_DEVICES": "GPU-a"}, None))

    def test_the_hello_says_device_and_policy(self):
        env = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "3", "ULLAGE_JOB": "j", "ULLAGE_POLICY": "growth",
               "ULLAGE_DEVICES": "GPU-a,GPU-b"}
        with FakeWorker() as worker, ullage.connect(worker.path, environ=env):
            hello = worker.wait_for("hello")
            self.assertEqual(("GPU-b", "growth"), (hello["device"], hello["policy"]))
        with FakeWorker() as worker, ullage.connect(worker.path, environ=dict(env, ULLAGE_DEVICE="GPU-c",
                                                                              ULLAGE_POLICY="")):
            hello = worker.wait_for("hello")
            self.assertEqual(("GPU-c", None), (hello["device"], hello["policy"]))


class OwnDevices(unittest.TestCase):
    LIST = "MIG-a, MIG-b"

    @staticmethod
    def seen(**environ):
        see_own_device(environ)
        return environ

    def test_each_local_rank_sees_one_whatever_its_launcher(self):
        launchers = (("RANK", "WORLD_SIZE", "LOCAL_RANK"), ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
                     ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
                     ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"))
        for rank, size, local in launchers:
            seen = [self.seen(ULLAGE_OWN_DEVICES=self.LIST, CUDA_VISIBLE_DEVICES=self.LIST, **{
                rank: str(number), size: "3", local: str(number)}) for number in range(3)]
            self.assertEqual(["MIG-a", "MIG-b", "MIG-a"], [env["CUDA_VISIBLE_DEVICES"] for env in seen], rank)
            self.assertNotIn("ULLAGE_OWN_DEVICES", seen[0])

    def test_a_choice_out_of_the_list_stays(self):
        # torchrun --virtual-local-rank: every local rank is 0, and each sees one.
        env = self.seen(ULLAGE_OWN_DEVICES=self.LIST, CUDA_VISIBLE_DEVICES="MIG-b", RANK="1", WORLD_SIZE="2",
                        LOCAL_RANK="0")
        self.assertEqual("MIG-b", env["CUDA_VISIBLE_DEVICES"])

    def test_without_a_list_nothing_changes(self):
        self.assertEqual({}, self.seen())
        self.assertEqual({"CUDA_VISIBLE_DEVICES": "1"}, self.seen(CUDA_VISIBLE_DEVICES="1", ULLAGE_OWN_DEVICES=" ,"))

    def test_a_plain_process_is_number_0(self):
        self.assertEqual("MIG-a", self.seen(ULLAGE_OWN_DEVICES=self.LIST)["CUDA_VISIBLE_DEVICES"])

    def test_a_rank_whose_own_cannot_be_told_does_not_start(self):
        env = dict(os.environ, PYTHONPATH=str(ROOT), PMIX_RANK="1", PMIX_NAMESPACE="n", ULLAGE_OWN_DEVICES=self.LIST)
        result = subprocess.run([sys.executable, "-m", "ullage", "exec", "--", "echo", "started"], env=env,
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((75, ""), (result.returncode, result.stdout))
        self.assertIn("ULLAGE_OWN_DEVICES lists a device for each local rank (2)", result.stderr)

    def test_the_worker_and_the_command_are_told_the_same_one(self):
        with FakeWorker(sequence=1, limits=uniform(1 << 30)) as worker:
            env = dict(os.environ, PYTHONPATH=str(ROOT), ULLAGE_SOCKET=worker.path, ULLAGE_OWN_DEVICES=self.LIST,
                       CUDA_VISIBLE_DEVICES=self.LIST, RANK="1", WORLD_SIZE="2", LOCAL_RANK="1", ULLAGE_JOB="mig")
            result = subprocess.run(
                [sys.executable, "-m", "ullage", "exec", "--require", "--", "sh", "-c",
                 "echo $CUDA_VISIBLE_DEVICES$ULLAGE_OWN_DEVICES"], env=env, capture_output=True, text=True, timeout=60,
                check=False)
            self.assertEqual("MIG-b\n", result.stdout, result.stderr)
            self.assertEqual("MIG-b", worker.wait_for("hello")["visibleDevices"])


class WorkedOutLocalRank(unittest.TestCase):
    ENV = {"PMIX_RANK": "9", "PMIX_NAMESPACE": "prte-1"}

    def test_what_the_worker_numbered_is_known_and_said_again_as_a_device(self):
        with FakeWorker() as worker:
            worker.local_rank = 2
            with ullage.connect(worker.path, environ=self.ENV) as rank:
                first = worker.wait_for("hello")
                self.assertEqual((None, None), (first["localRank"], first["device"]))
                self.assertEqual(2, rank.local_rank)
                worker.stop()
                worker.start()
                again = worker.wait_for("hello", 2)
                self.assertEqual((None, rank.device.uuid), (again["localRank"], again["device"]))

    def test_a_launcher_that_says_it_is_believed(self):
        env = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "ULLAGE_JOB": "j"}
        with FakeWorker() as worker, ullage.connect(worker.path, environ=env) as rank:
            self.assertEqual(1, rank.local_rank)


if __name__ == "__main__":
    unittest.main()
