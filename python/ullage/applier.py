"""What makes a limit real in this process: the interface between the client and an allocator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, NamedTuple, Optional, Protocol

USAGE_SECONDS = 1.0


@dataclass(frozen=True)
class Usage:
    """What an allocator says of itself. Bytes, each 0 or more; None: not known, never 0 instead.

    ``refusals`` counts requests turned away since the process started because of the limit.
    """

    allocated_bytes: Optional[int] = None
    reserved_bytes: Optional[int] = None
    peak_allocated_bytes: Optional[int] = None
    peak_reserved_bytes: Optional[int] = None
    refusals: Optional[int] = None

    def message(self) -> Dict[str, Any]:
        """The protocol's ``usage`` line."""
        return {
            "type": "usage",
            "allocatedBytes": self.allocated_bytes,
            "reservedBytes": self.reserved_bytes,
            "peakAllocatedBytes": self.peak_allocated_bytes,
            "peakReservedBytes": self.peak_reserved_bytes,
            "refusals": self.refusals,
        }


class UsagePace:
    """When usage is worth a line: at most once a second, and at once when it has a new peak. Its owner has the lock."""

    def __init__(self) -> None:
        self._at = -USAGE_SECONDS
        self._peaks = (-1, -1)

    def is_due(self, now: float) -> bool:
        """Whether the last line is long ago."""
        return now - self._at >= USAGE_SECONDS

    def passes(self, usage: Usage, now: float) -> bool:
        """Whether ``usage`` is to be said now; then it counts as said."""
        said = self._peaks
        peaks = (_known(usage.peak_allocated_bytes), _known(usage.peak_reserved_bytes))
        self._peaks = (max(said[0], peaks[0]), max(said[1], peaks[1]))
        if self._peaks == said and not self.is_due(now):
            return False
        self._at = now
        return True

    def nothing(self, now: float) -> None:
        """There was nothing to say: that is not asked again for a while."""
        self._at = now

    def last(self) -> None:
        """The last word is always due."""
        self._at = -USAGE_SECONDS


def _known(value: Optional[int]) -> int:
    return -1 if value is None else value


class Applier(Protocol):
    """An allocator that can be held to a limit while the process runs.

    ``enforced_by`` is the protocol's name of the mechanism (``torch``, ``allocator``, ``env`` for one that is fixed
    at the start: see ``ullage.fixed``), ``advisory`` when nothing holds the process to the limit. ``thread_safe``
    says whether the client's own thread may apply a limit when the process passes no safe point for a while.
    """

    enforced_by: str
    thread_safe: bool

    def held_bytes(self) -> Optional[int]:
        """Bytes taken from the device now, cache included; None when not known."""

    def release_cache(self) -> None:
        """Gives back what is held and not in use."""

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Holds the process to ``limit_bytes`` from now on. An exception means: not applied."""

    def usage(self) -> Optional[Usage]:
        """What to report; None when nothing is known. Called at most once a second and once a step."""


class RestartNote(NamedTuple):
    """What only a restart of the process could bring in force: ``limit_bytes``, and why, for people."""

    limit_bytes: int
    reason: str


def fixed_bytes_of(applier: Applier) -> Optional[int]:
    """The limit an applier was given at the start of the process and cannot change (its ``fixed_bytes``), or None."""
    return getattr(applier, "fixed_bytes", None)


def restart_fields(applier: Applier, ordered_bytes: Optional[int]) -> Dict[str, Any]:
    """What a ``confirm`` says of a restart; nothing when the applier's ``restart_note`` names none, or has none."""
    note_of = getattr(applier, "restart_note", None)
    note = None if note_of is None or ordered_bytes is None else note_of(ordered_bytes)
    return {} if note is None else {"needsRestart": {"limitBytes": note.limit_bytes, "reason": note.reason[:200]}}


def takes_overhead(applier: Applier, overhead_bytes: Optional[int]) -> bool:
    """Tells an applier what its process uses beside its allocator, None: not known; whether that asks for action.

    Only an applier with ``use_overhead`` makes room for it; the limit of the others counts their allocator alone.
    """
    use_overhead = getattr(applier, "use_overhead", None)
    return use_overhead is not None and bool(use_overhead(overhead_bytes))


class AdvisoryApplier:
    """Holds nothing to a limit, and says so; a source of usage may be attached to it."""

    enforced_by = "advisory"
    thread_safe = True

    def held_bytes(self) -> Optional[int]:
        """Not known."""
        return None

    def release_cache(self) -> None:
        """Nothing to give back."""

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Accepts every limit: there is nothing to set."""

    def usage(self) -> Optional[Usage]:
        """Not known."""
        return None
