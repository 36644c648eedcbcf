"""The session connection: a daemon thread that says hello, takes orders in, and sends confirmations and usage.

::

    +--> connect --> hello --> welcome --> serve (orders in, confirm and usage out; opens the call connection)
    |                                        |
    +---- wait with backoff <--- lost -------+        refused for good --> end

The thread owns both sockets until the call connection is attached. Other threads put the newest confirmation and
usage into one slot each and wake it: both carry absolute values, so only the newest of each matters, nothing queues.
"""

from __future__ import annotations

import errno
import select
import socket
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Protocol

from ullage.backoff import Backoff
from ullage.calls import Calls
from ullage.errors import ProtocolError, UllageError
from ullage.mailbox import Mailbox
from ullage.wire import SEND_FLAGS, LineReader, decode, encode

#: After these error codes of the worker another attempt cannot help.
FINAL_CODES = frozenset({"BAD_VERSION", "NOT_YOURS", "NO_SUCH_DEVICE", "STALE_RESTART"})
HANDSHAKE_SECONDS = 10.0
CONNECT_SECONDS = 5.0
TICK_SECONDS = 0.25
BYE_SECONDS = 0.5
#: Lines that may be lost without harm and wait to be sent; the oldest goes first.
MAX_SOFT_LINES = 4


class SessionOwner(Protocol):
    """What the session tells its owner, always from the session's thread."""

    def hello(self) -> Dict[str, Any]:
        """The hello line as of now."""

    def welcomed(self, message: Mapping[str, Any]) -> None:
        """The worker accepted this process."""

    def attached(self) -> None:
        """The call connection is up."""

    def ordered(self, message: Mapping[str, Any]) -> None:
        """A ``limits`` line arrived."""

    def release_asked(self) -> None:
        """A ``release-cache`` line arrived."""

    def offered(self, message: Mapping[str, Any]) -> None:
        """A ``turns`` line arrived."""

    def lost(self, reason: str) -> None:
        """An attempt or a connection failed; another attempt follows."""

    def refused(self, error: UllageError) -> None:
        """The worker will not have this process; no attempt follows."""

    def ticked(self) -> None:
        """A fraction of a second passed."""


