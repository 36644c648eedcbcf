"""The torch hooks with a real torch on the CPU, and the CUDA path with a stand-in for ``torch.cuda``."""

import dataclasses
import sys
import types
import unittest
from unittest import mock

try:
    import torch
except ImportError:
    torch = None
    print("tests.test_torch: skipped, no torch in this Python", file=sys.stderr)

import ullage

from tests.fake_worker import FakeWorker, uniform

GIB = 1 << 30

if torch is not None:
    import ullage.torch as ullage_torch

    @dataclasses.dataclass
    class Output:
        logits: object
        extra: object = None

    class Model(torch.nn.Module):
        """A linear layer whose output comes in whatever wrapping the test wants."""

        def __init__(self, wrap=lambda y: y):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.wrap = wrap

        def forward(self, x):
            return self.wrap(self.layer(x))

    class RecordingRank:
        """Stands in for a rank where only the phases matter."""

        def __init__(self):
            self.entered = []
            self.steps = 0
            self.current_phase = "INIT"

        def enter_phase(self, phase):
            self.current_phase = phase
            self.entered.append(phase)

        def step_done(self):
            self.steps += 1

    class FakeCuda:
        """What the client uses of ``torch.cuda``, for one device of 80 GiB with torch's own checks."""

        def __init__(self):
            self.total_memory = 80 * GIB
            self.fractions = []
            self.reserved = 0
            self.cached = 0
            self.emptied = 0
            self.resets = 0
            self.backend = "native"

        def is_available(self):
            return True

        def current_device(self):
            return 0

        def get_device_properties(self, device):
            return types.SimpleNamespace(total_memory=self.total_memory)

        def get_allocator_backend(self):
            return self.backend

        def memory_reserved(self, device):
            return self.reserved

        def empty_cache(self):
            self.emptied += 1
            self.reserved -= self.cached
            self.cached = 0

        def memory_stats(self, device):
            return {"allocated_bytes.all.current": 1, "reserved_bytes.all.current": self.reserved,
                    "allocated_bytes.all.peak": 3, "reserved_bytes.all.peak": 4, "num_ooms": 5}

        def memory_stats_as_nested_dict(self, device):
            return {"allocated_bytes": {"all": {"current": 1, "peak": 3}}, "num_ooms": 5,
                    "reserved_bytes": {"all": {"current": self.reserved, "peak": 4}}}

        def memory_snapshot(self):
            return [{"device": 0, "total_size": 9, "blocks": [{"size": 6, "state": "inactive"}]}]

        def reset_peak_memory_stats(self, device):
            self.resets += 1

        def set_per_process_memory_fraction(self, fraction, device=None):
            if not isinstance(fraction, float):
                raise TypeError("Invalid type for fraction argument, must be `float`")
            if not 0 <= fraction <= 1:
                raise ValueError("Invalid fraction value")
            self.fractions.append(fraction)


