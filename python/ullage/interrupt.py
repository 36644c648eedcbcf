"""Freeing a process that the job's directive cannot reach otherwise, because it waits inside a collective.

A thread cannot make another one leave a collective, and what a broken communicator leaves behind differs between
backends and versions of torch. What is right for all of them is to end the process with a code of its own: the launcher
starts the ranks again, and they take the directive up.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import Callable, Optional

from ullage.errors import RESTART_CODE
from ullage.mailbox import Directive

LOG = logging.getLogger("ullage")
#: How long a thread that is not inside a collective has to see a directive that restarts it.
RESTART_SECONDS = 2.0


class Interrupter:
    """Watches that each directive is taken up by the thread that trains."""

    def __init__(self, after_seconds: float, end: Optional[Callable[[str], None]] = None) -> None:
        """``after_seconds``: how long a directive may wait for a step that can be run again to come to its end."""
        self._after = after_seconds
        self._end = _end_process if end is None else end
        self._lock = threading.Lock()
        self._applied = 0
        self._restartable = False

    def ordered(self, directive: Directive) -> None:
        """A directive came; in the session's thread."""
        if directive.resumed:
            return
        soon = directive.restart or self._restartable
        timer = threading.Timer(RESTART_SECONDS if soon else self._after, self._due, (directive,))
        timer.daemon = True
        timer.start()

    def applied(self, sequence: int) -> None:
        """The thread that trains has taken the directive up."""
        with self._lock:
            self._applied = max(self._applied, sequence)

    def allow_restart(self) -> None:
        """The step that begins cannot be run again, so a directive means a restart."""
        self._restartable = True

    def keep_running(self) -> None:
        """That step is over."""
        self._restartable = False

    def _due(self, directive: Directive) -> None:
        with self._lock:
            if self._applied >= directive.sequence:
                return
        self._end(directive.reason)


def _end_process(reason: str) -> None:
    LOG.warning("ullage: this rank does not come to the end of its step, so it ends with code %d: %s", RESTART_CODE,
                reason)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(RESTART_CODE)
