"""The rank against a worker that does as the test says: grants, shrinks, restarts, silence, noise."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import ullage
from ullage.calls import Calls
from ullage.connecting import pid_meaning, socket_paths

from tests.fake_worker import FakeWorker, uniform
from tests.with_worker import WithWorker

ROOT = Path(__file__).resolve().parent.parent


class Registration(WithWorker):
    def test_hello_says_who_this_is(self):
        rank = self.connect(3, device="GPU-5a", framework="torch 2.10.0")
        hello = self.worker.wait_for("hello")
        self.assertEqual({
            "type": "hello", "version": 1, "job": "job", "rank": 3, "worldSize": 8, "localRank": 3,
            "localWorldSize": None, "pid": os.getpid(), "launcher": "torchrun", "restart": 0, "visibleDevices": None,
            "deviceOrder": None, "containerDevices": None, **pid_meaning(),
            "device": "GPU-5a", "framework": "torch 2.10.0", "policy": None, "planned": None, "canEnforce": [],
            "inForce": None, "heldBytes": None,
            "turnBytes": None, "turnAsk": 0,
        }, hello)
        self.assertEqual(("simulated", 80 << 30, "host-a"),
                         (rank.device.kind, rank.device.total_bytes, rank.device.node))
        self.assertEqual("s/3@%d:1" % os.getpid(), self.worker.wait_for("attach")["session"])

    def test_a_pid_means_something_outside_its_container_only_with_its_namespace(self):
        with tempfile.TemporaryDirectory() as proc:
            self.assertEqual({"pidNamespace": None, "startTicks": None}, pid_meaning(proc))
            os.mkdir(proc + "/ns")
            os.symlink("pid:[4026531836]", proc + "/ns/pid")
            fields = ["S"] + ["1"] * 18 + ["987654", "7"]
            Path(proc, "stat").write_bytes(b"7 (odd ) S \xff) " + " ".join(fields).encode())
            self.assertEqual({"pidNamespace": 4026531836, "startTicks": 987654}, pid_meaning(proc))

    def test_nothing_is_known_before_the_first_grant(self):
        rank = self.connect()
        self.assertEqual((None, None, None, "INIT"),
                         (rank.limit_bytes, rank.limits, rank.in_force, rank.current_phase))
        self.assertIsNone(rank.wait_for_limit(0.05))
        self.assertIsNone(self.attached(rank).enter_phase("forward", wait=True))

    def test_a_second_connect_returns_the_open_rank(self):
        rank = self.connect()
        self.assertIs(rank, self.connect())
        self.assertIs(rank, ullage.current())
        rank.close()
        self.assertIsNot(rank, self.connect())

    def test_a_later_rank_of_the_process_says_what_is_in_force(self):
        self.worker.order(4, uniform(100))
        rank = self.connect()
        rank.wait_for_limit(5)
        rank.close()
        self.connect()
        self.assertEqual({"sequence": 4, "limitBytes": 100}, self.worker.wait_for("hello", 2)["inForce"])

    def test_bye_is_the_last_word(self):
        rank = self.connect()
        rank.close()
        rank.close()
        self.worker.wait_for("bye")
        rank.enter_phase("forward")
        rank.step_done()
        rank.report_usage(ullage.Usage(1, 1, 1, 1))
        self.assertEqual(1, rank.step)

    def test_the_end_of_the_process_says_bye(self):
        subprocess.run([sys.executable, "-c", "import ullage; ullage.connect()"], check=True, cwd=ROOT, timeout=20,
                       env=dict(os.environ, ULLAGE_SOCKET=self.worker.path))
        self.worker.wait_for("bye")


class Limits(WithWorker):
    def test_a_grant_without_allocator_is_confirmed_at_once_as_advisory(self):
        rank = self.connect()
        self.worker.order(1, uniform(100, FORWARD=300))
        self.assertEqual(100, rank.wait_for_limit(5))
        confirm = self.worker.wait_for("confirm")
        self.assertEqual({"type": "confirm", "sequence": 1, "limitBytes": 300, "heldBytes": None,
                          "enforcedBy": "advisory"}, confirm)
        self.assertEqual(300, rank.enter_phase("forward"))
        self.assertEqual(uniform(100, FORWARD=300), rank.limits)

    def test_a_shrink_waits_for_the_phase_boundary(self):
        allocator = ullage.LimitedAllocator()
        rank = self.connect(applier=allocator)
        self.worker.order(1, uniform(100))
        rank.wait_for_limit(5)
        self.assertEqual("allocator", self.worker.wait_for("confirm", sequence=1)["enforcedBy"])
        self.worker.order(2, uniform(40))
        self.worker.wait_until(lambda: rank._state.newest_sequence == 2)
        self.assertEqual((100, 100), (rank.limit_bytes, allocator.limit_bytes))
        self.assertEqual(40, rank.enter_phase("backward"))
        self.assertEqual(40, allocator.limit_bytes)
        self.worker.wait_for("confirm", sequence=2, limitBytes=40)
        with self.assertRaises(ullage.MemoryLimitError):
            allocator.reserve(41)

    def test_what_is_held_is_confirmed_and_lower_later(self):
        allocator = ullage.LimitedAllocator()
        rank = self.connect(applier=allocator)
        self.worker.order(1, uniform(100))
        rank.wait_for_limit(5)
        allocator.reserve(80)
        allocator.release(20)
        self.worker.order(2, uniform(30))
        self.worker.wait_until(lambda: rank._state.newest_sequence == 2)
        self.assertEqual(60, rank.enter_phase("forward"), "the cache of 20 was given back, 60 are in use")
        self.worker.wait_for("confirm", sequence=2, limitBytes=60, heldBytes=60)
        allocator.release(50)
        self.assertEqual(30, rank.safe_point())
        self.worker.wait_for("confirm", sequence=2, limitBytes=30, heldBytes=10)

    def test_a_quiet_process_is_settled_by_the_clients_own_thread_if_the_allocator_allows(self):
        safe, unsafe = ullage.LimitedAllocator(), ullage.LimitedAllocator()
        unsafe.thread_safe = False
        first, second = self.connect(0, applier=safe), self.connect(1, applier=unsafe)
        for rank in (first, second):
            rank._safe_at -= 10
        self.worker.order(1, uniform(100))
        self.worker.wait_until(lambda: safe.limit_bytes == 100)
        self.worker.wait_until(lambda: second._state.newest_sequence == 1)
        self.assertIsNone(unsafe.limit_bytes)
        second.safe_point()
        self.assertEqual(100, unsafe.limit_bytes)

    def test_a_repeated_order_is_confirmed_again_and_a_stale_one_is_not(self):
        rank = self.connect()
        self.worker.order(5, uniform(100))
        self.worker.wait_for("confirm", sequence=5)
        self.worker.order(4, uniform(900))
        self.worker.order(5, uniform(100))
        self.worker.wait_for("confirm", 2, sequence=5)
        self.assertEqual([], self.worker.heard("confirm", sequence=4))
        self.assertEqual(100, rank.limit_bytes)

    def test_what_another_thread_took_during_the_change_counts_as_held(self):
        class Racing(ullage.LimitedAllocator):
            def apply(self, limit_bytes, phase):
                if limit_bytes == 40:
                    self.reserve(30)
                super().apply(limit_bytes, phase)

        allocator = Racing()
        rank = self.connect(applier=allocator)
        self.worker.order(1, uniform(100))
        rank.wait_for_limit(5)
        allocator.reserve(35)
        self.worker.order(2, uniform(40))
        self.worker.wait_until(lambda: rank._state.newest_sequence == 2)
        self.assertEqual(65, rank.safe_point())
        self.assertEqual((65, 65), (allocator.limit_bytes, rank.in_force.limit_bytes))
        self.worker.wait_for("confirm", sequence=2, limitBytes=65, heldBytes=65)

    def test_a_limit_that_cannot_be_applied_is_not_confirmed(self):
        allocator = ullage.LimitedAllocator()
        rank = self.connect(applier=allocator)
        self.worker.order(1, uniform(100))
        rank.wait_for_limit(5)
        self.worker.wait_for("confirm", sequence=1)
        works, allocator.apply = allocator.apply, self.fail_to_apply
        self.worker.order(2, uniform(50))
        self.worker.wait_until(lambda: rank._state.newest_sequence == 2)
        self.assertEqual(100, rank.enter_phase("forward"))
        allocator.apply = works
        self.assertEqual(50, rank.enter_phase("forward"))
        self.worker.wait_for("confirm", sequence=2)

    @staticmethod
    def fail_to_apply(limit_bytes, phase):
        raise RuntimeError("no")

    def test_callbacks_run_at_safe_points_in_the_calling_thread(self):
        seen = []
        rank = self.connect()
        rank.on_limit(seen.append)
        self.worker.order(1, uniform(100, FORWARD=300))
        self.worker.wait_for("confirm", sequence=1)
        self.assertEqual([], seen)
        rank.enter_phase("idle")
        rank.enter_phase("forward")
        rank.enter_phase("forward")
        self.assertEqual([100, 300], seen)

    def test_an_allocator_given_later_gets_the_limit_and_is_named(self):
        rank = self.connect()
        self.worker.order(1, uniform(100))
        rank.wait_for_limit(5)
        allocator = ullage.LimitedAllocator()
        rank.use(allocator)
        self.assertEqual(100, allocator.limit_bytes)
        self.worker.wait_for("confirm", sequence=1, enforcedBy="allocator")


class Phases(WithWorker):
    def test_scopes_nest_and_the_outermost_ends_in_idle(self):
        rank = self.attached(self.connect())
        with rank.phase("forward"):
            with rank.phase("CHECKPOINT"):
                self.assertEqual("CHECKPOINT", rank.current_phase)
            self.assertEqual("FORWARD", rank.current_phase)
        self.assertEqual("IDLE", rank.current_phase)
        self.worker.wait_until(lambda: len(self.worker.heard("phase", phase="IDLE")) == 1)
        self.assertEqual(["FORWARD", "CHECKPOINT", "FORWARD", "IDLE"],
                         [m["phase"] for m in self.worker.heard("phase") if m["phase"] != "INIT"])

    def test_a_scope_is_left_on_an_exception_too(self):
        rank = self.connect()
        with self.assertRaises(KeyError), rank.phase("forward"):
            raise KeyError
        self.assertEqual("IDLE", rank.current_phase)

    def test_an_unknown_phase_is_an_error_that_lists_them(self):
        rank = self.connect()
        with self.assertRaisesRegex(ValueError, "unknown phase 'warmup'; known: INIT, FORWARD"):
            rank.enter_phase("warmup")

    def test_steps_travel_with_phases(self):
        rank = self.attached(self.connect())
        rank.step_done()
        rank.enter_phase("Forward")
        self.assertEqual({"type": "phase", "phase": "FORWARD", "step": 1},
                         self.worker.wait_for("phase", phase="FORWARD"))

    def test_with_wait_the_order_the_worker_spoke_of_is_in_force_on_return(self):
        allocator = ullage.LimitedAllocator()
        rank = self.attached(self.connect(applier=allocator))
        for sequence in range(1, 30):
            self.worker.order(sequence, uniform(100 + sequence))
            self.assertEqual(100 + sequence, rank.enter_phase("forward", wait=True, timeout=5))

    def test_an_order_that_comes_after_the_answer_is_waited_for(self):
        rank = self.attached(self.connect())
        self.worker.sequence, self.worker.limits = 7, uniform(70)

        def late():
            self.worker.wait_for("phase", phase="BACKWARD")
            time.sleep(0.05)
            self.worker.order(7, uniform(70))

        thread = threading.Thread(target=late)
        thread.start()
        self.assertEqual(70, rank.enter_phase("backward", wait=True, timeout=5))
        thread.join()

    def test_a_worker_that_does_not_answer_costs_the_timeout_and_no_more(self):
        rank = self.attached(self.connect())
        self.worker.answers = False
        start = time.monotonic()
        rank.enter_phase("forward", wait=True, timeout=0.1)
        self.assertLess(time.monotonic() - start, 1.0)
        self.worker.answers = True
        self.worker.order(1, uniform(5))
        self.assertEqual(5, rank.enter_phase("forward", wait=True, timeout=5))

    def test_after_a_reconnect_the_worker_hears_the_phase(self):
        rank = self.attached(self.connect())
        rank.enter_phase("checkpoint")
        self.worker.wait_for("phase", phase="CHECKPOINT")
        self.worker.stop()
        self.worker.messages.clear()
        self.worker.start()
        self.worker.wait_for("phase", phase="CHECKPOINT")


class Usage(WithWorker):
    def test_once_a_second_and_at_once_at_a_new_peak(self):
        rank = self.connect()
        rank.report_usage(ullage.Usage(1, 2, 3, 4, 0))
        self.worker.wait_for("usage", allocatedBytes=1, reservedBytes=2, peakAllocatedBytes=3, peakReservedBytes=4,
                             refusals=0)
        rank.report_usage(ullage.Usage(2, 2, 3, 4))
        rank.report_usage(ullage.Usage(9, 9, 9, 9))
        self.worker.wait_for("usage", peakReservedBytes=9)
        self.assertEqual([], self.worker.heard("usage", allocatedBytes=2))

    def test_a_broken_source_is_dropped_and_the_training_goes_on(self):
        rank = self.connect()
        rank.usage_from(lambda: 1 / 0)
        rank.step_done()
        rank.step_done()
        self.assertEqual(2, rank.step)

    def test_the_allocator_reports_at_the_end_of_a_step(self):
        allocator = ullage.LimitedAllocator()
        rank = self.connect(applier=allocator)
        allocator.reserve(10)
        rank.step_done()
        self.worker.wait_for("usage", allocatedBytes=10, reservedBytes=10)


class SocketPath(unittest.TestCase):
    def test_order(self):
        self.assertEqual(["/a"], socket_paths("/a", {"ULLAGE_SOCKET": "/b"}))
        self.assertEqual(["/b"], socket_paths(None, {"ULLAGE_SOCKET": "/b"}))
        self.assertEqual(["/run/user/1/ullage/ranks.sock", "/s/ullage/ranks.sock", "/run/ullage/ranks.sock"],
                         socket_paths(None, {"XDG_RUNTIME_DIR": "/run/user/1", "XDG_STATE_HOME": "/s"}))
        self.assertEqual(os.path.expanduser("~/.local/state/ullage/ranks.sock"), socket_paths(None, {})[0])

    def test_the_first_that_exists_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/ullage")
            with FakeWorker(f"{folder}/ullage/ranks.sock") as worker:
                env = {"XDG_RUNTIME_DIR": "/nonexistent", "XDG_STATE_HOME": folder, "ULLAGE_JOB": "p"}
                with ullage.connect(environ=env) as rank:
                    self.assertTrue(rank.connected)
                    self.assertEqual(worker.path, rank.socket_path)


class CallConnection(unittest.TestCase):
    def pair(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        lost = []
        calls = Calls(lambda: lost.append(True))
        calls.adopt(ours)
        self.addCleanup(calls.drop)
        return calls, theirs, lost

    def test_a_late_answer_is_not_taken_for_a_later_call(self):
        calls, theirs, _ = self.pair()
        self.assertIsNone(calls.ask("FORWARD", 0, 0.01))
        theirs.send(b'{"type":"entered","id":1,"sequence":3,"limitBytes":30}\n{"type":"entered","id":2,')
        theirs.send(b'"sequence":4,"limitBytes":null,"new":1}\n')
        self.assertEqual((4, None), calls.ask("FORWARD", 0, 1.0))

    def test_a_call_waits_for_room_in_a_full_socket_and_no_longer_than_asked(self):
        calls, theirs, lost = self.pair()
        while calls.tell("FORWARD", 0):
            pass
        start = time.monotonic()
        self.assertIsNone(calls.ask("IDLE", 0, 0.1))
        self.assertLess(time.monotonic() - start, 1.0)
        threading.Timer(0.05, lambda: [theirs.recv(1 << 20) for _ in range(3)]).start()
        before = calls.dropped
        self.assertIsNone(calls.ask("IDLE", 0, 0.3))
        self.assertEqual((before + 1, []), (calls.dropped, lost), "refused once, then sent")

    def test_noise_loses_the_connection_and_raises_nothing(self):
        calls, theirs, lost = self.pair()
        theirs.send(b"noise\n")
        self.assertIsNone(calls.ask("FORWARD", 0, 1.0))
        self.assertEqual(([True], False), (lost, calls.connected))
        self.assertFalse(calls.tell("FORWARD", 0))

    def test_a_closed_peer_loses_the_connection_once(self):
        calls, theirs, lost = self.pair()
        theirs.close()
        self.assertFalse(calls.tell("FORWARD", 0))
        self.assertFalse(calls.tell("FORWARD", 0))
        self.assertEqual([True], lost)


if __name__ == "__main__":
    unittest.main()
