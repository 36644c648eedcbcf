"""A step that runs out of memory, with a real torch on the CPU and a worker that directs what the test wants."""

import gc
import sys
import threading
import unittest
import unittest.mock
import weakref

try:
    import torch
except ImportError:
    torch = None
    print("tests.test_steps: skipped, no torch in this Python", file=sys.stderr)

from ullage.allocator import LimitedAllocator
from ullage.errors import OutOfMemoryStop, RestartForMemory, StepAgain
from ullage.shares import ShareBatches

from tests.directives import directive, share_order
from tests.with_worker import WithWorker

TEXT = ("CUDA out of memory. Tried to allocate 258.00 MiB (GPU 0; 15.90 GiB total capacity; 14.88 GiB already"
        " allocated; 193.56 MiB free; 137.33 MiB cached)")


if torch is not None:
    import ullage.torch as ullage_torch
    from ullage.agreement import LoneAgreement
    from ullage.sharing import Sharing

    class Model(torch.nn.Module):
        """Fails in its forward pass as often as a test wants, with a tensor in its frame."""

        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.layer = torch.nn.Linear(3, 1).double()
            self.register_buffer("seen", torch.zeros(1))
            self.failures = 0
            self.sizes = []
            self.witness = None
            self.error = torch.cuda.OutOfMemoryError if hasattr(torch.cuda, "OutOfMemoryError") else RuntimeError

        def forward(self, x):
            activation = torch.ones(1000)
            self.sizes.append(len(x))
            if self.training:
                self.seen += 1
            if self.failures:
                self.failures -= 1
                self.witness = weakref.ref(activation)
                raise self.error(TEXT)
            return self.layer(x)


