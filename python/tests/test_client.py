"""The rank against a worker that does as the test says: grants, shrinks, restarts, silence, noise."""

import logging
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
from ullage.connecting import socket_paths

from tests.fake_worker import FakeWorker, uniform

ROOT = Path(__file__).resolve().parent.parent
logging.getLogger("ullage").addHandler(logging.NullHandler())
logging.getLogger("ullage").propagate = False


class WithWorker(unittest.TestCase):
    """One fresh worker for each test; ranks opened with ``connect`` are closed."""

    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.__exit__)

    def connect(self, rank=0, **options):
        env = {"RANK": str(rank), "WORLD_SIZE": "8", "LOCAL_RANK": str(rank), "TORCHELASTIC_RUN_ID": "job"}
        found = ullage.connect(self.worker.path, environ=env, **options)
        self.addCleanup(found.close)
        return found

    def attached(self, rank):
        self.worker.wait_until(lambda: rank._calls.connected, what="call connection")
        return rank


class Registration(WithWorker):
    def test_hello_says_who_this_is(self):
        rank = self.connect(3, device="GPU-5a", framework="torch 2.10.0")
        hello = self.worker.wait_for("hello")
        self.assertEqual({
            "type": "hello", "version": 1, "job": "job", "rank": 3, "worldSize": 8, "localRank": 3,
            "localWorldSize": None, "pid": os.getpid(), "launcher": "torchrun", "restart": 0, "visibleDevices": None,
            "device": "GPU-5a", "framework": "torch 2.10.0", "canEnforce": [], "inForce": None, "heldBytes": None,
        }, hello)
        self.assertEqual(("simulated", 80 << 30, "host-a"),
                         (rank.device.kind, rank.device.total_bytes, rank.device.node))
        self.assertEqual("s/3@%d:1" % os.getpid(), self.worker.wait_for("attach")["session"])

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


