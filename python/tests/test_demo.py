"""The demo trainers as processes: they learn, keep to the limit, see it change, and end on SIGTERM with 0."""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

from tests.fake_worker import FakeWorker, uniform

ROOT = Path(__file__).resolve().parent.parent
GIB = 1 << 30
HAS_TORCH = importlib.util.find_spec("torch") is not None


class Trainer(unittest.TestCase):
    def setUp(self):
        self.worker = FakeWorker(sequence=1, limits=uniform(8 * GIB))
        self.addCleanup(self.worker.__exit__)

    def start(self, *arguments, **env):
        return subprocess.Popen([sys.executable, "-m", "ullage.demo.trainer", *arguments], cwd=ROOT, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=dict(os.environ, ULLAGE_SOCKET=self.worker.path, **env))

    def finish(self, process):
        out, err = process.communicate(timeout=50)
        self.assertEqual(0, process.returncode, err)
        return json.loads(out.splitlines()[-1])

    def shrink_and_grow(self, model):
        process = self.start("--seconds", "40", "--model", model, "--pace", "0.002")
        self.worker.wait_for("phase", 3, timeout=30, phase="OPTIMIZER")
        self.worker.order(2, uniform(3 * GIB))
        self.worker.wait_for("confirm", sequence=2, limitBytes=3 * GIB)
        steps = len(self.worker.heard("phase", phase="OPTIMIZER"))
        self.worker.wait_for("phase", steps + 20, timeout=30, phase="OPTIMIZER")
        self.worker.order(3, uniform(8 * GIB))
        self.worker.wait_for("confirm", sequence=3, limitBytes=8 * GIB)
        steps = len(self.worker.heard("phase", phase="OPTIMIZER"))
        self.worker.wait_for("phase", steps + 20, timeout=30, phase="OPTIMIZER")
        process.send_signal(signal.SIGTERM)
        result = self.finish(process)
        self.worker.wait_for("bye")
        self.assertEqual({"allocator"}, {m["enforcedBy"] for m in self.worker.heard("confirm")})
        self.assertLess(result["finalLoss"], result["firstLoss"])
        self.assertEqual((model, 8 * GIB, 0),
                         (result["trainer"], result["limitBytes"], result["mostOverLimitBytes"]))
        self.assertIn(result["limitChanges"], (2, 3), "one more when the shrink found more held than it allows")
        self.assertGreaterEqual(result["refusals"], 1)
        self.assertLess(result["smallestMicroBatch"], 16)
        self.assertEqual(16, result["microBatch"], "large again after the grow")
        self.assertEqual(result["steps"], result["phases"]["OPTIMIZER"])
        self.assertGreater(result["phases"]["FORWARD"], result["steps"])
        self.assertEqual(result["refusals"], self.worker.heard("usage")[-1]["refusals"])

    def test_plain(self):
        self.shrink_and_grow("plain")

    @unittest.skipUnless(HAS_TORCH, "no torch in this Python")
    def test_torch(self):
        self.shrink_and_grow("torch")

    def test_a_limit_below_one_sample_waits_and_goes_on_with_the_next_grant(self):
        process = self.start("--steps", "30", "--model", "plain", "--demand-bytes", str(16 * GIB), "--wait", "5")
        result = self.finish(process)
        self.assertEqual((30, 4), (result["steps"], result["microBatch"]), "8 would fill it and leave no tensor room")
        self.worker.limits = uniform(GIB // 2)
        process = self.start("--steps", "30", "--model", "plain", "--demand-bytes", str(16 * GIB))
        self.worker.wait_for("hello", 2)
        time.sleep(0.2)
        self.worker.order(2, uniform(4 * GIB))
        result = self.finish(process)
        self.assertEqual((30, 0), (result["steps"], result["unreserved"]))
        self.assertGreater(result["waits"], 0)

    def test_without_a_worker_it_trains_all_the_same(self):
        self.worker.stop()
        result = self.finish(self.start("--steps", "30", "--model", "plain"))
        self.assertEqual((30, None, 0), (result["steps"], result["limitBytes"], result["refusals"]))

    @unittest.skipUnless(HAS_TORCH, "no torch in this Python")
    def test_two_processes_average_their_gradients_and_stop_together(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        env = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "LOCAL_WORLD_SIZE": "2"}
        ranks = [self.start("--seconds", "40", "--ddp", "--model", "torch", "--pace", "0.005", RANK=str(number),
                            LOCAL_RANK=str(number), **env) for number in range(2)]
        self.worker.wait_for("phase", 60, timeout=40, phase="OPTIMIZER")
        ranks[1].send_signal(signal.SIGTERM)
        first, second = (self.finish(process) for process in ranks)
        self.assertEqual((first["steps"], f"{socket.gethostname()}@127.0.0.1:{port}"),
                         (second["steps"], second["job"]))
        self.assertLess(first["finalLoss"], first["firstLoss"])


if __name__ == "__main__":
    unittest.main()
