"""Limits that a framework takes at its start only: the arithmetic, the variables, and what is confirmed afterwards."""

import json
import os
import subprocess
import sys
import threading
import types
import unittest
from fractions import Fraction
from pathlib import Path
from unittest import mock

import ullage
import ullage.horovod
import ullage.jax
from ullage.errors import LaunchError, UllageError
from ullage.fixed import FixedLimit, Unlimited, allocator_bytes, exact_ratio, granted_bytes, hold, part_of
from ullage.state import InForce, LimitState, Order

from tests.fake_worker import FakeWorker, uniform
from tests.with_worker import WithWorker

ROOT = Path(__file__).resolve().parent.parent
GIB = 1 << 30
MIB = 1 << 20


class Arithmetic(unittest.TestCase):
    def test_a_ratio_is_exact_and_within_range(self):
        self.assertEqual([Fraction(1, 10), Fraction(1), Fraction(3, 4), Fraction(1, 3)],
                         [exact_ratio(0.1), exact_ratio(1), exact_ratio("0.75"), exact_ratio(Fraction(1, 3))])
        for bad in (0, -0.5, 1.01, float("nan"), float("inf"), "half", "1/0", None):
            with self.assertRaisesRegex(ValueError, "above 0 and at most 1"):
                exact_ratio(bad)
        self.assertEqual(8589934591, part_of(85899345919, exact_ratio(0.1)))

    def test_the_overhead_comes_off_and_must_leave_something(self):
        self.assertEqual(MIB, allocator_bytes(513 * MIB, 512 * MIB))
        with self.assertRaisesRegex(UllageError, "refused a limit of 104857600 bytes: the process needs 450887680"):
            allocator_bytes(100 * MIB, 430 * MIB)
        with self.assertRaisesRegex(ValueError, "must be 0 or more"):
            allocator_bytes(GIB, -1)


class PassedOn(WithWorker):
    """What an ``exec`` had in force when it became this process."""

    def rank(self):
        passed = {"ULLAGE_JOB": "passed", "ULLAGE_IN_FORCE": f"1:{GIB}:{os.getpid()}"}
        rank = ullage.connect(self.worker.path, environ=passed)
        self.addCleanup(rank.close)
        return rank

    def test_the_workers_newest_counts_though_it_comes_a_little_later(self):
        self.worker.limits = None
        rank = self.rank()
        later = threading.Timer(0.2, lambda: self.worker.order(2, uniform(2 * GIB)))
        later.start()
        self.addCleanup(later.join)
        self.assertEqual(2 * GIB, granted_bytes(rank, 5.0))

    def test_of_a_worker_that_says_nothing_and_of_none_it_stays(self):
        self.worker.limits = None
        with mock.patch("ullage.client.NEWS_SECONDS", 0.1):
            rank = self.rank()
            self.assertEqual(GIB, granted_bytes(rank, 5.0))
        self.worker.stop()
        self.worker.wait_until(lambda: not rank.connected)
        self.assertEqual(GIB, granted_bytes(rank, 60.0))


