"""The estimate that a job was started with: which rank says what of it, and what cannot be used."""

import json
import unittest

import ullage
from ullage.estimate import planned

from tests.fake_worker import FakeWorker


def need(nbytes):
    return {"lowerBytes": nbytes - 1, "bytes": nbytes, "upperBytes": nbytes + 2, "stateBytes": nbytes // 2}


def stage(number, stages=2, nbytes=100):
    phases = {phase: need(nbytes + number) for phase in ("INIT", "FORWARD", "BACKWARD", "OPTIMIZER", "STEADY")}
    return {"stage": number, "stages": stages, "wholeProcess": True, "microBatch": 4, "phases": phases,
            "optimizerState": need(10)}


def environ(ranks=4, stages=None, **more):
    stages = [stage(0), stage(1)] if stages is None else stages
    return dict({"ULLAGE_ESTIMATE": json.dumps({"ranks": ranks, "stages": stages})}, **more)


class Estimates(unittest.TestCase):
    def test_ranks_of_a_stage_follow_each_other(self):
        self.assertEqual([0, 0, 1, 1], [planned(environ(), rank, 4)["stage"] for rank in range(4)])

    def test_a_job_without_an_estimate_says_nothing(self):
        self.assertIsNone(planned({}, 0, 4))
        self.assertIsNone(planned({"ULLAGE_ESTIMATE": ""}, 0, 4))

    def test_the_estimate_of_another_world_is_not_this_ones(self):
        with self.assertLogs("ullage", "WARNING") as logs:
            self.assertIsNone(planned(environ(), 0, 8))
            self.assertIsNone(planned(environ(), 4, None))
        self.assertIn("the estimate is of a world of 4, and this is rank 0 of 8", logs.output[0])
        self.assertIn("rank 4 of a world of unknown size", logs.output[1])

    def test_what_no_worker_would_take_is_not_sent(self):
        broken = stage(1)
        broken["phases"]["FORWARD"]["upperBytes"] = 1
        missing = stage(1)
        del missing["phases"]["STEADY"]
        texts = ["{", "[]", "7", '{"ranks":4}', '{"ranks":4,"stages":[]}', '{"ranks":"x","stages":[1]}',
                 environ(ranks=3)["ULLAGE_ESTIMATE"], environ(stages=[stage(0), broken])["ULLAGE_ESTIMATE"],
                 environ(stages=[stage(0), missing])["ULLAGE_ESTIMATE"]]
        for text in texts:
            with self.assertLogs("ullage", "WARNING") as logs:
                self.assertIsNone(planned({"ULLAGE_ESTIMATE": text}, 0, 4), text)
            self.assertIn("this rank goes without an estimate", logs.output[0])

    def test_the_hello_says_it_and_again_after_a_restart_of_the_worker(self):
        env = environ(RANK="3", WORLD_SIZE="4", LOCAL_RANK="3", ULLAGE_JOB="j")
        with FakeWorker() as worker, ullage.connect(worker.path, environ=env):
            self.assertEqual(stage(1), worker.wait_for("hello")["planned"])
            worker.stop()
            worker.start()
            self.assertEqual(stage(1), worker.wait_for("hello", 2)["planned"])


if __name__ == "__main__":
    unittest.main()
