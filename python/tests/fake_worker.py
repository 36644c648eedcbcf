"""A worker that speaks the rank protocol and does as it is told: for tests, and for the benchmark as a process.

It remembers every line it got, sends the orders a test gives it, and can be slow, rude or gone.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, Optional

PHASES = ("INIT", "FORWARD", "BACKWARD", "OPTIMIZER", "EVALUATION", "CHECKPOINT", "IDLE")


def uniform(limit_bytes: int, **other: int) -> Dict[str, int]:
    """The same limit in every phase, but for those named."""
    return dict({phase: limit_bytes for phase in PHASES}, **other)


class FakeWorker:
    """Listens from construction on; use as a context manager."""

    def __init__(self, path: Optional[str] = None, sequence: int = 0, limits: Optional[Dict[str, int]] = None) -> None:
        self._folder = tempfile.mkdtemp(prefix="ullage-test-") if path is None else None
        self.path = path or os.path.join(self._folder, "ranks.sock")
        self.sequence = sequence
        self.limits = limits
        self.device_kind = "simulated"
        self.device_total_bytes: Optional[int] = 80 << 30
        self.refuse_with: Optional[str] = None
        self.local_rank: Optional[int] = None
        #: What the welcome says that this worker understands; an older one says nothing.
        self.understands: Dict[str, Any] = {"snapshotSteps": 500, "reports": True}
        self.reads = threading.Event()
        self.reads.set()
        self.answers = True
        #: What is said to a rank that asks for a turn, by the number it took; None: nothing.
        self.turn: Optional[Callable[[int], Dict[str, Any]]] = None
        self.turns: Optional[Dict[str, Any]] = None
        self.messages: List[Dict[str, Any]] = []
        self._changed = threading.Condition()
        self._connections: List[socket.socket] = []
        self._sessions: List[socket.socket] = []
        self._listener: Optional[socket.socket] = None
        self.start()

    def start(self) -> None:
        """Listens, anew after ``stop``."""
        if os.path.exists(self.path):
            os.unlink(self.path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(16)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self) -> None:
        """Breaks every connection and goes away; what was heard stays."""
        self.reads.set()
        for connection in [self._listener] + self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()
        self._connections.clear()
        self._sessions.clear()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def __enter__(self) -> "FakeWorker":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def order(self, sequence: int, limits: Dict[str, int], **more: Any) -> None:
        """Gives an order to every session, and without ``more`` fields to those that come later."""
        with self._changed:
            self.sequence, self.limits = sequence, limits
            self.say(dict({"type": "limits", "sequence": sequence, "limitBytes": limits}, **more))

    def say(self, message: Any) -> None:
        """Sends a message, or raw bytes, to every session."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        for session in list(self._sessions):
            session.sendall(line)

    def heard(self, kind: str, **fields: Any) -> List[Dict[str, Any]]:
        """What arrived so far of this type with these values."""
        with self._changed:
            return [m for m in self.messages if m["type"] == kind and all(m.get(k) == v for k, v in fields.items())]

    def wait_for(self, kind: str, count: int = 1, timeout: float = 5.0, **fields: Any) -> Dict[str, Any]:
        """The ``count``-th message of this type with these values; AssertionError when it does not come in time."""
        self.wait_until(lambda: len(self.heard(kind, **fields)) >= count, timeout, f"{count} x {kind} {fields}")
        return self.heard(kind, **fields)[count - 1]

    def wait_until(self, condition: Callable[[], bool], timeout: float = 5.0, what: str = "condition") -> None:
        """Waits for a condition that a message may make true."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not condition():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"not within {timeout} s: {what}; heard {self.messages[-8:]}")
                self._changed.wait(min(left, 0.05))

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                listener.close()
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        rest = b""
        while True:
            self.reads.wait()
            try:
                data = connection.recv(65536)
                if not data:
                    break
                lines = (rest + data).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    self._take(connection, json.loads(line))
            except OSError:
                break
        if connection in self._sessions:
            self._sessions.remove(connection)
        connection.close()
        with self._changed:
            self.messages.append({"type": "closed"})
            self._changed.notify_all()

    def _take(self, connection: socket.socket, message: Dict[str, Any]) -> None:
        try:
            self._answer(connection, message)
        except OSError:
            pass  # gone already; what it said counts all the same
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def _answer(self, connection: socket.socket, message: Dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "hello" and self.refuse_with is not None:
            self._send(connection, {"type": "error", "code": self.refuse_with, "message": "as the test wants"})
            connection.shutdown(socket.SHUT_RDWR)
        elif kind == "hello" and self.answers:
            with self._changed:
                self._welcome(connection, message)
        elif kind == "attach":
            self._send(connection, {"type": "attached"})
        elif kind == "turn" and self.turn is not None:
            self._send(connection, self.turn(message["id"]))
        elif kind == "phase" and "id" in message and self.answers:
            limit = None if self.limits is None else self.limits[message["phase"]]
            self._send(connection, {"type": "entered", "id": message["id"],
                                    "sequence": self.sequence, "limitBytes": limit})

    def _welcome(self, connection: socket.socket, hello: Dict[str, Any]) -> None:
        worked_out = {} if self.local_rank is None else {"localRank": self.local_rank}
        self._send(connection, {
            **worked_out, "type": "welcome", "version": 1,
            "session": f"s/{hello['rank']}@{hello['pid']}:1", "token": "dG9r",
            "device": "GPU-5a000000-0000-0000-0000-000000000000", "deviceIndex": 0, "deviceName": "H100-80G",
            "deviceKind": self.device_kind, "deviceTotalBytes": self.device_total_bytes, "node": "host-a",
            **self.understands})
        if self.limits is not None:
            self._send(connection, {"type": "limits", "sequence": self.sequence, "limitBytes": self.limits})
        if self.turns is not None:
            self._send(connection, self.turns)
        self._sessions.append(connection)

    @staticmethod
    def _send(connection: socket.socket, message: Dict[str, Any]) -> None:
        connection.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")


def main() -> None:
    """``python3 -m tests.fake_worker PATH LIMIT``: serves until standard input ends."""
    with FakeWorker(sys.argv[1], 1, uniform(int(sys.argv[2]))):
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
