"""What there is to abort groups with, on process group modules of several versions."""

import sys
import types
import unittest
import unittest.mock

try:
    import torch.distributed as dist
except ImportError:
    dist = None
    print("tests.test_aborting: skipped, no torch in this Python", file=sys.stderr)


class Group:
    def __init__(self, calls, name, fails=False, on=None, method="abort"):
        self._calls = calls
        self._name = name
        self._fails = fails
        owner = self if on is None else on
        if method:
            setattr(owner, method, self._note)
        if on is not None:
            self._get_backend = lambda device: on

    def _note(self):
        if self._fails:
            raise RuntimeError("Backend gloo does not support abort")
        self._calls.append(self._name)


@unittest.skipIf(dist is None, "python3-torch: no torch in this Python")
class Aborting(unittest.TestCase):
    def setUp(self):
        self.calls = []
        patch = unittest.mock.patch.object(dist, "is_initialized", lambda: True)
        patch.start()
        self.addCleanup(patch.stop)

    def module(self, *groups, **more):
        module = types.SimpleNamespace(_world=types.SimpleNamespace(pg_map=dict.fromkeys(groups)), **more)
        patch = unittest.mock.patch.object(dist, "distributed_c10d", module)
        patch.start()
        self.addCleanup(patch.stop)

    def abort(self):
        from ullage.aborting import abort_groups, can_abort
        return can_abort(), abort_groups(), self.calls

    def test_all_groups_at_once_where_torch_has_that(self):
        self.module(Group(self.calls, "default"), _abort_process_group=lambda: self.calls.append("all"))
        self.assertEqual((True, True, ["all"]), self.abort())

    def test_each_group_by_itself_when_one_backend_keeps_the_others_from_it(self):
        def fails():
            raise RuntimeError("Backend gloo does not support abort")
        self.module(Group(self.calls, "default"), Group(self.calls, "agreement", fails=True),
                    _abort_process_group=fails)
        with self.assertLogs("ullage", "WARNING"):
            self.assertEqual((True, True, ["default"]), self.abort())

    def test_a_backend_with_a_method_of_its_own_and_the_newest_group_first(self):
        self.module(*(Group(self.calls, name, on=types.SimpleNamespace(), method="_abort") for name in "ab"))
        self.assertEqual((True, True, ["b", "a"]), self.abort())

    def test_nothing_is_nothing(self):
        self.module(Group(self.calls, "gloo", method=None))
        self.assertEqual((False, False, []), self.abort())

    def test_this_torch_says_what_it_can_without_a_group(self):
        with unittest.mock.patch.object(dist, "is_initialized", lambda: False):
            self.assertEqual((False, False, []), self.abort())
