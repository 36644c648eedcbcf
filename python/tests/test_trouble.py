"""The rank when things go wrong: no worker, a slow, rude or restarted one, and forks of the process."""

import os
import signal
import socket
import threading
import time
import unittest

import ullage

from tests.fake_worker import uniform
from tests.with_worker import WithWorker


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
        self.worker.say({"type": "later", "x": 1})
        self.worker.say({"type": "limits", "sequence": 1, "limitBytes": dict(uniform(9), NEW=1), "why": "growth"})
        self.assertEqual(9, rank.wait_for_limit(5))

    def test_a_worker_that_came_back_older_is_told_nothing_that_was_meant_for_the_one_before(self):
        rank = self.connect()
        self.worker.stop()
        self.worker.wait_until(lambda: not rank.connected)
        rank._session.soft({"type": "report", "step": 1, "steps": 1, "elapsedMillis": 1})
        self.worker.understands = {}
        self.worker.start()
        self.worker.wait_for("hello", 2)
        self.worker.wait_until(lambda: rank.connected)
        self.worker.order(1, uniform(9))
        self.worker.wait_for("confirm", sequence=1)
        rank.close()
        self.worker.wait_for("bye")
        self.assertEqual([], self.worker.heard("report"))

    def test_after_a_final_error_it_does_not_try_again(self):
        for number, code in enumerate(("BAD_VERSION", "NOT_YOURS", "NO_SUCH_DEVICE", "STALE_RESTART")):
            self.worker.refuse_with = code
            with self.assertLogs("ullage", "WARNING") as logs:
                rank = self.connect(rank=number)
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

    def test_a_worker_that_goes_away_is_no_broken_pipe_for_the_training(self):
        self.addCleanup(signal.signal, signal.SIGPIPE, signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        self.worker.order(1, uniform(100))
        rank = self.attached(self.connect())
        self.worker.stop()
        for _ in range(100):
            rank.enter_phase("forward")
            rank.report_usage(ullage.Usage(1, 1, 1, 1))
        self.assertEqual("FORWARD", rank.current_phase)

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


if __name__ == "__main__":
    unittest.main()