class JaxVariables(unittest.TestCase):
    def test_the_fraction_is_of_the_total_and_never_passes_the_limit(self):
        self.assertEqual({"XLA_CLIENT_MEM_FRACTION": "0.368750", "XLA_PYTHON_CLIENT_PREALLOCATE": "true"},
                         ullage.jax.environment(30 * GIB, 80 * GIB))
        for total in (80 * GIB, 85_029_158_912, 11_523_260_416):
            for limit in range(GIB, total, 987_654_321):
                fraction = ullage.jax.environment(limit, total)["XLA_CLIENT_MEM_FRACTION"]
                self.assertLessEqual(int(fraction.replace(".", "")) * total, (limit - 512 * MIB) * 10 ** 6)

    def test_a_card_of_11_gib_whose_process_used_1_gib_beside_its_allocator(self):
        """https://github.com/pytorch/pytorch/issues/58466: half of 10,989 MiB as the fraction, 6,509 MiB in use."""
        settings = ullage.jax.environment(5494 * MIB, 10989 * MIB, overhead_bytes=1015 * MIB)
        self.assertEqual("0.407589", settings["XLA_CLIENT_MEM_FRACTION"])

    def test_what_jax_could_not_start_with_is_refused(self):
        for limit, total, why in ((80 * GIB, 80 * GIB, "1.0 and more fails"), (90 * GIB, 80 * GIB, "1.0 and more"),
                                  (GIB, 0, "above 0"), (MIB, 1 << 50, "it is 0")):
            with self.assertRaisesRegex(UllageError, why):
                ullage.jax.environment(limit, total, overhead_bytes=0)

    def test_what_the_user_set_stays_under_either_name(self):
        settings = ullage.jax.environment(30 * GIB, 80 * GIB)
        for name in ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"):
            self.assertEqual({"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, ullage.jax.missing(settings, {name: ".4"}))


class Prepare(WithWorker):
    def setUp(self):
        super().setUp()
        self.worker.sequence, self.worker.limits = 1, uniform(30 * GIB)
        patch = mock.patch.dict(os.environ)
        patch.start()
        self.addCleanup(patch.stop)
        for name in ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE"):
            os.environ.pop(name, None)

    def test_a_real_device_sets_the_variables_of_this_process(self):
        self.worker.device_kind = "discrete"
        settings = ullage.jax.prepare(self.connect(), preallocate=False)
        self.assertEqual({"XLA_CLIENT_MEM_FRACTION": "0.368750", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, settings)
        self.assertEqual("0.368750", os.environ["XLA_CLIENT_MEM_FRACTION"])

    def test_a_simulated_device_or_no_limit_sets_nothing(self):
        self.assertEqual({}, ullage.jax.prepare(self.connect()))
        self.worker.device_kind, self.worker.limits = "discrete", None
        self.assertEqual({}, ullage.jax.prepare(self.connect(rank=1), timeout=0.1))

    def test_after_jax_was_imported_it_needs_a_restart(self):
        with mock.patch.dict(sys.modules, {"jax": types.ModuleType("jax")}):
            with self.assertRaisesRegex(UllageError, "needs restart"):
                ullage.jax.prepare(self.connect())


class Confirmed(WithWorker):
    """What a rank with a fixed limit says to orders that it cannot follow."""

    def setUp(self):
        super().setUp()
        self.worker.sequence, self.worker.limits = 1, uniform(10 * GIB)
        self.rank = self.connect()
        self.assertEqual(10 * GIB, granted_bytes(self.rank, 5.0))

    def order(self, sequence, **limits):
        self.worker.order(sequence, uniform(**limits))
        return self.worker.wait_for("confirm", sequence=sequence)

    def test_orders_below_and_above_leave_what_is_fixed_in_force(self):
        self.assertTrue(hold(self.rank, FixedLimit("It", 10 * GIB), Unlimited()))
        for sequence, limit in ((2, 4 * GIB), (3, 20 * GIB), (4, 12 * GIB), (5, GIB)):
            confirm = self.order(sequence, limit_bytes=limit)
            self.assertEqual((10 * GIB, "env", {"limitBytes": limit, "reason": "It fixes its limit when it starts"}),
                             (confirm["limitBytes"], confirm["enforcedBy"], confirm["needsRestart"]))
            self.assertEqual(10 * GIB, self.rank.enter_phase("forward"))
        confirm = self.order(6, limit_bytes=GIB, OPTIMIZER=10 * GIB)
        self.assertNotIn("needsRestart", confirm)
        self.assertEqual({10 * GIB}, {self.rank.enter_phase(phase) for phase in ullage.PHASES})

    def test_a_part_of_the_limit_is_confirmed_as_that_part(self):
        hold(self.rank, FixedLimit("It", 5 * GIB, Fraction(1, 2)), Unlimited())
        self.assertNotIn("needsRestart", self.worker.wait_for("confirm", sequence=1, enforcedBy="env",
                                                              limitBytes=5 * GIB))
        self.assertEqual(4 * GIB, self.order(2, limit_bytes=8 * GIB)["needsRestart"]["limitBytes"])

    def test_a_shrink_that_came_while_the_framework_started_is_not_called_enforced(self):
        limit = FixedLimit("It", 10 * GIB)
        self.order(2, limit_bytes=4 * GIB)
        self.assertFalse(hold(self.rank, limit, Unlimited()))
        self.worker.wait_for("confirm", sequence=2, limitBytes=4 * GIB, enforcedBy="advisory", needsRestart={
            "limitBytes": 4 * GIB, "reason": "a smaller limit came while the framework started"})

    def test_a_new_connection_says_what_is_in_force_and_that_nothing_can_be_applied_live(self):
        hold(self.rank, FixedLimit("It", 10 * GIB), Unlimited())
        self.order(2, limit_bytes=4 * GIB)
        self.worker.stop()
        self.worker.start()
        hello = self.worker.wait_for("hello", 2, timeout=10)
        self.assertEqual(({"sequence": 2, "limitBytes": 10 * GIB}, []), (hello["inForce"], hello["canEnforce"]))

    def test_the_state_never_passes_what_is_fixed(self):
        state = LimitState(InForce(1, 10))
        state.receive(Order(2, uniform(20)))
        self.assertEqual((InForce(2, 10), 10), (state.plan(10, 10).in_force, state.plan(10, 10).phase_limit_bytes))
        self.assertEqual(InForce(2, 20), state.plan(10).in_force, "without it the order counts")


class Horovod(unittest.TestCase):
    """With what ``horovodrun`` sets, and with the functions of a Horovod module; Horovod itself has no wheels."""

    RUN = {"HOROVOD_RANK": "3", "HOROVOD_SIZE": "8", "HOROVOD_LOCAL_RANK": "1", "HOROVOD_LOCAL_SIZE": "2",
           "HOROVOD_GLOO_RENDEZVOUS_ADDR": "10.0.0.1", "HOROVOD_GLOO_RENDEZVOUS_PORT": "4321"}

    def setUp(self):
        self.worker = FakeWorker(sequence=1, limits=uniform(10 * GIB - 1))
        self.addCleanup(self.worker.__exit__)
        others = ("HOROVOD_", "ULLAGE_", "OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        patch = mock.patch.dict(os.environ, dict(clean, ULLAGE_SOCKET=self.worker.path), clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def module(self, initialized=True):
        return types.SimpleNamespace(is_initialized=lambda: initialized, rank=lambda: 3, size=lambda: 8,
                                     local_rank=lambda: 1, local_size=lambda: 2)

    def limit(self, *arguments, **options):
        self.addCleanup(lambda: ullage.current() and ullage.current().close())
        return ullage.horovod.limit_mib(*arguments, timeout=5.0, **options)

    def test_the_variables_name_the_rank_and_the_limit_is_rounded_down(self):
        os.environ.update(self.RUN)
        self.assertEqual(10 * 1024 - 1, self.limit())
        hello = self.worker.wait_for("hello")
        self.assertEqual((3, 8, 1, "horovod", "10.0.0.1:4321"),
                         (hello["rank"], hello["worldSize"], hello["localRank"], hello["launcher"], hello["job"]))

    def test_the_module_names_the_rank_where_the_variables_do_not(self):
        self.assertEqual(5 * 1024 - 1 - 512, self.limit(self.module(), ratio=0.5, overhead_bytes=512 * MIB))
        hello = self.worker.wait_for("hello")
        self.assertEqual((3, 8, 1, "horovod"),
                         (hello["rank"], hello["worldSize"], hello["localRank"], hello["launcher"]))

    def test_a_contradiction_or_a_module_that_is_not_ready_is_an_error(self):
        os.environ.update(self.RUN, HOROVOD_RANK="2")
        with self.assertRaises(LaunchError) as caught:
            self.limit(self.module())
        self.assertEqual(("HOROVOD_RANK=2: Horovod itself says 3",), caught.exception.problems)
        with self.assertRaisesRegex(LaunchError, "hvd.init"):
            self.limit(self.module(initialized=False))

    def test_no_limit_is_none_and_not_0(self):
        self.worker.limits = None
        self.assertIsNone(ullage.horovod.limit_mib(self.module(), timeout=0.1))
        ullage.current().close()


class ExecWithAFramework(unittest.TestCase):
    SHOW = "import os, json; print(json.dumps(dict(os.environ)))"

    def run_exec(self, framework, limit, kind="discrete", **env):
        with FakeWorker(sequence=1, limits=uniform(limit)) as worker:
            worker.device_kind = kind
            clean = {name: value for name, value in os.environ.items()
                     if not name.startswith(("XLA_", "TF_", "PYTORCH_", "ULLAGE_"))}
            result = subprocess.run(
                [sys.executable, "-m", "ullage", "exec", "--framework", framework, "--",
                 sys.executable, "-c", self.SHOW],
                env=dict(clean, ULLAGE_SOCKET=worker.path, PYTHONPATH=str(ROOT), **env), cwd="/", capture_output=True,
                text=True, timeout=30, check=True)
        return json.loads(result.stdout), result.stderr

    def test_jax_gets_its_variables_less_the_overhead_before_it_starts(self):
        env, err = self.run_exec("jax", 30 * GIB)
        self.assertEqual(("0.368750", "true", ""), (env["XLA_CLIENT_MEM_FRACTION"],
                                                    env["XLA_PYTHON_CLIENT_PREALLOCATE"], err))
        env, _ = self.run_exec("jax", 30 * GIB, XLA_PYTHON_CLIENT_MEM_FRACTION=".3")
        self.assertNotIn("XLA_CLIENT_MEM_FRACTION", env)
        env, _ = self.run_exec("jax", 30 * GIB, kind="simulated")
        self.assertNotIn("XLA_CLIENT_MEM_FRACTION", env)

    def test_a_whole_device_is_refused_for_jax_and_said(self):
        env, err = self.run_exec("jax", 81 * GIB)
        self.assertIn("1.0 and more fails when it starts", err)
        self.assertNotIn("XLA_CLIENT_MEM_FRACTION", env)

    def test_tensorflow_gets_a_number_for_its_logical_device_and_no_growth(self):
        env, err = self.run_exec("tensorflow", 30 * GIB + 5, TF_FORCE_GPU_ALLOW_GROWTH="true", ULLAGE_ALLOCATOR_MIB="7")
        self.assertEqual(str(30 * 1024 - 512), env["ULLAGE_ALLOCATOR_MIB"])
        self.assertNotIn("TF_FORCE_GPU_ALLOW_GROWTH", env)
        self.assertIn("TF_FORCE_GPU_ALLOW_GROWTH is dropped", err)


if __name__ == "__main__":
    unittest.main()
