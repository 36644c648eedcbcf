"""The limit state machine, by its rules; and a seeded walk that checks its invariants."""

import random
import unittest

from ullage.phases import PHASES
from ullage.state import InForce, LimitState, Order, Receipt

from tests.fake_worker import uniform


def order(sequence, limit, **other):
    return Order(sequence, uniform(limit, **other))


def settle(state, held=None):
    plan = state.plan(held)
    told = state.commit(plan)
    return plan, told


class Orders(unittest.TestCase):
    def test_nothing_is_in_force_before_the_first_order(self):
        state = LimitState()
        self.assertEqual((None, None, None, 0, False), (state.in_force, state.limit_bytes, state.limits,
                                                        state.newest_sequence, state.needs_settling))
        self.assertIsNone(state.plan(5))

    def test_an_order_is_in_force_only_after_commit(self):
        state = LimitState()
        self.assertIs(Receipt.NEW, state.receive(order(1, 100)))
        self.assertIsNone(state.limit_bytes)
        self.assertTrue(state.needs_settling)
        _, told = settle(state)
        self.assertTrue(told)
        self.assertEqual((InForce(1, 100), 100, False), (state.in_force, state.limit_bytes, state.needs_settling))

    def test_the_newest_order_wins_and_the_one_between_is_never_applied(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state)
        state.receive(order(2, 10))
        state.receive(order(3, 70))
        settle(state, held=60)
        self.assertEqual(InForce(3, 70), state.in_force)

    def test_a_stale_order_is_ignored(self):
        state = LimitState()
        state.receive(order(5, 100))
        self.assertIs(Receipt.STALE, state.receive(order(4, 900)))
        settle(state)
        self.assertEqual(InForce(5, 100), state.in_force)

    def test_a_repeated_order_changes_nothing_even_with_other_numbers(self):
        state = LimitState()
        state.receive(order(5, 100))
        settle(state)
        self.assertIs(Receipt.REPEATED, state.receive(order(5, 999)))
        self.assertFalse(state.needs_settling)
        _, told = settle(state)
        self.assertFalse(told)
        self.assertEqual(InForce(5, 100), state.in_force)

    def test_an_order_must_name_every_phase_and_be_sane(self):
        with self.assertRaisesRegex(ValueError, "no limit for IDLE"):
            Order(1, {phase: 1 for phase in PHASES if phase != "IDLE"})
        with self.assertRaisesRegex(ValueError, "limit of FORWARD is negative: -1"):
            order(1, 5, FORWARD=-1)
        with self.assertRaisesRegex(ValueError, "sequence must be 1 or more: 0"):
            order(0, 5)

    def test_a_plan_of_an_older_order_cannot_be_committed(self):
        state = LimitState()
        state.receive(order(1, 100))
        plan = state.plan(None)
        state.receive(order(2, 50))
        with self.assertRaises(ValueError):
            state.commit(plan)

    def test_a_plan_of_another_phase_cannot_be_committed(self):
        state = LimitState()
        state.receive(order(1, 100))
        plan = state.plan(None)
        state.enter("FORWARD")
        with self.assertRaises(ValueError):
            state.commit(plan)


class Held(unittest.TestCase):
    def test_a_shrink_stops_at_what_is_held_and_falls_later_within_the_sequence(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state)
        state.receive(order(2, 30))
        plan, _ = settle(state, held=80)
        self.assertEqual((80, InForce(2, 80)), (plan.phase_limit_bytes, state.in_force))
        self.assertTrue(state.pending)
        _, told = settle(state, held=80)
        self.assertFalse(told)
        _, told = settle(state, held=50)
        self.assertTrue(told)
        self.assertEqual(InForce(2, 50), state.in_force)
        settle(state, held=60)
        self.assertEqual(InForce(2, 50), state.in_force, "within a sequence it never rises")
        settle(state, held=10)
        self.assertEqual((InForce(2, 30), False), (state.in_force, state.pending))

    def test_never_above_what_was_in_force_before(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state)
        state.receive(order(2, 30))
        settle(state, held=500)
        self.assertEqual(InForce(2, 100), state.in_force)

    def test_a_process_without_a_limit_counts_all_it_holds(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state, held=500)
        self.assertEqual((InForce(1, 500), True), (state.in_force, state.pending))

    def test_a_grow_does_not_care_what_is_held(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state)
        state.receive(order(2, 300))
        settle(state, held=90)
        self.assertEqual((InForce(2, 300), False), (state.in_force, state.pending))