class Session(threading.Thread):
    """Keeps one process registered with its worker."""

    def __init__(self, path: Callable[[], str], owner: SessionOwner, backoff: Optional[Backoff] = None) -> None:
        """``path`` names the worker's socket, asked before each attempt; ``backoff`` spaces the attempts."""
        super().__init__(name="ullage-session", daemon=True)
        self.calls = Calls(self.wake)
        self.mail = Mailbox(self.wake)
        self._path = path
        self._owner = owner
        self._backoff = Backoff() if backoff is None else backoff
        self._call_backoff = Backoff()
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self._closing = False
        self._say_bye = True
        self._lock = threading.RLock()
        self._confirm: Optional[bytes] = None
        self._usage: Optional[bytes] = None
        self._soft: Deque[bytes] = deque(maxlen=MAX_SOFT_LINES)
        self._out = b""
        self._session: Optional[socket.socket] = None
        self._attaching: Optional[socket.socket] = None
        self._drained = threading.Event()
        self._welcome: Optional[Mapping[str, Any]] = None
        self._attach_at = 0.0
        self._attach_lines = LineReader()

    def confirm(self, message: Mapping[str, Any]) -> None:
        """Sends a confirmation, in place of an older one that still waits; kept until the socket takes it."""
        with self._lock:
            self._confirm = encode(message)
            self._drained.clear()
        self.wake()

    def usage(self, message: Mapping[str, Any]) -> None:
        """Sends a usage line, in place of an older one that still waits; forgotten when the connection is lost."""
        with self._lock:
            self._usage = encode(message)
        self.wake()

    def soft(self, message: Mapping[str, Any]) -> None:
        """Sends a line that may be lost: dropped when too many wait, or when the connection is lost."""
        with self._lock:
            self._soft.append(encode(message))
        self.wake()

    def flush(self, timeout: float) -> bool:
        """Waits at most ``timeout`` seconds until the last confirmation is in the socket; returns whether it is."""
        return self._drained.wait(timeout)

    def wake(self) -> None:
        """Makes the thread look at its slots now."""
        try:
            self._wake_write.send(b"w", SEND_FLAGS)
        except OSError:
            pass  # full: it will wake anyway; closed: nothing left to wake

    def stop(self, timeout: float, bye: bool = True) -> None:
        """Ends the thread, with a ``bye`` to the worker, and waits for that at most ``timeout`` seconds."""
        self._say_bye = bye
        self._closing = True
        self.wake()
        if self.is_alive() and threading.current_thread() is not self:
            self.join(timeout)

    def abandon(self) -> None:
        """In a forked child, where the thread does not exist: lets go of the parent's sockets."""
        self._lock = threading.RLock()
        self._closing = True
        self.calls.abandon()
        self.mail.abandon()
        for connection in (self._session, self._attaching, self._wake_read, self._wake_write):
            if connection is not None:
                connection.close()
        self._session = self._attaching = None

    def run(self) -> None:
        """The thread's body; ends after ``stop`` or when the worker refused for good."""
        try:
            while not self._closing:
                try:
                    self._session = self._connect()
                    self._serve(self._session)
                except UllageError as error:
                    if error.code in FINAL_CODES:
                        self._owner.refused(error)
                        return
                    self._owner.lost(str(error))
                except OSError as error:
                    self._owner.lost(error.strerror or str(error))
                finally:
                    self._close_connections()
                if not self._closing:
                    self._pause(self._backoff.next_seconds())
        finally:
            self._wake_read.close()
            self._wake_write.close()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(CONNECT_SECONDS)
            connection.connect(self._path())
            connection.setblocking(False)
            return connection
        except BaseException:
            connection.close()
            raise

    def _serve(self, session: socket.socket) -> None:
        """Speaks on one connection until it breaks (an exception says why) or the thread is to end."""
        lines = LineReader()
        self._out = encode(self._owner.hello())
        self._welcome = None
        started = time.monotonic()
        while not self._closing:
            self._send_all(session)
            for connection in self._wait(session):
                if connection is not session:
                    self._read_attached(connection)
                    continue
                for line in lines.feed(_received(session)):
                    self._take(decode(line))
            self._keep_call_connection()
            if self._welcome is None and time.monotonic() - started > HANDSHAKE_SECONDS:
                raise ProtocolError(f"no answer to hello within {HANDSHAKE_SECONDS:.0f} s")
            self._owner.ticked()
        self._say_goodbye(session)

    def _keep_call_connection(self) -> None:
        """Opens the call connection, and again after it broke, at the backoff's pace."""
        now = time.monotonic()
        welcome = self._welcome
        if welcome is None or self.calls.connected or now < self._attach_at:
            return
        if self._attaching is not None:
            self._attaching.close()
            self._attaching = None
        self._attach_at = now + HANDSHAKE_SECONDS
        try:
            self._attaching = self._connect()
            self._attach_lines = LineReader()
            self._attaching.send(encode({"type": "attach", "session": welcome.get("session"),
                                         "token": welcome.get("token")}), SEND_FLAGS)
        except OSError:
            self._attach_failed()

    def _attach_failed(self) -> None:
        if self._attaching is not None:
            self._attaching.close()
            self._attaching = None
        self._attach_at = time.monotonic() + self._call_backoff.next_seconds()

    def _take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "welcome" and self._welcome is None:
            self._welcome = message
            self._attach_at = time.monotonic()
            self._backoff.reset()
            self._owner.welcomed(message)
            with self._lock:
                self._soft.clear()  # put there for another worker, which may have understood more than this one
            self.mail.welcomed()
        elif message["type"] == "limits":
            self._owner.ordered(message)
        elif message["type"] == "release-cache":
            self._owner.release_asked()
        elif message["type"] == "directive":
            self.mail.received(message)
        elif message["type"] == "turns":
            self._owner.offered(message)
        elif message["type"] == "error":
            code = str(message.get("code"))
            raise UllageError(f"the worker refused: {code}: {message.get('message')}", code)

    def _wait(self, session: socket.socket) -> List[socket.socket]:
        """Waits for something to read, to be woken, or room to write what waits; returns the readable connections."""
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        poll.register(session, select.POLLIN | (select.POLLOUT if self._out else 0))
        connections = {session.fileno(): session}
        if self._attaching is not None:
            poll.register(self._attaching, select.POLLIN)
            connections[self._attaching.fileno()] = self._attaching
        ready = []
        for fd, events in poll.poll(TICK_SECONDS * 1000):
            if fd == self._wake_read.fileno():
                self._swallow_wakes()
            elif events & ~select.POLLOUT:
                ready.append(connections[fd])
        return ready

    def _send_all(self, session: socket.socket) -> None:
        """Sends what the slots hold until they are empty or the socket is full."""
        while True:
            if not self._out and self._welcome is not None:
                self._out = self._next_line()
            if not self._out:
                return
            try:
                self._out = self._out[session.send(self._out, SEND_FLAGS):]
            except BlockingIOError:
                return
            if not self._out:
                with self._lock:
                    if self._confirm is None and self._welcome is not None:
                        self._drained.set()

    def _next_line(self) -> bytes:
        """What is said next: what was confirmed, what must not get lost, the usage, what may get lost."""
        with self._lock:
            confirm, self._confirm = self._confirm, None
            if confirm is not None:
                return confirm
            kept = self.mail.next_line()
            if kept:
                return kept
            usage, self._usage = self._usage, None
            if usage is not None:
                return usage
            return self._soft.popleft() if self._soft else b""

    def _read_attached(self, connection: socket.socket) -> None:
        try:
            messages = [decode(line) for line in self._attach_lines.feed(_received(connection))]
        except (OSError, ProtocolError):
            self._attach_failed()
            return
        if any(message["type"] == "attached" for message in messages):
            self._attaching = None
            self._attach_at = time.monotonic()
            self._call_backoff.reset()
            self.calls.drop()
            self.calls.adopt(connection)
            self._owner.attached()

    def _say_goodbye(self, session: socket.socket) -> None:
        """The last confirmation, the last usage and a bye, as far as the socket takes them within half a second."""
        deadline = time.monotonic() + BYE_SECONDS
        try:
            self._send_all(session)
            if self._say_bye:
                self._out += encode({"type": "bye"})
            while self._out and time.monotonic() < deadline:
                self._send_all(session)
                if self._out:
                    _ready(session, select.POLLOUT, 0.05)
        except OSError:
            pass  # gone: it sees the end of the process instead

    def _pause(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._closing:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            if _ready(self._wake_read, select.POLLIN, min(left, TICK_SECONDS)):
                self._swallow_wakes()
            self._owner.ticked()

    def _swallow_wakes(self) -> None:
        try:
            self._wake_read.recv(4096)
        except BlockingIOError:
            pass

    def _close_connections(self) -> None:
        self.calls.drop()
        for connection in (self._session, self._attaching):
            if connection is not None:
                connection.close()
        self._session = self._attaching = None
        self._out = b""
        with self._lock:
            self._usage = None
            self._soft.clear()


def _ready(connection: socket.socket, events: int, seconds: float) -> bool:
    """Waits for one socket; with poll, because select fails for the descriptors of a process with many files."""
    poll = select.poll()
    poll.register(connection, events)
    return bool(poll.poll(seconds * 1000))


def _received(connection: socket.socket) -> bytes:
    try:
        data = connection.recv(65536)
    except BlockingIOError:
        return b""
    if not data:
        raise ConnectionResetError(errno.ECONNRESET, "the worker closed the connection")
    return data
