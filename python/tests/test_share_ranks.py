"""Three real ranks over gloo share a batch unevenly: losses and weights are those of one process that has all of it."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None
    print("tests.test_share_ranks: skipped, no torch in this Python", file=sys.stderr)

from tests.test_two_ranks import free_port
from tests.with_worker import WithWorker

SCRIPT = Path(__file__).parent / "share_ranks.py"
RANKS = 3


def order(sequence, samples, rounds=1, **other):
    return dict({"type": "directive", "job": "job", "sequence": sequence, "step": 0, "level": "LIMIT",
                 "microBatch": None, "accumulation": None, "restart": False, "rank": 0, "usedBytes": None, "done": [],
                 "reason": "as the test wants",
                 "shares": {"since": sequence, "orders": 1, "rounds": rounds, "samples": samples}}, **other)


@unittest.skipIf(torch is None, "python3-torch: no torch in this Python")
class SharedBatch(WithWorker):
    def start(self, mode, patience=60):
        port = str(free_port())
        ranks = []
        for rank in range(RANKS):
            environ = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank),
                           WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank), GLOO_SOCKET_IFNAME="lo",
                           ULLAGE_SOCKET=self.worker.path, PYTHONPATH=str(SCRIPT.parents[1]))
            ranks.append(subprocess.Popen([sys.executable, str(SCRIPT), mode, str(patience)], env=environ, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            self.addCleanup(ranks[-1].kill)
        return ranks

    def ends(self, ranks):
        results = []
        for rank in ranks:
            out, err = rank.communicate(timeout=120)
            self.assertEqual(0, rank.returncode, err)
            results.append(json.loads(out))
        return results

    def check_is_the_unsplit_run(self, results):
        from tests.share_ranks import BATCH, unsplit
        losses, weights = unsplit()
        for result in results:
            self.assertEqual(len(losses), len(result["losses"]))
            for one, two in zip(losses, result["losses"]):
                self.assertAlmostEqual(one, two, places=10)
            for one, two in zip(weights, result["weights"]):
                self.assertAlmostEqual(one, two, places=10)
        for step, counts in enumerate(zip(*(result["counts"] for result in results))):
            self.assertEqual(BATCH, sum(counts), f"step {step}: {counts}")

    def say_after_steps(self, line):
        """Once every rank has told of some steps, as a coordinator would."""
        self.worker.wait_until(
            lambda: len(self.worker.heard("phase-summary")) >= RANKS, timeout=60, what="a summary of each rank")
        self.worker.say(line)

    def test_shares_change_at_the_same_step_on_every_rank_and_nothing_else_does(self):
        ranks = self.start("run")
        self.say_after_steps(order(1, [8, 3, 1]))

        results = self.ends(ranks)

        self.check_is_the_unsplit_run(results)
        changes = [[step for step in range(1, 20) if result["counts"][step] != result["counts"][step - 1]]
                   for result in results]
        self.assertEqual([1] * RANKS, [len(steps) for steps in changes])
        self.assertEqual(1, len({steps[0] for steps in changes}), changes)
        self.assertEqual([8, 3, 1], [result["counts"][-1] for result in results])
        self.assertEqual([5, 3], results[0]["parts"][-2:], "never more at once than the user allows")
        self.assertEqual([1] * RANKS, [result["applied"] for result in results])
        self.assertEqual([1] * RANKS, [line["sequence"] for line in self.worker.heard("directive-applied")])

    def test_the_rank_says_how_it_cuts_its_batch(self):
        self.ends(self.start("run", patience=0))

        self.assertEqual({"sequence": 0, "job": 12, "samples": 4, "microBatch": 4, "most": 5},
                         {key: value for key, value in self.worker.heard("phase-summary")[0]["batch"].items()
                          if key != "baseBytes"})
        self.assertGreaterEqual(self.worker.heard("phase-summary")[0]["batch"]["baseBytes"], 1000)

    def test_with_ddps_own_averaging_the_weight_makes_it_right(self):
        ranks = self.start("ddp")
        self.say_after_steps(order(1, [8, 3, 1]))

        results = self.ends(ranks)

        self.check_is_the_unsplit_run(results)
        self.assertEqual([8, 3, 1], [result["counts"][-1] for result in results])

    def test_more_rounds_cut_each_share_into_as_many_parts(self):
        ranks = self.start("run")
        self.say_after_steps(order(1, [6, 3, 3], rounds=3))

        results = self.ends(ranks)

        self.check_is_the_unsplit_run(results)
        self.assertEqual([2, 2, 2], results[0]["parts"][-3:])
        self.assertEqual([1, 1, 1], results[1]["parts"][-3:])

    def test_shares_of_another_job_are_no_shares(self):
        ranks = self.start("run")
        self.say_after_steps(order(1, [8, 3, 2]))

        results = self.ends(ranks)

        self.check_is_the_unsplit_run(results)
        self.assertEqual([[4] * 20] * RANKS, [result["counts"] for result in results])
        self.assertEqual([1] * RANKS, [result["applied"] for result in results])

    def test_an_order_that_not_all_ranks_hold_is_waited_for_by_none(self):
        ranks = self.start("run", patience=2)
        self.worker.wait_until(
            lambda: len(self.worker.heard("phase-summary")) >= RANKS, timeout=60, what="a summary of each rank")
        sessions = list(self.worker._sessions)
        self.worker._sessions[:] = sessions[:1]
        self.worker.say(order(1, [8, 3, 1]))
        self.worker._sessions[:] = sessions

        results = self.ends(ranks)

        self.check_is_the_unsplit_run(results)
        self.assertEqual([0] * RANKS, [result["applied"] for result in results])
