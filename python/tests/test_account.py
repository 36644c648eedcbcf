"""What a client counts of a training, and that it says nothing that nobody told it."""

import math
import unittest

from ullage.account import Account
from ullage.allocator import LimitedAllocator
from ullage.watch import Reading, Watch

from tests.test_watch import Clock
from tests.with_worker import WithWorker


class Counting(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.sent = []
        self.account = Account(self.sent.append, self.clock)
        self.account.wanted(True)

    def step(self, number, forward=0.25, backward=0.5):
        self.account.leaving("IDLE", None)
        self.clock.now += forward
        self.account.leaving("FORWARD", None)
        self.clock.now += backward
        self.account.step_done("BACKWARD", number, None)
        self.account.leaving("BACKWARD", None)

    def test_time_goes_to_the_phase_it_was_spent_in(self):
        self.clock.now += 2
        self.account.leaving("INIT", None)
        self.step(1)

        self.assertEqual({"INIT": 2000, "IDLE": 0, "FORWARD": 250, "BACKWARD": 500}, self.sent[-1]["phaseMillis"])
        self.assertEqual((1, 1, 2750), tuple(self.sent[-1][key] for key in ("step", "steps", "elapsedMillis")))

    def test_the_times_of_all_phases_come_to_the_time_since_the_client_began(self):
        for number in range(1, 50):
            self.step(number, forward=0.125 * (number % 5), backward=0.0625 * number)
        self.account.last("IDLE")

        for line in self.sent:
            self.assertEqual(line["elapsedMillis"], sum(line["phaseMillis"].values()))

    def test_a_line_comes_at_most_once_a_second_and_only_after_news(self):
        for number in range(1, 9):
            self.step(number, forward=0.125, backward=0.125)
        count = len(self.sent)
        self.clock.now += 10
        self.account.leaving("IDLE", None)
        self.clock.now += 10
        self.account.leaving("IDLE", None)

        self.assertEqual([1, 5], [line["step"] for line in self.sent[:2]])
        self.assertEqual(count + 1, len(self.sent), "steps since the last line are said once, then silence")
        self.assertEqual(8, self.sent[-1]["steps"])

    def test_losses_between_two_lines_become_their_mean(self):
        self.account.said(4.0, None, None)
        self.step(1)
        for number, loss in ((2, 3.0), (3, 2.0), (4, 1.0)):
            self.account.said(loss, None, None)
            self.step(number, forward=0.125, backward=0.125)
        self.account.last("IDLE")

        self.assertEqual([(1, 4_000_000_000), (4, 2_000_000_000)],
                         [(line["step"], line["lossBillionths"]) for line in self.sent])

    def test_a_loss_belongs_to_the_step_that_is_done_after_it(self):
        self.account.said(4.0, None, None)
        self.step(1)
        for number, loss in ((2, 3.0), (3, 1.0)):
            self.account.said(loss, None, None)
            self.step(number)

        self.account.last("IDLE")

        self.assertEqual([(1, 4_000_000_000), (2, 3_000_000_000), (3, 1_000_000_000)],
                         [(line["step"], line["lossBillionths"]) for line in self.sent])

    def test_a_loss_that_is_no_number_is_counted_apart(self):
        for loss in (math.nan, math.inf, -1e300, -0.5):
            self.account.said(loss, None, None)
        self.step(1)

        self.assertEqual((-500_000_000, 3), (self.sent[0]["lossBillionths"], self.sent[0]["lossesLeftOut"]))

    def test_samples_add_up_and_operations_are_of_the_newest_step(self):
        self.account.said(None, 32, 3e9)
        self.account.said(None, 16, 5_999_999)
        self.step(1)

        self.assertEqual((48, 5), (self.sent[0]["samples"], self.sent[0]["megaflopsPerStep"]))

    def test_a_sum_stays_within_what_a_worker_takes(self):
        for _ in range(3):
            self.account.said(None, (1 << 53) - 1, None)
        self.step(1)

        self.assertEqual((1 << 53) - 1, self.sent[0]["samples"])

    def test_what_nobody_told_is_null(self):
        self.step(1)

        self.assertEqual([None] * 5, [self.sent[0][key] for key in (
            "samples", "megaflopsPerStep", "timedAllocations", "allocationMicros", "lossBillionths")])

    def test_a_script_that_counts_nothing_sends_nothing(self):
        self.clock.now += 5
        self.account.leaving("INIT", None)
        self.account.last("IDLE")

        self.assertEqual([], self.sent)

    def test_a_script_that_counts_no_steps_is_heard_all_the_same(self):
        self.clock.now += 11
        self.account.said(None, 4, None)
        self.account.leaving("EVALUATION", None)

        self.assertEqual([(0, 4)], [(line["steps"], line["samples"]) for line in self.sent])

    def test_an_older_worker_is_told_nothing(self):
        self.account.wanted(False)
        self.step(1)
        self.account.last("IDLE")

        self.assertEqual([], self.sent)

    def test_waiting_within_waiting_counts_once(self):
        with self.account.limited():
            self.clock.now += 1
            with self.account.limited():
                self.clock.now += 2
        self.account.turned(0.5)
        self.step(1)

        self.assertEqual((3000, 500), (self.sent[0]["limitWaitMillis"], self.sent[0]["turnWaitMillis"]))

    def test_an_allocator_that_times_itself_is_quoted(self):
        self.account.step_done("IDLE", 1, Reading(allocations=4, allocation_nanos=9_999))

        self.assertEqual((4, 9), (self.sent[0]["timedAllocations"], self.sent[0]["allocationMicros"]))

    def test_amounts_that_cannot_be_are_refused(self):
        for samples, flops in ((-1, None), (None, -1.0), (None, math.nan), (None, math.inf), (None, 1e30),
                               (1 << 60, None), (True, None)):
            with self.assertRaises(ValueError):
                self.account.said(None, samples, flops)


class OverTheWire(WithWorker):
    def test_what_a_script_says_reaches_the_worker_and_the_last_words_with_the_bye(self):
        rank = self.attached(self.connect(applier=LimitedAllocator()))
        for loss in (3.0, 2.0, 1.0):
            with rank.phase("forward"):
                rank.report(loss=loss, samples=8, flops=4e6)
            rank.step_done()
        rank.close()

        self.worker.wait_for("bye")
        last = self.worker.heard("report")[-1]
        self.assertEqual((3, 24, 4), (last["steps"], last["samples"], last["megaflopsPerStep"]))
        kinds = [message["type"] for message in self.worker.messages]
        self.assertLess(max(i for i, kind in enumerate(kinds) if kind == "report"), kinds.index("bye"))

    def test_a_rank_that_never_registers_may_be_told_all_the_same(self):
        rank = self.connect()
        rank.close()
        rank.report(loss=1.0, samples=1)
        rank.step_done()


class Watching(unittest.TestCase):
    def test_the_welcome_says_whether_reports_are_understood(self):
        sent = []
        watch = Watch(sent.append, Clock())
        watch.welcomed({"type": "welcome", "snapshotSteps": 500})
        watch.step_done(LimitedAllocator(), "IDLE", 1)
        self.assertEqual(["phase-summary"], [line["type"] for line in sent])

        watch.welcomed({"type": "welcome", "snapshotSteps": 500, "reports": True})
        watch.step_done(LimitedAllocator(), "IDLE", 2)
        self.assertEqual("report", sent[-1]["type"])
        self.assertEqual(0, sent[-1]["timedAllocations"])


if __name__ == "__main__":
    unittest.main()