@unittest.skipIf(torch is None, "no torch in this Python")
class Phases(unittest.TestCase):
    def setUp(self):
        self.rank = RecordingRank()

    def train(self, model, loss_of=lambda y: y.sum(), optimizer_class=None, steps=1):
        optimizer = (optimizer_class or torch.optim.SGD)(model.parameters(), lr=0.1)
        handle = ullage_torch.attach(model, optimizer, self.rank)
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model(torch.ones(2, 4))).backward()
            optimizer.step()
        return optimizer, handle

    def test_a_step_is_forward_backward_optimizer_idle(self):
        self.train(Model(), optimizer_class=torch.optim.Adam, steps=2)
        self.assertEqual(["FORWARD", "BACKWARD", "OPTIMIZER", "IDLE"] * 2, self.rank.entered)
        self.assertEqual(2, self.rank.steps)

    def test_outputs_in_every_wrapping(self):
        class Plain:
            def __init__(self, y):
                self.inner = {"a": [y]}

        for wrap, loss_of in (
                (lambda y: (y, None), lambda o: o[0].sum()),
                (lambda y: [1, {"deep": (y,)}], lambda o: o[1]["deep"][0].sum()),
                (lambda y: Output(logits=y), lambda o: o.logits.sum()),
                (Plain, lambda o: o.inner["a"][0].sum())):
            self.rank = RecordingRank()
            with self.subTest(wrap=wrap):
                self.train(Model(wrap), loss_of)
                self.assertEqual(["FORWARD", "BACKWARD", "OPTIMIZER", "IDLE"], self.rank.entered)

    def test_without_gradients_or_in_eval_mode_it_is_evaluation(self):
        model = Model()
        ullage_torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1), self.rank)
        with torch.no_grad():
            model(torch.ones(1, 4))
        model.eval()
        model(torch.ones(1, 4))
        self.assertEqual(["EVALUATION", "IDLE"] * 2, self.rank.entered)

    def test_an_evaluation_of_the_user_is_not_ended_by_the_hooks(self):
        model = Model().eval()
        ullage_torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1), self.rank)
        self.rank.enter_phase("EVALUATION")
        model(torch.ones(1, 4))
        self.assertEqual("EVALUATION", self.rank.current_phase)

    def test_accumulation_goes_forward_again(self):
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        ullage_torch.attach(model, optimizer, self.rank)
        for _ in range(2):
            model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        self.assertEqual(["FORWARD", "BACKWARD"] * 2 + ["OPTIMIZER", "IDLE"], self.rank.entered)

    def test_gradients_are_as_without_the_hooks(self):
        torch.manual_seed(1)
        marked = Model()
        plain = Model()
        plain.load_state_dict(marked.state_dict())
        self.train(marked, steps=3)
        optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            plain(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        for a, b in zip(marked.parameters(), plain.parameters()):
            self.assertTrue(torch.equal(a, b))

    def test_schedulers_work_before_and_after(self):
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        before = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        handle = ullage_torch.attach(model, optimizer, self.rank)
        after = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        before.step()
        after.step()
        self.assertEqual(1, self.rank.steps)
        handle.detach()
        optimizer.step()
        self.assertEqual(1, self.rank.steps)

    def test_detach_removes_every_hook(self):
        model = Model()
        optimizer, handle = self.train(model)
        output = model(torch.ones(1, 4)).sum()
        handle.detach()
        handle.detach()
        count = len(self.rank.entered)
        output.backward()
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        self.assertEqual(count, len(self.rank.entered))
        self.assertEqual((0, 0), (len(model._forward_pre_hooks), len(model._forward_hooks)))
        self.assertNotIn("marked", repr(optimizer.__dict__.get("step")))

    def test_two_optimizers(self):
        model = Model()
        both = [torch.optim.SGD([p], lr=0.1) for p in model.parameters()]
        ullage_torch.attach(model, both, self.rank)
        model(torch.ones(1, 4)).sum().backward()
        for optimizer in both:
            optimizer.step()
        self.assertEqual(["FORWARD", "BACKWARD"] + ["OPTIMIZER", "IDLE"] * 2, self.rank.entered)

    def test_a_closure_is_passed_through(self):
        model = Model()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=1)
        ullage_torch.attach(model, optimizer, self.rank)

        def closure():
            optimizer.zero_grad()
            loss = model(torch.ones(1, 4)).pow(2).sum()
            loss.backward()
            return loss

        self.assertGreater(float(optimizer.step(closure)), 0)
        self.assertEqual(["OPTIMIZER", "FORWARD", "BACKWARD"], self.rank.entered[:3])
        self.assertEqual("IDLE", self.rank.entered[-1])