class Trouble(WithWorker):
    def test_without_a_worker_connect_warns_once_and_returns_at_once(self):
        start = time.monotonic()
        with self.assertLogs("ullage", "WARNING") as logs:
            rank = ullage.connect("/nonexistent/ranks.sock", environ={"ULLAGE_JOB": "a"}, timeout=5)
            self.addCleanup(rank.close)
            time.sleep(0.5)
        self.assertLess(time.monotonic() - start, 2)
        self.assertEqual(1, len(logs.output))
        self.assertIn("No such file or directory", logs.output[0])
        self.assertFalse(rank.connected)
        self.assertIsNone(rank.enter_phase("forward", wait=True))

    def test_require_raises_when_there_is_no_worker_in_time(self):
        with self.assertRaisesRegex(ullage.UllageError, "no worker within 0.3 s: No such file"):
            ullage.connect("/nonexistent/ranks.sock", environ={"ULLAGE_JOB": "b"}, require=True, timeout=0.3)

    def test_require_waits_for_a_worker_that_comes_up(self):
        path = self.worker.path
        self.worker.stop()
        threading.Timer(0.3, self.worker.start).start()
        env = {"ULLAGE_JOB": "c"}
        rank = ullage.connect(path, environ=env, require=True, timeout=5)
        self.addCleanup(rank.close)
        self.assertTrue(rank.connected)

    def test_a_restarted_worker_hears_what_is_in_force(self):
        rank = self.connect(applier=ullage.LimitedAllocator())
        self.worker.order(41, uniform(100, FORWARD=700))
        rank.wait_for_limit(5)
        self.worker.wait_for("confirm", sequence=41)
        with self.assertLogs("ullage", "WARNING") as logs:
            self.worker.stop()
            self.worker.wait_until(lambda: not rank.connected)
            self.assertEqual(700, rank.enter_phase("forward"))
            self.worker.start()
            hello = self.worker.wait_for("hello", 2)
            self.worker.wait_until(lambda: rank.connected)
        self.assertEqual({"sequence": 41, "limitBytes": 700}, hello["inForce"])
        self.assertEqual(["allocator"], hello["canEnforce"])
        self.assertEqual(0, hello["heldBytes"])
        self.assertEqual(2, len(logs.output), logs.output)
        self.assertIn("the limit stays at", logs.output[0])
        self.assertIn("the worker was reached", logs.output[1])
        self.worker.wait_for("confirm", 2, sequence=41)

    def test_a_worker_that_does_not_read_loses_phases_but_no_confirmation(self):
        rank = self.attached(self.connect())
        self.worker.reads.clear()
        slowest = 0.0
        for step in range(60_000):
            start = time.perf_counter()
            rank.enter_phase("forward" if step % 2 else "backward")
            slowest = max(slowest, time.perf_counter() - start)
            if rank._calls.dropped > 10:
                break
        self.assertGreater(rank._calls.dropped, 10)
        self.assertLess(slowest, 0.5)
        for sequence in range(1, 4000):
            self.worker.order(sequence, uniform(sequence))
        self.worker.wait_until(lambda: rank.limit_bytes == 3999 or rank.safe_point() == 3999)
        self.worker.reads.set()
        self.worker.wait_for("confirm", sequence=3999, limitBytes=3999)
        self.assertEqual(3999, rank.enter_phase("idle", wait=True, timeout=10))
        self.worker.wait_for("phase", phase="IDLE", timeout=10)

    def test_a_worker_that_never_welcomes_does_not_hold_the_training_up(self):
        self.worker.answers = False
        start = time.monotonic()
        rank = self.connect(timeout=0.2)
        self.assertLess(time.monotonic() - start, 2)
        self.assertFalse(rank.connected)

    def test_malformed_lines_end_the_connection_and_the_next_one_works(self):
        rank = self.connect()
        for number, line in enumerate((b"nonsense\n", b'{"type":"limits","sequence":1}\n', b"x" * 70_000), 2):
            self.worker.wait_until(lambda: rank.connected and len(self.worker._sessions) == 1)
            try:
                self.worker.say(line)
            except OSError:
                pass  # it hung up before it had it all
            self.worker.wait_for("hello", number)
        self.worker.wait_until(lambda: len(self.worker._sessions) == 1)
        self.worker.order(1, uniform(9))
        self.assertEqual(9, rank.wait_for_limit(5))

    def test_unknown_messages_and_fields_are_ignored(self):
        rank = self.connect()
        self.worker.wait_until(lambda: self.worker._sessions)
        self.worker.say({"type": "directive", "x": 1})
        self.worker.say({"type": "limits", "sequence": 1, "limitBytes": dict(uniform(9), NEW=1), "why": "growth"})
        self.assertEqual(9, rank.wait_for_limit(5))

    def test_after_a_final_error_it_does_not_try_again(self):
        for code in ("BAD_VERSION", "NOT_YOURS", "NO_SUCH_DEVICE"):
            self.worker.refuse_with = code
            with self.assertLogs("ullage", "WARNING") as logs:
                rank = self.connect(rank=len(code) % 8)
            self.assertIn(code, logs.output[0])
            self.assertTrue(rank.closed)
            rank._session.join(2)
            self.assertFalse(rank._session.is_alive())
            rank.enter_phase("forward")

    def test_with_require_a_final_error_raises_with_its_code(self):
        self.worker.refuse_with = "NO_SUCH_DEVICE"
        with self.assertRaises(ullage.UllageError) as caught:
            self.connect(require=True)
        self.assertEqual("NO_SUCH_DEVICE", caught.exception.code)

    def test_after_another_error_it_tries_again(self):
        self.worker.refuse_with = "TOO_MANY_RANKS"
        rank = self.connect(timeout=0.1)
        self.worker.wait_for("hello", 2)
        self.worker.refuse_with = None
        self.worker.wait_until(lambda: rank.connected)

    def test_a_lost_call_connection_is_opened_again(self):
        rank = self.attached(self.connect())
        rank._calls._socket.shutdown(socket.SHUT_RDWR)
        rank.enter_phase("forward")
        self.assertIsNone(rank.enter_phase("forward", wait=True))
        self.worker.wait_for("attach", 2)
        self.attached(rank)
        self.assertEqual(1, len(self.worker.heard("hello")))


class Fork(WithWorker):
    def test_a_forked_child_is_inert_and_the_parent_goes_on(self):
        self.worker.order(1, uniform(100))
        rank = self.attached(self.connect())
        rank.wait_for_limit(5)
        self.worker.wait_for("confirm")
        child = os.fork()
        if child == 0:
            try:
                fine = rank.closed and rank.limit_bytes == 100 and ullage.current() is None
                rank.enter_phase("backward", wait=True)
                rank.step_done()
                rank.safe_point()
                rank.close()
                os._exit(0 if fine and rank.current_phase == "BACKWARD" else 1)
            finally:
                os._exit(2)
        self.assertEqual(0, os.waitpid(child, 0)[1])
        self.assertEqual(100, rank.enter_phase("forward", wait=True, timeout=5))
        self.worker.order(2, uniform(50))
        self.worker.wait_for("confirm", sequence=2)
        self.assertEqual(([], [], []), (self.worker.heard("phase", phase="BACKWARD"), self.worker.heard("bye"),
                                        self.worker.heard("closed")))

    def test_a_child_may_register_itself(self):
        rank = self.connect()
        child = os.fork()
        if child == 0:
            try:
                other = ullage.connect(self.worker.path, environ={"ULLAGE_JOB": "child"})
                other.close()
                os._exit(0)
            finally:
                os._exit(2)
        self.assertEqual(0, os.waitpid(child, 0)[1])
        self.assertEqual(child, self.worker.wait_for("hello", job="child")["pid"])
        self.assertTrue(rank.connected)


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
