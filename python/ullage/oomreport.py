"""The ``oom`` line: what the error said, what torch counts, and what this rank can do."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import torch

from ullage.client import Rank
from ullage.oom import OutOfMemory, expandable_segments

_SETTING = "expandable_segments:True"


def report(rank: Rank, found: OutOfMemory, sequence: int, base: Optional[int], used: Optional[int],
           means: Mapping[str, Any]) -> Dict[str, Any]:
    """The line. What torch's own text says of the moment it failed goes before what is counted now."""
    in_force = rank.in_force
    limit = found.limit_bytes
    if limit is None:
        limit = found.total_bytes if in_force is None else in_force.limit_bytes
    return dict({
        "type": "oom", "sequence": sequence, "step": rank.step, "phase": rank.current_phase, "kind": found.kind,
        "requestedBytes": found.requested_bytes, "baseBytes": base,
        "allocatedBytes": used if found.allocated_bytes is None else found.allocated_bytes,
        "reservedBytes": found.reserved_bytes, "unusedBytes": found.unused_bytes, "limitBytes": limit}, **means)


def can_set_allocator() -> bool:
    """Whether torch's allocator can still be told to fragment less, and was not at its start."""
    return torch.cuda.is_available() and not expandable_segments() and _setter() is not None


def set_allocator() -> None:
    """Tells it; segments taken from now on can grow."""
    setter = _setter()
    if setter is not None:
        setter(_SETTING)


def _setter() -> Any:
    return getattr(getattr(torch.cuda, "memory", None), "_set_allocator_settings", None)