class Phases(unittest.TestCase):
    def test_a_phase_change_switches_the_limit_and_tells_nobody(self):
        state = LimitState()
        state.receive(order(1, 10, FORWARD=50))
        settle(state)
        self.assertEqual((10, InForce(1, 50)), (state.limit_bytes, state.in_force))
        state.enter("FORWARD")
        self.assertTrue(state.needs_settling)
        _, told = settle(state)
        self.assertFalse(told)
        self.assertEqual((50, False), (state.limit_bytes, state.needs_settling))

    def test_in_a_phase_with_a_lower_limit_what_is_held_counts(self):
        state = LimitState()
        state.receive(order(1, 10, FORWARD=50))
        state.enter("FORWARD")
        settle(state)
        state.enter("IDLE")
        settle(state, held=30)
        self.assertEqual((30, InForce(1, 50), True), (state.limit_bytes, state.in_force, state.needs_settling))
        settle(state, held=5)
        self.assertEqual((10, False), (state.limit_bytes, state.needs_settling))

    def test_limits_by_phase(self):
        state = LimitState()
        state.receive(order(1, 10, BACKWARD=50))
        settle(state)
        self.assertEqual(uniform(10, BACKWARD=50), state.limits)


class Resumed(unittest.TestCase):
    def test_what_was_in_force_before_an_exec_still_is(self):
        state = LimitState(InForce(41, 700))
        self.assertEqual((InForce(41, 700), 700, uniform(700)), (state.in_force, state.limit_bytes, state.limits))
        self.assertIs(Receipt.STALE, state.receive(order(40, 900)))

    def test_the_same_order_repeated_brings_the_limits_of_each_phase(self):
        state = LimitState(InForce(41, 700))
        self.assertIs(Receipt.NEW, state.receive(order(41, 100, FORWARD=700)))
        settle(state)
        self.assertEqual((100, InForce(41, 700)), (state.limit_bytes, state.in_force))
        self.assertIs(Receipt.REPEATED, state.receive(order(41, 100, FORWARD=700)))

    def test_the_same_order_cannot_raise_what_was_confirmed(self):
        state = LimitState(InForce(41, 700))
        state.receive(order(41, 900))
        settle(state)
        self.assertEqual((700, InForce(41, 700)), (state.limit_bytes, state.in_force))
        self.assertFalse(state.needs_settling)


class Reconnected(unittest.TestCase):
    def test_an_order_that_was_not_applied_does_not_outlive_the_connection(self):
        state = LimitState()
        state.receive(order(1, 100))
        settle(state)
        state.receive(order(2, 300))
        state.forget_pending()
        self.assertEqual((1, False), (state.newest_sequence, state.needs_settling))
        self.assertIs(Receipt.NEW, state.receive(order(2, 50)), "a worker that lost its ledger counts from the hello")
        settle(state)
        self.assertEqual(InForce(2, 50), state.in_force)

    def test_without_any_limit_it_is_as_new(self):
        state = LimitState()
        state.receive(order(7, 100))
        state.forget_pending()
        self.assertEqual((0, False), (state.newest_sequence, state.needs_settling))

    def test_what_was_in_force_before_an_exec_stays(self):
        state = LimitState(InForce(41, 700))
        state.receive(order(42, 900))
        state.forget_pending()
        self.assertEqual((41, 700), (state.newest_sequence, state.limit_bytes))
        self.assertIs(Receipt.NEW, state.receive(order(41, 100, FORWARD=700)))


class Invariants(unittest.TestCase):
    """Random orders, repeats, phases and holdings; the allocator holds no more than the limit lets it."""

    def test_walk(self):
        for seed in range(300):
            with self.subTest(seed=seed):
                self.walk(random.Random(seed))

    def walk(self, rng):
        state, held, newest = LimitState(), 0, 0
        confirmed = {}
        for _ in range(60):
            before = state.in_force
            action = rng.randrange(4)
            if action == 0:
                sequence = max(1, newest + rng.randrange(-1, 3))
                state.receive(Order(sequence, {phase: rng.randrange(100) for phase in PHASES}))
                newest = max(newest, sequence)
            elif action == 1:
                state.enter(rng.choice(PHASES))
            elif action == 2:
                most = state.limit_bytes if state.limit_bytes is not None else 120
                held = rng.randrange(max(1, max(held, most) + 1)) if rng.random() < 0.8 else held
            if state.needs_settling and rng.random() < 0.6:
                settle(state, held)
                now = state.in_force
                self.assertGreaterEqual(now.limit_bytes, min(held, before.limit_bytes if before else held))
                self.assertLessEqual(state.limit_bytes, now.limit_bytes)
                if before is not None:
                    self.assertGreaterEqual(now.sequence, before.sequence)
                self.assertLessEqual(now.limit_bytes, confirmed.get(now.sequence, now.limit_bytes))
                confirmed[now.sequence] = now.limit_bytes
            self.assertEqual(newest, state.newest_sequence)


if __name__ == "__main__":
    unittest.main()
