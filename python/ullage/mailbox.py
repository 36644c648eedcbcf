"""What must not get lost between a rank and its worker: lines said again after each welcome, and the newest directive.

Thread safe: the thread that trains puts lines in and waits for directives, the session's thread takes both along.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ullage.shares import Shares
from ullage.wire import encode, integer, optional_integer


@dataclass(frozen=True)
class Directive:
    """What every rank of the job is to do (docs/protocol.md, section 1, ``directive``). Sequences start at 1.

    ``resumed``: the job was told before this process was known, so a restart that it asks for has taken place.
    ``shares``: how the batch is shared out; None: evenly.
    """

    sequence: int
    step: int
    level: str
    micro_batch: Optional[int]
    accumulation: Optional[int]
    restart: bool
    done: Tuple[str, ...]
    reason: str
    resumed: bool
    line: Mapping[str, Any]
    shares: Optional[Shares] = None

    @property
    def is_share_order(self) -> bool:
        """Whether nobody ran out of memory and it only shares the batch out anew: no step waits for that."""
        return self.shares is not None and self.shares.since == self.sequence

    @staticmethod
    def of(message: Mapping[str, Any]) -> "Directive":
        """The directive of a line. Raises ProtocolError for one that is none."""
        done = message.get("done")
        return Directive(
            integer(message, "sequence"), integer(message, "step"), str(message.get("level")),
            optional_integer(message, "microBatch"), optional_integer(message, "accumulation"),
            message.get("restart") is True, tuple(str(level) for level in done) if isinstance(done, list) else (),
            str(message.get("reason") or ""), message.get("resumed") is True,
            {key: value for key, value in message.items() if key not in ("type", "resumed")}, Shares.of(message))


class Mailbox:
    """One slot for each kind of line that is kept, and one for the newest directive: nothing queues."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """``wake`` makes the session's thread look for lines to send."""
        self._wake = wake
        self._lock = threading.Condition(threading.RLock())
        self._kept: Dict[str, bytes] = {}
        self._due: List[str] = []
        self._newest: Optional[Directive] = None
        self._listeners: List[Callable[[Directive], None]] = []

    @property
    def newest(self) -> Optional[Directive]:
        """The directive with the highest sequence so far; None when there was none."""
        return self._newest

    def keep(self, message: Mapping[str, Any]) -> None:
        """Says ``message`` now and after each welcome, until another of its type replaces it or it is dropped."""
        kind = message["type"]
        with self._lock:
            self._kept[kind] = encode(message)
            if kind in self._due:
                self._due.remove(kind)
            self._due.append(kind)
        self._wake()

    def drop(self, kind: str) -> None:
        """Says that line no more."""
        with self._lock:
            self._kept.pop(kind, None)
            if kind in self._due:
                self._due.remove(kind)

    def on_directive(self, listener: Callable[[Directive], None]) -> None:
        """Calls ``listener`` with each newer directive, in the session's thread."""
        with self._lock:
            self._listeners.append(listener)

    def wait(self, after: int, timeout: float) -> Optional[Directive]:
        """The newest directive once its sequence is above ``after``; None when that takes over ``timeout`` seconds."""
        with self._lock:
            self._lock.wait_for(lambda: self._newest is not None and self._newest.sequence > after, timeout)
            newest = self._newest
        return newest if newest is not None and newest.sequence > after else None

    # ---- the session's thread -----------------------------------------------------------------------------------

    def hello(self) -> Dict[str, Any]:
        """What the hello says of directives: a worker that was started anew learns from its ranks what they hold."""
        newest = self._newest
        return {} if newest is None else {"directive": newest.line}

    def welcomed(self) -> None:
        """A new connection: all that is kept is to be said again, what was done before what failed since."""
        with self._lock:
            self._due = list(self._kept)

    def next_line(self) -> bytes:
        """The next line to send; empty when there is none."""
        with self._lock:
            return self._kept[self._due.pop(0)] if self._due else b""

    def received(self, message: Mapping[str, Any]) -> None:
        """Takes a ``directive`` line; one that is not newer changes nothing."""
        directive = Directive.of(message)
        with self._lock:
            if self._newest is not None and directive.sequence <= self._newest.sequence:
                return
            self._newest = directive
            self._lock.notify_all()
            listeners = list(self._listeners)
        for listener in listeners:
            listener(directive)

    def abandon(self) -> None:
        """In a forked child, where the thread that held the lock may not exist."""
        self._lock = threading.Condition(threading.RLock())
        self._kept, self._due, self._listeners = {}, [], []