@unittest.skipIf(torch is None, "python3-torch: no torch in this Python")
class RunOutOfMemory(WithWorker):
    def steps(self, **options):
        self.model = Model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.rank = self.attached(self.connect())
        handle = ullage_torch.attach(self.model, self.optimizer, self.rank, usage=lambda: 1000)
        self.addCleanup(handle.detach)
        return handle.steps(**options)

    def batch(self):
        torch.manual_seed(7)
        return torch.randn(8, 3).double(), torch.randn(8, 1).double()

    def loss(self, part):
        return torch.nn.functional.mse_loss(self.model(part[0]), part[1])

    def direct_on_oom(self, *directives):
        """Says each directive once the report that it answers has come."""
        def answer():
            for count, line in enumerate(directives, 1):
                self.worker.wait_for("oom", count)
                self.worker.say(line)
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 5)

    def test_the_step_is_run_again_as_directed_and_ends_as_one_that_started_so(self):
        expected = self.steps(micro_batch=4)
        wanted = float(expected.run(self.loss, self.batch()))
        weights = self.model.layer.weight.detach().clone()
        steps = self.steps()
        self.model.failures = 1
        self.direct_on_oom(directive())

        loss = float(steps.run(self.loss, self.batch()))

        self.assertAlmostEqual(wanted, loss, places=12)
        self.assertTrue(torch.allclose(weights, self.model.layer.weight, atol=1e-12, rtol=0))
        self.assertEqual([8, 4, 4], self.model.sizes)
        self.assertEqual(2, int(self.model.seen), "what the failed step counted is taken back")
        self.assertEqual((1, 4), (steps.applied, steps.micro_batch))

    def test_what_ran_out_is_reported_and_what_was_done_about_it(self):
        steps = self.steps(simplify=lambda: None)
        self.model.failures = 1
        self.direct_on_oom(directive())

        steps.run(self.loss, self.batch())

        said = self.worker.wait_for("oom")
        self.assertEqual(
            {"sequence": 0, "step": 0, "phase": "FORWARD", "kind": "DEVICE_FULL", "requestedBytes": 258 << 20,
             "baseBytes": 1000, "microBatch": 8, "batch": 8, "levels": ["SIMPLIFY"], "retry": True},
            {key: said[key] for key in ("sequence", "step", "phase", "kind", "requestedBytes", "baseBytes",
                                        "microBatch", "batch", "levels", "retry")})
        done = self.worker.wait_for("directive-applied")
        self.assertEqual((1, 1000, "MICRO_BATCH"), (done["sequence"], done["usedBytes"], done["directive"]["level"]))

    def test_the_failed_steps_tensors_are_gone_before_the_next_try(self):
        steps = self.steps()
        self.model.failures = 1
        self.direct_on_oom(directive())
        alive = []
        gc.disable()
        self.addCleanup(gc.enable)

        def loss(part):
            if self.model.witness is not None:
                alive.append(self.model.witness() is not None)
            return self.loss(part)

        steps.run(loss, self.batch())

        self.assertEqual([False, False], alive)

    def test_two_errors_are_two_moves(self):
        steps = self.steps()
        self.model.failures = 2
        self.direct_on_oom(directive(1, micro=4), directive(2, micro=2))

        steps.run(self.loss, self.batch())

        self.assertEqual([8, 4, 2, 2, 2, 2], self.model.sizes)
        self.assertEqual([0, 1], [said["sequence"] for said in self.worker.heard("oom")])

    def test_uneven_parts_weigh_by_their_samples(self):
        whole = float(self.steps().run(self.loss, self.batch()))
        weights = self.model.layer.weight.detach().clone()

        parts = float(self.steps(micro_batch=3).run(self.loss, self.batch()))

        self.assertAlmostEqual(whole, parts, places=12)
        self.assertTrue(torch.allclose(weights, self.model.layer.weight, atol=1e-12, rtol=0))
        self.assertEqual([3, 3, 2], self.model.sizes)

    def test_without_a_decision_in_time_the_error_is_raised_as_it_is(self):
        steps = self.steps(decide_within=0.2)
        self.model.failures = 1

        with self.assertRaises(self.model.error) as raised:
            steps.run(self.loss, self.batch())

        self.assertIn("258.00 MiB", str(raised.exception))
        self.worker.wait_for("oom")

    def test_other_errors_are_the_users_own_and_no_move(self):
        steps = self.steps()

        with self.assertRaises(ZeroDivisionError):
            steps.run(lambda part: 1 / 0, self.batch())

        self.assertEqual([], self.worker.heard("oom"))

    def test_a_simplification_is_called_once(self):
        calls = []
        steps = self.steps(simplify=lambda: calls.append("simpler"))
        self.model.failures = 1
        self.direct_on_oom(directive(level="SIMPLIFY", micro=None))

        steps.run(self.loss, self.batch())
        self.worker.say(directive(2, level="SIMPLIFY", micro=None))
        self.worker.wait_until(lambda: self.rank.mail.newest.sequence == 2)
        steps.run(self.loss, self.batch())

        self.assertEqual(["simpler"], calls)
        self.assertEqual(2, steps.applied, "a directive nobody here asked for is followed after the step")

    def test_the_last_level_stops_with_the_last_word_after_a_checkpoint(self):
        saved = []
        steps = self.steps(checkpoint=lambda: saved.append(self.rank.step))
        self.model.failures = 1
        self.direct_on_oom(directive(level="STOP", reason="rank 0 ran out: asked for 258 MiB"))

        with self.assertRaisesRegex(OutOfMemoryStop, "rank 0 ran out: asked for 258 MiB"):
            steps.run(self.loss, self.batch())

        self.assertEqual([0], saved)

    def test_a_restart_ends_the_process_with_its_own_code(self):
        steps = self.steps()
        self.model.failures = 1
        self.direct_on_oom(directive(level="RESTART", restart=True))

        with self.assertRaises(RestartForMemory) as raised:
            steps.run(self.loss, self.batch())

        self.assertEqual(83, raised.exception.code)

    def test_a_process_that_starts_later_takes_up_what_its_job_was_told(self):
        calls = []
        steps = self.steps(simplify=lambda: calls.append("simpler"))
        self.worker.say(directive(5, level="RESTART", restart=True, micro=2, done=["SIMPLIFY", "RESTART"],
                                  resumed=True))
        self.worker.wait_until(lambda: self.rank.mail.newest is not None)

        steps.run(self.loss, self.batch())

        self.assertEqual([2, 2, 2, 2], self.model.sizes)
        self.assertEqual((["simpler"], 5), (calls, steps.applied))

    def test_a_step_that_cannot_be_run_again_is_reported_so(self):
        steps = self.steps()
        self.direct_on_oom(directive(level="MICRO_BATCH", restart=True))

        with self.assertRaises(RestartForMemory):
            with steps.watched():
                raise self.model.error(TEXT)

        self.assertFalse(self.worker.wait_for("oom")["retry"])

    def test_an_order_of_shares_ends_no_step_and_is_followed_at_the_next(self):
        steps = self.steps()
        with steps.watched():
            self.worker.say(share_order(1))
            self.assertIsNotNone(self.rank.mail.wait(0, 5))
        with steps.watched():
            self.assertEqual(1, steps.applied)
        self.worker.wait_for("directive-applied", sequence=1)

    def test_an_error_that_an_order_of_shares_overtook_is_reported_under_its_number(self):
        steps = self.steps()
        self.direct_on_oom(share_order(1), directive(2, restart=True))

        with self.assertRaises(RestartForMemory):
            with steps.watched():
                raise self.model.error(TEXT)

        self.assertEqual([0, 1], [line["sequence"] for line in self.worker.heard("oom")])

    def test_a_failed_step_that_an_order_of_shares_overtook_is_run_again_and_reported_again(self):
        steps = self.steps()
        self.model.failures = 2
        self.direct_on_oom(share_order(1), directive(2))

        steps.run(self.loss, self.batch())

        self.assertEqual([8, 8, 4, 4], self.model.sizes)
        self.assertEqual([0, 1], [line["sequence"] for line in self.worker.heard("oom")])

    def test_what_a_larger_part_left_in_the_cache_is_given_back_before_the_first_smaller_one(self):
        allocator = LimitedAllocator()
        rank = self.attached(self.connect(applier=allocator))
        sharing = Sharing(rank, ShareBatches(range(16), 8, 0, 1), LoneAgreement())

        def step(part):
            sharing.began(8, part, None, 0, [], allocator.allocated_bytes)
            allocator.reserve(100 * part)
            allocator.release(100 * part)
            rank.step_done()
            return allocator.held_bytes()

        self.assertEqual([800, 800, 300, 300, 500], [step(part) for part in (8, 8, 3, 3, 5)])

    def test_batches_for_other_ranks_are_refused(self):
        self.steps()
        handle = ullage_torch.attach(self.model, self.optimizer, self.rank)
        self.addCleanup(handle.detach)
        with self.assertRaisesRegex(ValueError, "batches are for a world of 2 and there are 1"):
            handle.steps(batches=ShareBatches(range(8), 4, 0, 2))

    def test_a_watched_step_that_shares_its_batch_needs_it(self):
        with self.steps().watched() as weight:
            self.assertEqual(1.0, weight)
        handle = ullage_torch.attach(self.model, self.optimizer, self.rank)
        self.addCleanup(handle.detach)
        steps = handle.steps(batches=ShareBatches(range(8), 4, 0, 1))
        with self.assertRaisesRegex(ValueError, "steps with batches need the batch"):
            with steps.watched():
                pass
        with steps.watched(self.batch()) as weight:
            self.assertEqual(1.0, weight)

    def test_a_batch_that_is_none_is_the_ranks_own_error(self):
        steps = self.steps()
        with self.assertRaisesRegex(ValueError, "parts of one length"):
            steps.run(self.loss, (torch.ones(2), torch.ones(3)))

    def test_the_last_word_ends_such_a_step_as_well(self):
        steps = self.steps()
        self.direct_on_oom(directive(level="STOP"))

        with self.assertRaises(OutOfMemoryStop):
            with steps.watched():
                raise self.model.error(TEXT)

    def test_an_error_in_the_optimizer_is_not_run_again(self):
        steps = self.steps(decide_within=0.2, before_step=self.fail)

        with self.assertRaises(RuntimeError):
            steps.run(self.loss, self.batch())

        self.assertFalse(self.worker.wait_for("oom")["retry"])

    def fail(self):
        raise RuntimeError(TEXT)

    def test_a_report_is_said_again_to_a_worker_that_was_started_anew(self):
        steps = self.steps(decide_within=10)
        self.model.failures = 1

        def restart():
            self.worker.wait_for("oom")
            self.worker.stop()
            self.worker.start()
            self.worker.wait_for("oom", 2)
            self.worker.say(directive())
        thread = threading.Thread(target=restart, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)

        steps.run(self.loss, self.batch())

        self.assertEqual(1, steps.applied)

    def test_buffers_that_ddp_would_send_around_are_refused(self):
        self.steps()
        self.model.broadcast_buffers = True
        handle = ullage_torch.attach(self.model, self.optimizer, self.rank)
        self.addCleanup(handle.detach)

        with self.assertRaisesRegex(ValueError, "broadcast_buffers=False"):
            handle.steps()


