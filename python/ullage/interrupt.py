"""Freeing a process that the job's directive cannot reach otherwise, because it waits inside a collective.

What a broken communicator leaves behind differs between backends and versions of torch. What is right for all of them
is to end the process with a code of its own: the launcher starts the ranks again, and they take the directive up. Where
the job can form its groups anew and torch can abort them, that is tried first.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from typing import Callable, Iterator, Optional

from ullage.errors import RESTART_CODE
from ullage.mailbox import Directive

LOG = logging.getLogger("ullage")
#: How long a thread that is not inside a collective has to see a directive that restarts it.
RESTART_SECONDS = 2.0


class Interrupter:
    """Watches that a thread that is inside a step takes each directive up; one that is outside is left alone."""

    def __init__(self, after_seconds: float, end: Optional[Callable[[str], None]] = None,
                 abort: Optional[Callable[[], bool]] = None) -> None:
        """``after_seconds``: how long a directive may wait for a step that can be run again to come to its end.

        ``abort`` frees the thread from a collective and returns whether it could; None: the process is ended.
        """
        self._after = after_seconds
        self._end = _end_process if end is None else end
        self._abort = abort
        self._aborted: Optional[int] = None
        self._lock = threading.Lock()
        self._newest: Optional[Directive] = None
        self._applied = 0
        self._restartable = False
        self._inside = False
        self._entry = 0

    def ordered(self, directive: Directive) -> None:
        """A directive came; in the session's thread."""
        if directive.resumed:
            return
        with self._lock:
            self._newest = directive
            self._watch()

    @property
    def aborted(self) -> bool:
        """Whether the groups of this process were aborted in the step that it is in, or was in last."""
        return self._aborted is not None and self._aborted == self._entry

    def applied(self, sequence: int) -> None:
        """The thread that trains has taken the directive up."""
        with self._lock:
            self._applied = max(self._applied, sequence)

    @contextlib.contextmanager
    def inside(self, restartable: bool) -> Iterator[None]:
        """While the thread is in a step. ``restartable``: it cannot be run again, so a directive means a restart."""
        with self._lock:
            self._entry += 1
            self._inside, self._restartable = True, restartable
            self._watch()
        try:
            yield
        finally:
            with self._lock:
                self._inside = False

    def _watch(self) -> None:
        newest = self._newest
        if not self._inside or newest is None or newest.sequence <= self._applied:
            return
        soon = newest.restart or self._restartable
        self._look(newest, RESTART_SECONDS if soon else self._after)

    def _look(self, directive: Directive, seconds: float) -> None:
        timer = threading.Timer(seconds, self._due, (directive, self._entry))
        timer.daemon = True
        timer.start()

    def _due(self, directive: Directive, entry: int) -> None:
        with self._lock:
            if self._applied >= directive.sequence or not self._inside or self._entry != entry:
                return
            breaks_off = self._restartable or directive.restart
            abort = self._abort if breaks_off and not self.aborted and goes_on(directive) else None
            if abort is not None:
                self._aborted = entry
                self._look(directive, self._after)  # aborting may hang, and it may free nobody
        if abort is None:
            self._end(directive.reason)
            return
        LOG.warning("ullage: this rank may be inside a collective, so its groups are aborted: %s", directive.reason)
        if not abort():
            self._end(directive.reason)


def goes_on(directive: Directive) -> bool:
    """Whether processes can do it without being started again, once their groups are formed anew."""
    return directive.level not in ("RESTART", "STOP")


def _end_process(reason: str) -> None:
    LOG.warning("ullage: this rank does not come to the end of its step, so it ends with code %d: %s", RESTART_CODE,
                reason)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(RESTART_CODE)
