"""What makes a limit real in this process: the interface between the client and an allocator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Protocol



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


class Applier(Protocol):
    """An allocator that can be held to a limit while the process runs.

    ``enforced_by`` is the protocol's name of the mechanism (``torch``, ``allocator``), ``advisory`` when nothing
    holds the process to the limit. ``thread_safe`` says whether the client's own thread may apply a limit when the
    process passes no safe point for a while.
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
