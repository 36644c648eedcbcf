"""The call connection: phase changes from the thread that trains, with or without an answer."""

from __future__ import annotations

import re
import select
import socket
import struct
import threading
import time
from typing import Any, Callable, Mapping, NamedTuple, Optional

from ullage.errors import ProtocolError
from ullage.phases import PHASES
from ullage.wire import SEND_FLAGS, LineReader, decode, integer, optional_integer

_PREFIX = {phase: b'{"type":"phase","phase":"%s","step":' % phase.encode("ascii") for phase in PHASES}
_ENTERED = re.compile(rb'\{"type":"entered","id":([0-9]+),"sequence":([0-9]+),"limitBytes":(null|[0-9]+)\}\n')


class Entered(NamedTuple):
    """The worker's answer: its newest order's sequence (0: none) and that order's limit for the phase, bytes."""

    sequence: int
    limit_bytes: Optional[int]


class Calls:
    """Owns the call socket between ``adopt`` and its loss. A send never blocks: a full socket drops the message."""

    def __init__(self, on_lost: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        """``on_lost`` is called, from the thread that noticed, when the connection broke."""
        self._on_lost = on_lost
        self._clock = clock
        # Reentrant, because a signal handler may enter a phase in the midst of another call.
        self._send_lock = threading.RLock()
        self._wait_lock = threading.RLock()
        self._socket: Optional[socket.socket] = None
        self._retired: Optional[socket.socket] = None
        self._tail = b""
        self._lines = LineReader()
        self._next_id = 0
        self._timeout = 0.0
        self.dropped = 0

    @property
    def connected(self) -> bool:
        """Whether there is a call connection at this moment."""
        return self._socket is not None

    def adopt(self, connection: socket.socket) -> None:
        """Takes over a connection on which the worker said ``attached``."""
        connection.setblocking(True)
        with self._send_lock:
            self._tail = b""
            self._timeout = 0.0
            self._lines = LineReader()
            self._socket = connection

    def drop(self) -> None:
        """Closes the connection, if there is one, without a word to anyone; a call that waits on it returns at once."""
        connection = self._socket
        if connection is not None:
            self._retire(connection)
        with self._wait_lock, self._send_lock:
            retired, self._retired = self._retired, None
            if retired is not None:
                retired.close()

    def abandon(self) -> None:
        """In a forked child: lets go of the parent's connection without disturbing it."""
        self._send_lock = threading.RLock()
        self._wait_lock = threading.RLock()
        for connection in (self._socket, self._retired):
            if connection is not None:
                connection.close()
        self._socket = self._retired = None

    def tell(self, phase: str, step: int) -> bool:
        """Tells the worker of a phase; returns whether the line went into the socket."""
        return self._send(b"%s%d}\n" % (_PREFIX[phase], step))

    def ask(self, phase: str, step: int, timeout: float) -> Optional[Entered]:
        """Tells the worker of a phase and waits for its answer; None after ``timeout`` seconds or without worker."""
        with self._wait_lock:
            self._next_id = number = self._next_id + 1
            connection = self._socket
            line = b'%s%d,"id":%d}\n' % (_PREFIX[phase], step, number)
            if connection is None:
                return None
            if not self._send(line):
                timeout -= self._wait_for_room(connection, timeout)
                if self._socket is not connection or not self._send(line):
                    return None
            try:
                return self._answer(connection, number, timeout)
            except (OSError, ProtocolError):
                self._lost(connection)
                return None

    def ask_turn(self, number: int, timeout: float, pace: float,
                 waiting: Callable[[], bool]) -> Optional[Mapping[str, Any]]:
        """Asks for a turn and waits for the answer; None after ``timeout`` seconds or without worker.

        ``waiting`` is called about every ``pace`` seconds and says whether to go on.
        """
        with self._wait_lock:
            connection = self._socket
            if connection is None or not self._send(b'{"type":"turn","id":%d}\n' % number):
                return None
            deadline = self._clock() + timeout
            try:
                while self._clock() < deadline:
                    self._receive_timeout(connection, pace)
                    try:
                        data = connection.recv(4096)
                    except BlockingIOError:
                        if not waiting():
                            return None
                        continue
                    if not data:
                        raise ConnectionResetError("closed by the worker")
                    for line in self._lines.feed(data):
                        message = decode(line)
                        if message["type"] == "turn" and optional_integer(message, "id") == number:
                            return message
                return None
            except (OSError, ProtocolError):
                self._lost(connection)
                return None

    def turn_released(self, number: int) -> bool:
        """Tells the worker that nothing asked for up to ``number`` is held or waited for; returns whether it was."""
        return self._send(b'{"type":"turn-released","id":%d}\n' % number)

    def _answer(self, connection: socket.socket, number: int, timeout: float) -> Optional[Entered]:
        deadline = None
        left = timeout
        while left > 0:
            self._receive_timeout(connection, left)
            try:
                data = connection.recv(4096)
            except BlockingIOError:
                return None
            match = _ENTERED.fullmatch(data)
            if match is not None and int(match.group(1)) == number:
                limit = match.group(3)
                return Entered(int(match.group(2)), None if limit == b"null" else int(limit))
            if not data:
                raise ConnectionResetError("closed by the worker")
            for line in self._lines.feed(data):
                answer = _entered(line, number)
                if answer is not None:
                    return answer
            if deadline is None:
                deadline = self._clock() + timeout
            left = deadline - self._clock()
        return None

    def _wait_for_room(self, connection: socket.socket, timeout: float) -> float:
        """Waits, as the caller is ready to, until a full socket takes more; returns the seconds that took."""
        start = self._clock()
        poll = select.poll()
        try:
            poll.register(connection, select.POLLOUT)
            poll.poll(timeout * 1000)
        except (OSError, ValueError):
            pass  # closed meanwhile: the next send says so
        return self._clock() - start

    def _receive_timeout(self, connection: socket.socket, seconds: float) -> None:
        """Sets the kernel's timeout when it changes: cheaper than a poll before each receive."""
        if seconds != self._timeout:
            micros = max(1, int(seconds * 1_000_000))
            value = struct.pack("@ll", micros // 1_000_000, micros % 1_000_000)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
            self._timeout = seconds

    def _send(self, line: bytes) -> bool:
        with self._send_lock:
            connection = self._socket
            if connection is None:
                return False
            try:
                if self._tail:
                    self._tail = self._tail[connection.send(self._tail, SEND_FLAGS):]
                    if self._tail:
                        self.dropped += 1
                        return False
                sent = connection.send(line, SEND_FLAGS)
                self._tail = line[sent:]
                return True
            except BlockingIOError:
                self.dropped += 1
                return False
            except OSError:
                pass
        self._lost(connection)
        return False

    def _lost(self, connection: socket.socket) -> None:
        if self._retire(connection):
            self._on_lost()

    def _retire(self, connection: socket.socket) -> bool:
        """Takes the connection out of use; ``drop`` closes it once no call is in the midst of it."""
        with self._send_lock:
            if self._socket is not connection:
                return False
            self._socket = None
            self._retired = connection
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        return True


def _entered(line: bytes, number: int) -> Optional[Entered]:
    """The answer to call ``number``; None when the line is something else, such as a late answer."""
    message = decode(line)
    if message["type"] != "entered" or optional_integer(message, "id") != number:
        return None
    return Entered(integer(message, "sequence"), optional_integer(message, "limitBytes"))
