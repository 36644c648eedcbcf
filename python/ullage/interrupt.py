"""Freeing a process that the job's directive cannot reach otherwise, because it waits inside a collective.

A thread cannot make another one leave a collective, and what a broken communicator leaves behind differs between
backends and versions of torch. What is right for all of them is to end the process with a code of its own: the launcher
starts the ranks again, and they take the directive up.
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

    def __init__(self, after_seconds: float, end: Optional[Callable[[str], None]] = None) -> None:
        """``after_seconds``: how long a directive may wait for a step that can be run again to come to its end."""
        self._after = after_seconds
        self._end = _end_process if end is None else end
        self._lock = threading.Lock()
        self._newest: Optional[Directive] = None
        self._applied = 0
        self._restartable = False
        self._inside = False
        self._entry = 0

    def ordered(self, directive: Directive) -> None:
        """A directive came; in the session's thread."""
        if directive.resumed or directive.is_share_order:
            return
        with self._lock:
            self._newest = directive
            self._watch()

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
        timer = threading.Timer(RESTART_SECONDS if soon else self._after, self._due, (newest, self._entry))
        timer.daemon = True
        timer.start()

    def _due(self, directive: Directive, entry: int) -> None:
        with self._lock:
            if self._applied >= directive.sequence or not self._inside or self._entry != entry:
                return
        self._end(directive.reason)


def _end_process(reason: str) -> None:
    LOG.warning("ullage: this rank does not come to the end of its step, so it ends with code %d: %s", RESTART_CODE,
                reason)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(RESTART_CODE)
