"""``ullage.tensorflow`` with the real TensorFlow: its own checks, and what its runtime is started with.

There is no GPU here, so the programs put GPUs into TensorFlow's list (``programs/common.py``). Whether a GPU's
allocator then keeps to the limit is for a machine with one.
"""

import json
from pathlib import Path

from tests.fake_worker import FakeWorker, uniform
from tests.frameworks.support import GIB, MIB, FrameworkTest, Program

#: Adapted from https://github.com/tensorflow/tensorflow/issues/38367: growth and a limit exclude each other.
CASES = {json.dumps(case["request"], sort_keys=True): case["request"] for case in
         json.loads((Path(__file__).parent / "tf-cases.json").read_text(encoding="utf-8"))}


class Configure(FrameworkTest):
    @classmethod
    def setUpClass(cls):
        cls.program = Program("tf_configure.py", "/nonexistent/ranks.sock")
        cls.addClassCleanup(cls.program.close)

    def setUp(self):
        self.worker = FakeWorker(sequence=1, limits=uniform(10 * GIB))
        self.addCleanup(self.worker.__exit__)

    def begin(self, gpus=1, worker=True, wish=None, **arguments):
        """Has a fork of the program configure TensorFlow; the end of the test is the fork's."""
        socket = self.worker.path if worker else "/nonexistent/ranks.sock"
        self.program.go_on(dict(wish or {}, gpus=gpus, socket=socket, job=self.id()[-60:], configure=arguments))

    def configure(self, **arguments):
        self.begin(**arguments)
        self.addCleanup(self.finish)
        return self.program.hear()

    def finish(self):
        """The fork ends well."""
        self.program.go_on()
        self.program.hear()
        self.assertEqual({"ended": 0}, self.program.hear())

    def order(self, sequence, limit):
        """Orders a limit; returns what the rank confirms."""
        self.worker.order(sequence, uniform(limit))
        return self.worker.wait_for("confirm", sequence=sequence)

    def test_a_limit_is_a_logical_device_of_the_limit_less_the_overhead_in_whole_mib(self):
        self.worker.limits = uniform(10 * GIB + 12_345, FORWARD=10 * GIB + MIB - 1)
        said = self.configure()
        self.assertEqual(("limit", 10 * 1024 - 512, True, [], {"growth": False, "limits": [[10 * 1024 - 512]]}),
                         (said["mode"], said["mib"], said["enforced"], said["notes"], said["options"]))
        confirm = self.worker.wait_for("confirm", enforcedBy="env", sequence=1)
        self.assertEqual(10 * GIB + MIB - 1, confirm["limitBytes"])
        self.assertNotIn("needsRestart", confirm)
        self.assertEqual("tensorflow", self.worker.wait_for("hello")["framework"].split()[0])
        self.assertEqual("None", said["usage"], "a device that cannot be asked is not one that uses 0")

    def test_an_order_that_comes_later_leaves_in_force_what_was_fixed_and_needs_a_restart(self):
        self.begin()
        self.assertEqual("limit", self.program.hear()["mode"])
        for sequence, limit in ((2, 6 * GIB), (3, 14 * GIB), (4, 8 * GIB)):
            confirm = self.order(sequence, limit)
            self.assertEqual((10 * GIB, 10 * GIB, "env"),
                             (confirm["limitBytes"], confirm["heldBytes"], confirm["enforcedBy"]))
            self.assertEqual({"limitBytes": limit, "reason": "TensorFlow fixes its limit when it starts"},
                             confirm["needsRestart"])
        self.assertNotIn("needsRestart", self.order(5, 10 * GIB), "what was fixed is what is ordered")
        self.order(6, 8 * GIB)
        self.program.go_on()
        self.assertEqual({"limit": 10 * GIB, "in_force": 10 * GIB}, self.program.hear())
        self.assertEqual({"ended": 0}, self.program.hear())

    def test_growth_and_a_limit_give_the_limit_only(self):
        request = CASES['{"framework": "tensorflow", "gpus": 1, "growth": true, "limit_mib": 2048}']
        self.worker.limits = uniform(request["limit_mib"] * MIB)
        said = self.configure(gpus=request["gpus"], growth=request["growth"], overhead_bytes=0, wish={
            "user_growth": True, "env": {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}})
        self.assertEqual({"growth": False, "limits": [[request["limit_mib"]]]}, said["options"])
        self.assertEqual(["growth is dropped: TensorFlow knows a limit or growth, never both",
                          "TF_FORCE_GPU_ALLOW_GROWTH is dropped: a limit is set",
                          "growth of /physical_device:GPU:0 is dropped: a limit is set"], said["notes"])

    def test_growth_is_set_on_every_visible_gpu_and_nothing_is_called_enforced(self):
        request = CASES['{"apply_to": [0], "framework": "tensorflow", "gpus": 2, "growth": true}']
        said = self.configure(gpus=request["gpus"], limit=False, growth=True)
        self.assertEqual(("growth", 2, False, {"growth": True, "limits": []}),
                         (said["mode"], len(said["gpus"]), said["enforced"], said["options"]))
        self.worker.wait_for("confirm")
        self.assertEqual({"advisory"}, {message["enforcedBy"] for message in self.worker.heard("confirm")})

    def test_a_limit_is_the_same_on_every_visible_gpu(self):
        said = self.configure(gpus=2, ratio=0.5, overhead_bytes=0)
        self.assertEqual([[5 * 1024], [5 * 1024]], said["options"]["limits"])
        self.worker.wait_for("confirm", enforcedBy="env", limitBytes=5 * GIB)

    def test_after_the_first_operation_it_needs_a_restart(self):
        request = CASES['{"after_first_op": true, "framework": "tensorflow", "limit_mib": 10240}']
        self.worker.limits = uniform(request["limit_mib"] * MIB)
        said = self.configure(wish={"after_first_op": request["after_first_op"]})
        self.assertEqual(("none", None, False, {"growth": False, "limits": []}),
                         (said["mode"], said["mib"], said["enforced"], said["options"]))
        self.worker.wait_for("confirm", enforcedBy="advisory", needsRestart={
            "limitBytes": request["limit_mib"] * MIB,
            "reason": "TensorFlow's runtime was up before its memory was configured"})

    def test_a_second_configuration_leaves_the_first_in_force(self):
        self.begin(ratio=0.5, wish={"first": {"overhead_bytes": 0}, "after_first_op": True, "wait": True})
        self.addCleanup(self.finish)
        self.assertEqual({"first": "limit"}, self.program.hear())
        self.order(2, 4 * GIB)
        self.program.go_on()
        said = self.program.hear()
        self.assertEqual(("none", True, [[10 * 1024]]), (said["mode"], said["enforced"], said["options"]["limits"]))
        confirm = self.worker.heard("confirm")[-1]
        self.assertEqual((2, 10 * GIB, "env"), (confirm["sequence"], confirm["limitBytes"], confirm["enforcedBy"]))

    def test_without_a_gpu_nothing_is_set_and_nothing_is_claimed(self):
        said = self.configure(gpus=0)
        self.assertEqual(("none", ["TensorFlow sees no GPU: nothing to limit"]), (said["mode"], said["notes"]))
        self.worker.wait_for("confirm")
        self.assertEqual({"advisory"}, {message["enforcedBy"] for message in self.worker.heard("confirm")})

    def test_without_a_worker_nothing_is_set(self):
        said = self.configure(worker=False)
        self.assertEqual(("none", False, {"growth": False, "limits": []}),
                         (said["mode"], said["enforced"], said["options"]))
        self.assertEqual(["no limit was granted: TensorFlow starts with its defaults"], said["notes"])

    def test_a_limit_below_what_the_process_needs_beside_it_is_refused(self):
        self.worker.limits = uniform(100 * MIB)
        self.begin()
        self.assertIn("refused a limit of 104857600 bytes: the process needs 536870912 bytes beside its allocator",
                      self.program.hear()["error"])
        self.assertEqual({"ended": 1}, self.program.hear())
