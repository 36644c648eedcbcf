"""Taking turns: a burst has what the worker gives, and that is given back when no more is held than before."""

import threading
import time

from ullage.allocator import LimitedAllocator
from ullage.errors import MemoryLimitError

from tests.fake_worker import uniform
from tests.with_worker import WithWorker

OFFER = {"type": "turns", "deadlineMillis": 60_000, "turnBytes": {"FORWARD": 50, "BACKWARD": 50}}


class TakingTurns(WithWorker):
    def setUp(self):
        super().setUp()
        self.worker.sequence, self.worker.limits = 1, uniform(100)
        self.worker.turns = OFFER
        self.asked = threading.Event()
        self.given = threading.Event()
        self.given.set()
        self.worker.turn = self._give
        self.allocator = LimitedAllocator()

    def _give(self, number):
        self.asked.set()
        self.given.wait()
        return {"type": "turn", "id": number, "turnBytes": 50}

    def rank(self):
        rank = self.attached(self.connect(applier=self.allocator))
        rank.wait_for_limit(5)
        self.worker.wait_until(lambda: bool(rank.turns.offer), what="the offer")
        return rank

    def test_a_turn_lasts_from_the_first_burst_phase_to_the_last(self):
        rank = self.rank()
        self.assertEqual(150, rank.enter_phase("forward"))
        self.assertEqual(150, rank.enter_phase("backward"))
        self.worker.wait_for("turn")
        self.assertEqual(1, len(self.worker.heard("turn")))
        self.assertEqual(100, rank.enter_phase("optimizer"))
        ask = self.worker.heard("turn")[0]["id"]
        self.assertEqual(ask, self.worker.wait_for("turn-released")["id"])
        self.assertEqual(150, rank.enter_phase("forward"))
        self.assertGreater(self.worker.wait_for("turn", 2)["id"], ask)
        self.assertEqual((2, 0), (rank.turns.given, rank.turns.missed))

    def test_what_is_in_force_is_confirmed_without_the_turn(self):
        rank = self.rank()
        rank.enter_phase("backward")
        self.allocator.reserve(140)
        self.worker.order(2, uniform(60))
        rank.safe_point()
        self.worker.wait_for("confirm", sequence=2, limitBytes=90)
        self.assertEqual(140, rank.limit_bytes)

    def test_a_turn_is_kept_while_more_is_held_than_may_be_without(self):
        rank = self.rank()
        rank.enter_phase("backward")
        self.allocator.reserve(140)
        self.assertEqual(140, rank.enter_phase("optimizer"))
        with self.assertRaises(MemoryLimitError):
            self.allocator.reserve(1)
        self.assertEqual([], self.worker.heard("turn-released"))
        self.allocator.release(60)
        self.assertEqual(100, rank.safe_point())
        self.worker.wait_for("turn-released")
        self.assertEqual(80, self.allocator.held_bytes())

    def test_what_keeps_a_turn_from_its_end_is_said_with_the_step(self):
        rank = self.rank()
        rank.enter_phase("backward")
        self.allocator.reserve(140)
        rank.enter_phase("optimizer")
        rank.step_done()
        self.assertEqual(140, self.worker.wait_for("phase-summary", step=1)["lingeringBytes"])

    def test_orders_are_applied_while_a_rank_waits(self):
        rank = self.rank()
        self.given.clear()
        entering = threading.Thread(target=rank.enter_phase, args=("forward",))
        entering.start()
        self.assertTrue(self.asked.wait(5))
        self.worker.order(2, uniform(70))
        self.worker.wait_for("confirm", sequence=2, limitBytes=70)
        self.assertEqual("INIT", rank.current_phase)
        self.given.set()
        entering.join(5)
        self.assertEqual(120, rank.limit_bytes)

    def test_a_no_is_the_limit_without(self):
        self.worker.turn = lambda number: {"type": "turn", "id": number, "turnBytes": None, "reason": "job b has it"}
        rank = self.rank()
        with self.assertLogs("ullage", "WARNING") as logs:
            self.assertEqual(100, rank.enter_phase("forward"))
        self.assertIn("FORWARD is entered without a turn, with a limit of 100 bytes: job b has it", logs.output[0])
        self.assertEqual(1, rank.turns.missed)

    def test_a_lost_worker_is_asked_again_and_hears_what_is_held(self):
        rank = self.rank()
        rank.enter_phase("forward")
        self.worker.stop()
        self.worker.start()
        hello = self.worker.wait_for("hello", 2)
        self.assertEqual(50, hello["turnBytes"])
        self.assertEqual(self.worker.heard("turn")[0]["id"], hello["turnAsk"])
        self.assertEqual({"sequence": 1, "limitBytes": 100}, hello["inForce"])
        rank.enter_phase("idle")
        self.worker.turn = None  # asked, and gone before it answers
        entering = threading.Thread(target=rank.enter_phase, args=("forward",))
        entering.start()
        self.worker.wait_for("turn", 2)
        self.worker.stop()
        self.worker.turn = self._give
        self.worker.start()
        self.assertIsNone(self.worker.wait_for("hello", 3)["turnBytes"])
        entering.join(5)
        self.assertEqual(150, rank.limit_bytes)

    def test_an_answer_that_comes_after_the_deadline_is_given_back(self):
        self.worker.turns = dict(OFFER, deadlineMillis=0)
        self.worker.turn = None
        rank = self.rank()
        rank.turns._deadline_seconds = -4.7  # the worker's deadline and what is added to it, in a test's time
        start = time.monotonic()
        self.assertEqual(100, rank.enter_phase("forward"))
        self.assertLess(time.monotonic() - start, 4)
        ask = self.worker.wait_for("turn")["id"]
        self.worker.wait_for("turn-released", id=ask)

    def test_what_is_owed_of_an_older_number_is_never_said_of_the_one_that_is_being_asked_for(self):
        rank = self.rank()
        rank.turns._owes_release = True
        tell, rank._calls.turn_released = rank._calls.turn_released, lambda number: False
        self.given.clear()
        entering = threading.Thread(target=rank.enter_phase, args=("forward",))
        entering.start()
        self.assertTrue(self.asked.wait(5))
        rank._calls.turn_released = tell
        with rank.lock:
            rank.turns.pay()
        self.given.set()
        entering.join(5)
        self.assertEqual(150, rank.limit_bytes)
        self.assertEqual([], self.worker.heard("turn-released"))

    def test_a_process_that_ends_its_rank_gives_its_turn_back_first(self):
        rank = self.rank()
        rank.enter_phase("backward")
        rank.close()
        self.worker.wait_for("turn-released")
