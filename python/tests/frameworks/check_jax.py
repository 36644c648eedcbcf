"""``ullage.jax`` with the real JAX: what it makes of the variables, and a training on the CPU under a real worker."""

import os
import subprocess
import sys
import types
import unittest

import ullage
import ullage.jax

from tests.fake_worker import FakeWorker, uniform
from tests.frameworks.support import GIB, FrameworkTest, WithRealWorker


class Training(WithRealWorker):
    def test_on_a_cpu_it_trains_and_reports_and_claims_nothing(self):
        program = self.start("train_jax.py", self.worker.socket, exec_options=["--job", "jax", "--framework", "jax"])
        said = program.hear()
        self.assertLess(said["losses"][1], said["losses"][0] / 100)
        self.assertEqual(({}, False, "None", "cpu"),
                         (said["settings"], said["enforced"], said["usage"], said["platform"]))
        self.assertIn("needs restart", said["late"])
        rank = self.worker.wait_for_rank("jax", lambda rank: rank["step"] == 50 and rank["phase"] == "IDLE", "50 steps")
        self.assertEqual(("advisory", None, None), (rank["enforcedBy"], rank["usedBytes"], rank["needsRestart"]))
        self.worker.set_share("jax", "50%")
        rank = self.worker.wait_for_rank("jax", lambda rank: rank["shareBasisPoints"] == 5000 and rank["settled"],
                                         "half a share, which an advisory rank accepts")
        self.assertEqual(rank["targetBytes"], rank["ceilingBytes"])
        program.go_on()
        self.assertEqual(0, program.end()[0])


class Variables(unittest.TestCase):
    def test_jax_reads_them_as_they_are_meant(self):
        for preallocate in (True, False):
            settings = ullage.jax.environment(30 * GIB, 80 * GIB, preallocate=preallocate)
            code = ("from jaxlib import xla_client; options = xla_client.generate_pjrt_gpu_plugin_options(); "
                    "print(options['memory_fraction'], options['preallocate'])")
            clean = {name: value for name, value in os.environ.items() if not name.startswith("XLA_")}
            read = subprocess.run([sys.executable, "-c", code], env=dict(clean, **settings), check=True,
                                  capture_output=True, text=True, timeout=60).stdout.split()
            self.assertEqual([str(float(settings["XLA_CLIENT_MEM_FRACTION"])), str(preallocate)], read)
            self.assertLessEqual(float(read[0]) * 80 * GIB, 29.5 * GIB)


class Allocator(FrameworkTest):
    """What ``attach`` makes of what an allocator says; a stand-in says it, in the words of a GPU's."""

    def setUp(self):
        self.worker = FakeWorker(sequence=1, limits=uniform(10 * GIB))
        self.addCleanup(self.worker.__exit__)
        self.rank = ullage.connect(self.worker.path, job=self.id()[-60:])
        self.addCleanup(self.rank.close)

    def attach(self, **stats):
        device = types.SimpleNamespace(platform="gpu", memory_stats=lambda: stats)
        return ullage.jax.attach(self.rank, device=device, overhead_bytes=GIB)

    def test_a_limit_that_the_allocator_confirms_is_enforced_and_fixed(self):
        memory = self.attach(bytes_limit=9 * GIB, bytes_in_use=5, peak_bytes_in_use=7, pool_bytes=6)
        self.assertTrue(memory.enforced)
        self.worker.wait_for("confirm", enforcedBy="env", limitBytes=10 * GIB)
        with memory.step():
            self.assertEqual("FORWARD", self.rank.current_phase)
        self.worker.wait_for("usage", allocatedBytes=5, reservedBytes=6, peakAllocatedBytes=7, peakReservedBytes=None)
        self.worker.order(2, uniform(4 * GIB))
        confirm = self.worker.wait_for("confirm", sequence=2)
        self.assertEqual((10 * GIB, {"limitBytes": 4 * GIB, "reason": "JAX fixes its limit when it starts"}),
                         (confirm["limitBytes"], confirm["needsRestart"]))

    def test_a_limit_above_the_ranks_is_not_enforced(self):
        self.assertFalse(self.attach(bytes_limit=9 * GIB + 1).enforced)
        self.rank.safe_point()
        self.worker.wait_until(lambda: any("needsRestart" in message for message in self.worker.heard("confirm")))
        confirm = self.worker.heard("confirm")[-1]
        self.assertEqual("advisory", confirm["enforcedBy"])
        self.assertIn("more than the limit", confirm["needsRestart"]["reason"])

    def test_an_allocator_without_a_limit_is_not_enforced(self):
        self.assertFalse(self.attach(bytes_in_use=1).enforced)
        self.worker.wait_until(lambda: any("needsRestart" in message for message in self.worker.heard("confirm")))
        self.assertEqual("advisory", self.worker.heard("confirm")[-1]["enforcedBy"])

    def test_a_step_that_fails_is_not_counted_and_leaves_the_phase(self):
        memory = self.attach()
        with self.assertRaises(ZeroDivisionError), memory.step():
            raise ZeroDivisionError
        self.assertEqual((0, "IDLE"), (self.rank.step, self.rank.current_phase))


if __name__ == "__main__":
    unittest.main()