@unittest.skipIf(torch is None, "no torch in this Python")
class WithoutCuda(unittest.TestCase):
    def test_nothing_enforces_it_and_usage_is_what_it_is_told(self):
        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        with FakeWorker(sequence=1, limits=uniform(100)) as worker, \
                ullage.connect(worker.path, environ={"ULLAGE_JOB": "cpu"}) as rank:
            rank.wait_for_limit(5)
            ullage_torch.attach(model, optimizer, rank, usage=lambda: ullage_torch.tensor_bytes(model, optimizer))
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()
            usage = worker.wait_for("usage")
            self.assertEqual("advisory", worker.wait_for("confirm")["enforcedBy"])
            self.assertIn("torch", worker.wait_for("hello")["framework"])
            self.assertGreater(usage["allocatedBytes"], 0)
            self.assertIsNone(usage["reservedBytes"])

    def test_without_a_source_no_usage_is_reported(self):
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with FakeWorker() as worker, ullage.connect(worker.path, environ={"ULLAGE_JOB": "cpu2"}) as rank:
            ullage_torch.attach(model, optimizer, rank)
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()
            rank.close()
            worker.wait_for("bye")
            self.assertEqual([], worker.heard("usage"))

    def test_tensor_bytes(self):
        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        self.assertEqual(20 * 4, ullage_torch.tensor_bytes(model))
        model(torch.ones(1, 4)).sum().backward()
        self.assertEqual(2 * 20 * 4, ullage_torch.tensor_bytes(model, optimizer))
        optimizer.step()
        self.assertGreaterEqual(ullage_torch.tensor_bytes(model, optimizer), 4 * 20 * 4)


