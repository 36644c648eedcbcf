"""Two real ranks over gloo: gradients are averaged as DDP does it, and nobody stays behind in a collective."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None
    print("tests.test_two_ranks: skipped, no torch in this Python", file=sys.stderr)

from tests.with_worker import WithWorker

SCRIPT = Path(__file__).parent / "two_ranks.py"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipIf(torch is None, "python3-torch: no torch in this Python")
class TwoRanks(WithWorker):
    def start(self, mode):
        port = str(free_port())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        ranks = []
        for rank in range(2):
            environ = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE="2",
                           LOCAL_RANK=str(rank), GLOO_SOCKET_IFNAME="lo", ULLAGE_SOCKET=self.worker.path,
                           PYTHONPATH=str(SCRIPT.parents[1]), FOLDER=folder.name)
            ranks.append(subprocess.Popen([sys.executable, str(SCRIPT), mode], env=environ, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            self.addCleanup(ranks[-1].kill)
        return ranks

    def test_the_guarded_step_is_ddps_step(self):
        for rank in self.start("equal"):
            out, err = rank.communicate(timeout=120)
            self.assertEqual(0, rank.returncode, err)
            plain, guarded, alone = json.loads(out)
            for other in (guarded, alone):
                for one, two in zip(plain, other):
                    self.assertAlmostEqual(one, two, places=12)

    def test_all_ranks_end_with_the_code_for_a_restart_also_one_inside_a_collective(self):
        ranks = self.start("collective")
        self.worker.wait_for("oom", timeout=60)
        said = time.monotonic()
        self.worker.say({"type": "directive", "job": "job", "sequence": 1, "step": 0, "level": "MICRO_BATCH",
                         "microBatch": 1, "restart": True, "rank": 1, "reason": "as the test wants"})
        for rank in ranks:
            _, err = rank.communicate(timeout=60)
            self.assertEqual(83, rank.returncode, err)
        self.assertLess(time.monotonic() - said, 20, "far below the collectives' 600 s")

    def test_where_groups_can_be_aborted_and_formed_anew_all_ranks_stay_and_go_on_with_the_directive(self):
        ranks = self.start("rebuild")
        self.worker.wait_for("oom", timeout=60)
        self.worker.say({"type": "directive", "job": "job", "sequence": 1, "step": 0, "level": "MICRO_BATCH",
                         "microBatch": 4, "restart": True, "rank": 1, "reason": "as the test wants"})
        for rank in ranks:
            out, err = rank.communicate(timeout=60)
            self.assertEqual(0, rank.returncode, err)
            self.assertEqual([1, [1], 4, 1], json.loads(out), err)
        for count in (1, 2):
            self.assertEqual(1, self.worker.wait_for("directive-applied", count)["sequence"])
