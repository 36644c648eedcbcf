"""What can go wrong, as exceptions. Training code sees them only where it asked for them."""

from __future__ import annotations

from typing import Optional, Sequence


class UllageError(Exception):
    """The client could not do what was asked, such as reach a worker that was required.

    ``code`` is the worker's error code (``NO_SUCH_DEVICE``, ...) or None when the worker said nothing.
    """

    def __init__(self, message: str, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code


class LaunchError(UllageError):
    """The launcher's variables contradict their own rules; ``problems`` holds every one of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class ProtocolError(UllageError):
    """The peer sent a line that is not of the protocol."""


class MemoryLimitError(MemoryError):
    """An allocation was refused because of the limit in force. All numbers are bytes.

    A MemoryError, so that code that already survives running out of memory survives this.
    """

    def __init__(self, asked_bytes: int, allocated_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"refused {asked_bytes} bytes: {allocated_bytes} allocated, limit {limit_bytes}, "
            f"free {max(0, limit_bytes - allocated_bytes)}"
        )
        self.asked_bytes = asked_bytes
        self.allocated_bytes = allocated_bytes
        self.limit_bytes = limit_bytes


#: The exit code of a process that is to be started again by its launcher, after an out-of-memory error of its job.
RESTART_CODE = 83


class StepFailed(UllageError):
    """A step cannot go on because of another rank, or because nobody decided what is to be done."""


class StepAgain(UllageError):
    """A step was broken off on all ranks, their groups were formed anew, and what was directed is done.

    Parameters are what ``rebuild`` left: go on from the checkpoint that it loaded.
    """


class OutOfMemoryStop(UllageError):
    """No level is left: the last word on the job's out-of-memory error, after the checkpoint that was registered."""


class RestartForMemory(SystemExit):
    """Ends this process with ``RESTART_CODE``; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(RESTART_CODE)
        self.reason = reason