class Collective:
    """One that only an abort ends: with an error, or as if nothing had happened."""

    def __init__(self, error=None, frees=True):
        self._aborted = threading.Event()
        self._error = error
        self._frees = frees
        self.aborts = 0

    def wait(self):
        self._aborted.wait(10)
        if self._error is not None:
            raise self._error

    def abort(self):
        self.aborts += 1
        if self._frees:
            self._aborted.set()
        return True


@unittest.skipIf(torch is None, "python3-torch: no torch in this Python")
class AbortInsideACollective(WithWorker):
    """One rank, whose groups can be aborted by what stands in for torch's own."""

    def steps(self, collective, **options):
        self.rebuilt = []
        for name, fake in (("can_abort", lambda: True), ("abort_groups", collective.abort)):
            patch = unittest.mock.patch("ullage.steps." + name, fake)
            patch.start()
            self.addCleanup(patch.stop)
        model = Model()
        rank = self.attached(self.connect())
        handle = ullage_torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1), rank, usage=lambda: 1000)
        self.addCleanup(handle.detach)
        return handle.steps(rebuild=self.rebuilt.append, **options)

    def interrupted(self, collective, *, line=None, **options):
        steps = self.steps(collective, **options)
        with unittest.mock.patch("ullage.interrupt.RESTART_SECONDS", 0.05):
            with steps.watched():
                self.worker.say(directive(restart=True) if line is None else line)
                collective.wait()
        return steps

    def test_a_collective_that_an_abort_ends_with_an_error_is_a_step_again(self):
        collective = Collective(RuntimeError("NCCL communicator was aborted on rank 0."))
        with self.assertRaises(StepAgain):
            self.interrupted(collective)
        self.assertEqual(([1], 1), (self.rebuilt, collective.aborts))
        self.assertEqual(1, self.worker.wait_for("directive-applied")["sequence"])
        self.assertEqual([], self.worker.heard("oom"), "that is no error of this rank's")

    def test_one_that_ends_as_if_nothing_had_happened_is_one_too(self):
        with self.assertRaises(StepAgain):
            self.interrupted(Collective())
        self.assertEqual([1], self.rebuilt)

    def test_whatever_an_aborted_collective_raises_is_no_error_of_the_users(self):
        with self.assertRaises(StepAgain):
            self.interrupted(Collective(ValueError("Invalid process group specified or has been destroyed.")))

    def test_a_restart_and_a_stop_end_the_process_all_the_same(self):
        for level, ending in (("RESTART", RestartForMemory), ("STOP", OutOfMemoryStop)):
            collective = Collective()
            steps = self.steps(collective)
            self.worker.say(directive(level=level, restart=level == "RESTART"))
            self.worker.wait_until(lambda: steps._rank.mail.newest is not None)
            with self.assertRaises(ending):
                with steps.watched():
                    pass
            self.assertEqual(([], 0), (self.rebuilt, collective.aborts))
            self.tearDown_rank(steps)

    def tearDown_rank(self, steps):
        steps._rank.close()

    def test_groups_that_cannot_be_formed_anew_are_a_restart(self):
        steps = self.steps(Collective())
        steps._options.rebuild = lambda number: 1 / 0
        self.worker.say(directive(restart=True))
        self.worker.wait_until(lambda: steps._rank.mail.newest is not None)
        with self.assertRaises(RestartForMemory) as raised:
            with steps.watched():
                pass
        self.assertIn("could not be formed anew: division by zero", raised.exception.reason)