@unittest.skipIf(torch is None, "no torch in this Python")
class WithCuda(unittest.TestCase):
    def setUp(self):
        self.cuda = FakeCuda()
        patches = [mock.patch.object(ullage_torch.torch, "cuda", self.cuda),
                   mock.patch.object(ullage_torch, "_cuda_device", lambda model: 0)]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.worker = FakeWorker(sequence=1, limits=uniform(40 * GIB))
        self.addCleanup(self.worker.__exit__)
        self.rank = ullage.connect(self.worker.path, environ={"ULLAGE_JOB": self.id()[-60:]})
        self.addCleanup(self.rank.close)
        self.rank.wait_for_limit(5)

    def attach(self, **options):
        model = Model()
        return ullage_torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1), self.rank, **options)

    def order(self, sequence, limit, **more):
        self.worker.order(sequence, uniform(limit), **more)
        self.worker.wait_until(lambda: self.rank._state.newest_sequence == sequence)

    def test_the_limit_becomes_a_fraction(self):
        self.attach()
        self.assertEqual([0.5], self.cuda.fractions)
        self.worker.wait_for("confirm", enforcedBy="torch", limitBytes=40 * GIB, heldBytes=0)

    def test_a_shrink_waits_for_a_boundary_gives_the_cache_back_and_tells_what_is_held(self):
        self.attach()
        self.cuda.reserved, self.cuda.cached = 30 * GIB, 5 * GIB
        self.order(2, 20 * GIB)
        self.assertEqual([0.5], self.cuda.fractions)
        self.rank.enter_phase("forward")
        self.assertEqual(1, self.cuda.emptied)
        self.worker.wait_for("confirm", sequence=2, limitBytes=25 * GIB, heldBytes=25 * GIB)
        self.cuda.reserved = 10 * GIB
        self.rank.enter_phase("backward")
        self.worker.wait_for("confirm", sequence=2, limitBytes=20 * GIB, heldBytes=10 * GIB)
        self.assertEqual([0.5, 25 / 80, 0.25], self.cuda.fractions)

    def test_the_cache_stays_when_it_fits_or_when_release_was_declined(self):
        self.attach(release=False)
        self.cuda.reserved, self.cuda.cached = 30 * GIB, 5 * GIB
        self.order(2, 35 * GIB)
        self.rank.enter_phase("forward")
        self.order(3, 20 * GIB)
        self.rank.enter_phase("backward")
        self.assertEqual(0, self.cuda.emptied)
        self.worker.wait_for("confirm", sequence=3, limitBytes=30 * GIB)

    def test_what_the_process_uses_beside_torch_is_taken_off_the_fraction(self):
        self.attach()
        self.cuda.reserved = 10 * GIB
        self.worker.order(1, uniform(40 * GIB), overheadBytes=2 * GIB, overheadProvisional=True)
        self.worker.wait_until(lambda: self.rank._overhead_due)
        self.assertEqual([0.5], self.cuda.fractions)  # torch is touched at safe points only
        self.rank.enter_phase("forward")
        self.assertEqual([0.5, 38 / 80], self.cuda.fractions)
        self.rank.enter_phase("backward")
        self.assertEqual([0.5, 38 / 80], self.cuda.fractions)
        # A measured one is told with the same order; what is held counts it too.
        self.order(2, 11 * GIB, overheadBytes=3 * GIB)
        self.rank.enter_phase("forward")
        self.worker.wait_for("confirm", sequence=2, limitBytes=13 * GIB, heldBytes=13 * GIB)
        self.assertEqual([0.5, 38 / 80, 10 / 80], self.cuda.fractions)

    def test_an_overhead_above_the_limit_leaves_torch_nothing_and_no_less(self):
        self.worker.order(1, uniform(40 * GIB), overheadBytes=41 * GIB)
        self.worker.wait_until(lambda: self.rank._overhead_bytes == 41 * GIB)
        self.attach()
        self.assertEqual([0.0], self.cuda.fractions)

    def test_case_c01_an_allocators_fraction_is_no_limit_of_the_process(self):
        mib = 1 << 20
        self.cuda.total_memory = 10989 * mib
        applier = ullage_torch.TorchApplier(0)
        applier.use_overhead(int(1014.5 * mib))
        applier.apply(5494 * mib, "FORWARD")
        fraction = self.cuda.fractions[-1]
        self.assertLessEqual(fraction, 0.4077)
        self.assertLessEqual(int(fraction * 10989 * mib) + int(1014.5 * mib), 5494 * mib)
        self.assertGreater(fraction, 0.4076)
        # Rounded up to whole steps, as the worker measures it, it is what the case allows.
        applier.use_overhead(1024 * mib)
        applier.apply(5494 * mib, "FORWARD")
        self.assertLessEqual(self.cuda.fractions[-1], 0.4076)

    def test_usage_is_torchs_own(self):
        self.attach()
        self.rank.step_done()
        self.worker.wait_for("usage", allocatedBytes=1, reservedBytes=0, peakAllocatedBytes=3, peakReservedBytes=4,
                             refusals=5)

    def test_an_allocator_that_does_not_count_reports_nothing_rather_than_0(self):
        self.cuda.backend = "cudaMallocAsync"
        self.attach()
        applier = self.rank.applier
        self.assertEqual((None, None, None), (applier.held_bytes(), applier.usage(), applier.watched()))

    def test_each_phase_is_watched_and_torchs_peaks_are_reset_only_when_asked(self):
        self.attach()
        self.rank.step_done()
        self.worker.wait_for("phase-summary", step=1, allocatedBytes=1, ooms=5, requestedBytes=None,
                             phases={"INIT": {"peakReservedBytes": 4, "peakAllocatedBytes": 3}})
        self.assertEqual(0, self.cuda.resets)
        self.attach(reset_peaks=True)
        self.rank.enter_phase("forward")
        self.rank.enter_phase("backward")
        self.assertEqual(2, self.cuda.resets)
        self.assertEqual((1, 6), self.rank.applier.layout()[:2])

    def test_fractions_are_floats_within_range_and_never_a_byte_above(self):
        fraction_of = ullage_torch.fraction_of
        for total in (80 * GIB, 85_029_158_912, 3, 1):
            for limit in (0, 1, 2, total // 3, total - 1, total, total + 5, 12_345_678_901):
                fraction = fraction_of(limit, total)
                self.assertIsInstance(fraction, float)
                self.assertTrue(0.0 <= fraction <= 1.0)
                self.assertLessEqual(int(fraction * total), limit)


if __name__ == "__main__":
    unittest.main()
