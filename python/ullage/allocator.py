"""A small allocator that counts bytes and keeps to the limit: for simulated devices, workspaces and tests."""

from __future__ import annotations

import threading
import time
from typing import Optional

from ullage.applier import Usage
from ullage.errors import MemoryLimitError
from ullage.watch import Reading


class LimitedAllocator:
    """Accounts for bytes the way a caching allocator does: what is released stays held until the cache is released.

    Invariant: ``allocated <= held``, and held grows only while it stays within the limit. Thread safe.
    """

    enforced_by = "allocator"
    thread_safe = True

    def __init__(self, limit_bytes: Optional[int] = None) -> None:
        """``limit_bytes`` is 0 or more; None: no limit until one is applied."""
        self._lock = threading.Lock()
        self._limit_bytes = limit_bytes
        self._allocated_bytes = 0
        self._held_bytes = 0
        self._peak_allocated_bytes = 0
        self._peak_held_bytes = 0
        self._refusals = 0
        self._allocations = 0
        self._allocation_nanos = 0
        self._peaks_since = (0, 0)

    @property
    def limit_bytes(self) -> Optional[int]:
        """The limit it keeps to, bytes; None when it has none."""
        return self._limit_bytes

    @property
    def allocated_bytes(self) -> int:
        """Bytes reserved and not released."""
        return self._allocated_bytes

    @property
    def refusals(self) -> int:
        """Requests turned away because of the limit."""
        return self._refusals

    def reserve(self, nbytes: int) -> None:
        """Takes ``nbytes`` (0 or more). Raises MemoryLimitError when the limit forbids it, ValueError below 0."""
        if nbytes < 0:
            raise ValueError(f"cannot reserve {nbytes} bytes")
        start = time.perf_counter_ns()
        with self._lock:
            wanted = self._allocated_bytes + nbytes
            if nbytes and self._limit_bytes is not None and wanted > max(self._limit_bytes, self._held_bytes):
                self._refusals += 1
                raise MemoryLimitError(nbytes, self._allocated_bytes, self._limit_bytes)
            if wanted > self._held_bytes:
                self._held_bytes = wanted
            self._allocated_bytes = wanted
            self._peak_allocated_bytes = max(self._peak_allocated_bytes, wanted)
            self._peak_held_bytes = max(self._peak_held_bytes, self._held_bytes)
            self._allocations += 1
            allocated, held = self._peaks_since
            self._peaks_since = (max(allocated, wanted), max(held, self._held_bytes))
            self._allocation_nanos += time.perf_counter_ns() - start

    def release(self, nbytes: int) -> None:
        """Returns ``nbytes`` to the cache. Raises ValueError when more is returned than was reserved."""
        with self._lock:
            if not 0 <= nbytes <= self._allocated_bytes:
                raise ValueError(f"cannot release {nbytes} of {self._allocated_bytes} bytes")
            self._allocated_bytes -= nbytes

    def held_bytes(self) -> int:
        """Bytes held, cache included."""
        return self._held_bytes

    def release_cache(self) -> None:
        """Gives back what is held and not reserved."""
        with self._lock:
            self._held_bytes = self._allocated_bytes

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Keeps to ``limit_bytes`` from now on; what is already held stays usable. ``phase`` makes no difference."""
        with self._lock:
            self._limit_bytes = limit_bytes

    def usage(self) -> Usage:
        """What it holds, held at most, and refused."""
        with self._lock:
            return Usage(self._allocated_bytes, self._held_bytes, self._peak_allocated_bytes, self._peak_held_bytes,
                         self._refusals)

    def watched(self) -> Reading:
        """What it holds and has done, with the peaks since this was last asked. It knows no fragmentation."""
        with self._lock:
            allocated, held = self._peaks_since
            self._peaks_since = (self._allocated_bytes, self._held_bytes)
            return Reading(self._allocated_bytes, self._held_bytes, allocated, held, allocations=self._allocations,
                           ooms=self._refusals, allocation_nanos=self._allocation_nanos)
