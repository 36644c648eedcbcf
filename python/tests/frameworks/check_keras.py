"""The Keras callback in real trainings on the CPU: with a real worker, over a restart, and with bad arguments."""

import json
import tempfile
import unittest
from pathlib import Path

from tests.fake_worker import FakeWorker, uniform
from tests.frameworks.support import GIB, MIB, FrameworkTest, WithRealWorker


class Training(WithRealWorker):
    """One story on each worker: jobs of their own."""

    def test_on_a_cpu_it_trains_and_reports_and_claims_nothing(self):
        program = self.start("train_keras.py", self.worker.socket, "-", "0", "{}", exec_options=["--job", "cpu"])
        while "losses" not in (said := program.hear()):
            pass
        self.assertEqual(("none", list(range(6)), False), (said["mode"], said["epochs"], said["needs_restart"]))
        self.assertLess(said["losses"][-1], said["losses"][0] / 2)
        rank = self.worker.wait_for_rank("cpu", lambda rank: rank["step"] == 36 and rank["phase"] == "IDLE", "36 steps")
        self.assertEqual(("advisory", None, None, None), (rank["enforcedBy"], rank["usedBytes"],
                                                          rank["allocatedBytes"], rank["needsRestart"]))
        self.assertEqual("tensorflow", rank["framework"].split()[0])
        program.go_on()
        self.assertEqual(0, program.end()[0])

    def test_a_warm_up_ends_in_a_restart_that_brings_the_ratio_in_force(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = json.dumps({"warmup_epochs": 2, "ratio": 0.5, "restart_after_warmup": True})
            first = self.warm_up(folder, arguments)
            self.limited(folder, arguments, first)

    def warm_up(self, folder, arguments):
        """The first process: growth for two epochs, then an end that asks for a restart."""
        program = self.start("train_keras.py", self.worker.socket, folder, "1", arguments,
                             exec_options=["--job", "warm"])
        while "losses" not in (said := program.hear()):
            pass
        self.assertEqual(("growth", {"growth": True, "limits": []}, [0, 1], True, 2),
                         (said["mode"], said["options"], said["epochs"], said["needs_restart"], said["epochs_done"]))
        rank = self.worker.wait_for_rank("warm", lambda rank: rank["needsRestart"], "needs restart")
        self.assertEqual(("advisory", rank["targetBytes"], rank["targetBytes"] // 2),
                         (rank["enforcedBy"], rank["needsRestart"]["inForceBytes"], rank["needsRestart"]["limitBytes"]))
        self.assertIn("the warm-up is over", rank["needsRestart"]["reason"])
        self.assertIn("NEEDS_RESTART", self.worker.table())
        program.go_on()
        code, log = program.end()
        self.assertEqual(85, code, log)
        return said

    def limited(self, folder, arguments, first):
        """The second process: the ratio from the start, the rest of the epochs, the same weights; then a shrink."""
        program = self.start("train_keras.py", self.worker.socket, folder, "1", arguments,
                             exec_options=["--job", "warm"])
        while "losses" not in (said := program.hear()):
            pass
        rank = self.worker.wait_for_rank("warm", lambda rank: rank["enforcedBy"] == "env", "enforced from the start")
        half = rank["targetBytes"] // 2
        self.assertEqual(("limit", half // MIB - 512, True), (said["mode"], said["mib"], said["enforced"]))
        self.assertEqual({"growth": False, "limits": [[said["mib"]]]}, said["options"])
        self.assertEqual(([2, 3, 4, 5], False), (said["epochs"], said["needs_restart"]))
        self.assertEqual(first["ended"], said["began"], "weights and optimizer go on from where they were")
        self.assertLess(said["losses"][-1], first["losses"][-1])
        self.assertFalse(Path(folder).exists(), "a training that is done needs no checkpoint")
        self.assertIsNone(rank["needsRestart"])
        self.shrink(half)
        program.go_on()
        self.assertEqual(0, program.end()[0])

    def shrink(self, fixed):
        """An order below what is fixed: what is in force stays in the status and in the ledger, and says so."""
        self.worker.set_share("warm", "25%")
        rank = self.worker.wait_for_rank("warm", lambda rank: rank["needsRestart"], "needs restart")
        self.assertEqual({"inForceBytes": fixed, "limitBytes": rank["targetBytes"] // 2,
                          "reason": "TensorFlow fixes its limit when it starts"}, rank["needsRestart"])
        self.assertLess(rank["targetBytes"], fixed)
        self.assertEqual((fixed, False, "env"), (rank["ceilingBytes"], rank["settled"], rank["enforcedBy"]))
        self.assertEqual(rank["sequence"], rank["confirmedSequence"])


class Phases(FrameworkTest):
    def test_steps_evaluations_and_checkpoints_are_told_apart(self):
        with FakeWorker(sequence=1, limits=uniform(8 * GIB)) as worker, tempfile.TemporaryDirectory() as folder:
            program = self.start("train_keras.py", worker.path, folder, "0", "{}", RANK="0", WORLD_SIZE="1",
                                 TORCHELASTIC_RUN_ID="phases")
            while "losses" not in program.hear():
                pass
            program.go_on()
            self.assertEqual(0, program.end()[0])
            worker.wait_for("bye")
            phases = [message["phase"] for message in worker.heard("phase")]
            self.assertEqual(["INIT", "FORWARD", "IDLE", "FORWARD", "IDLE", "EVALUATION"],
                             [phase for at, phase in enumerate(phases) if at == 0 or phase != phases[at - 1]][:6])
            self.assertEqual((6, 6), (phases.count("CHECKPOINT"), phases.count("EVALUATION")))
            self.assertEqual(36, worker.heard("phase")[-1]["step"], "six steps an epoch, four at a time")
            self.assertEqual([], worker.heard("usage"), "TensorFlow tells nothing of a CPU")


    def test_without_a_restart_it_trains_on_and_says_what_it_needs(self):
        arguments = json.dumps({"warmup_epochs": 2, "ratio": 0.5})
        with FakeWorker(sequence=1, limits=uniform(8 * GIB)) as worker:
            program = self.start("train_keras.py", worker.path, "-", "1", arguments)
            while "losses" not in (said := program.hear()):
                pass
            self.assertEqual((list(range(6)), False), (said["epochs"], said["needs_restart"]))
            program.go_on()
            code, log = program.end()
            self.assertEqual((0, 1), (code, log.count("needs restart; epochs done: 2")))
            confirm = worker.heard("confirm")[-1]
            self.assertEqual(("advisory", 8 * GIB, 4 * GIB),
                             (confirm["enforcedBy"], confirm["limitBytes"], confirm["needsRestart"]["limitBytes"]))


class Arguments(FrameworkTest):
    def test_every_bad_argument_is_named(self):
        import ullage.keras

        with self.assertRaises(ValueError) as caught:
            ullage.keras.UllageCallback(warmup_epochs=0, ratio=1.5, restart_after_warmup=True)
        self.assertEqual("ratio=1.5: must be a number above 0 and at most 1; "
                         "restart_after_warmup=True: needs a checkpoint to go on from; "
                         "restart_after_warmup=True: needs warmup_epochs of 1 or more", str(caught.exception))

    def test_a_damaged_checkpoint_is_no_beginning(self):
        from ullage.keras import PROGRESS_FILE, epochs_done

        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(0, epochs_done(folder))
            for text in ("", "[]", '{"epochsDone": -1}', '{"epochsDone": true}', '{"epochs": 2}'):
                (Path(folder) / PROGRESS_FILE).write_text(text, encoding="utf-8")
                with self.assertRaises(ValueError) as caught:
                    epochs_done(folder)
                self.assertIn("must say epochsDone as a whole number of 0 or more", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
