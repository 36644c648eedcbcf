"""What an allocator does in each phase of the training: peaks, allocations, fragmentation, snapshots, cache releases.

::

    phase change --> reading --> the phase that ends here gets the peaks since the reading before
    step done -----> reading --> figures at the same point of each step; at most once a second: phase-summary
    every 500 steps --------> snapshot          asked by the worker, at a phase change --> cache-released

What an allocator does not know stays unknown (None, and null in a message). Nothing here raises into a training: an
allocator that cannot be read is not asked again.
"""

from __future__ import annotations

import logging
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

from ullage.account import Account
from ullage.wire import optional_integer

LOG = logging.getLogger("ullage")
SUMMARY_SECONDS = 1.0
#: Of so many sizes of a micro-batch peaks are kept; the protocol takes no more.
MAX_SIZES = 8


class Reading(NamedTuple):
    """What an allocator says at one moment. Bytes and counts, 0 or more; None: not known.

    The peaks are those since the reading before; ``allocations``, ``retries`` and ``ooms`` count since the process
    started: requests served, requests served only after the cache was given back, and requests turned away.
    ``allocation_nanos``: how long all ``allocations`` took, of an allocator that times itself.
    """

    allocated_bytes: Optional[int] = None
    reserved_bytes: Optional[int] = None
    peak_allocated_bytes: Optional[int] = None
    peak_reserved_bytes: Optional[int] = None
    requested_bytes: Optional[int] = None
    inactive_split_bytes: Optional[int] = None
    allocations: Optional[int] = None
    retries: Optional[int] = None
    ooms: Optional[int] = None
    allocation_nanos: Optional[int] = None


class Layout(NamedTuple):
    """How what an allocator took from the device lies there, as totals. ``largest_free_bytes``: in one piece."""

    segments: Optional[int] = None
    largest_free_bytes: Optional[int] = None
    inactive_split_bytes: Optional[int] = None


class Watch:
    """Watches one allocator for one rank. Not thread safe: the rank calls it with its lock held.

    An applier that can be watched has ``watched() -> Optional[Reading]``, and may have ``layout() -> Layout``.
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], None], clock: Callable[[], float] = time.monotonic) -> None:
        """``send`` passes a line on without waiting for anything."""
        self._send = send
        self._clock = clock
        self.account = Account(send, clock)
        self._epoch: Optional[int] = None
        self._peaks: Dict[str, List[Optional[int]]] = {}
        self._sent_at: Optional[float] = None
        self._sent_step = 0
        self._broken = False
        self._release_wanted = False
        self._lingering: Optional[int] = None
        self._snapshot_steps: Optional[int] = None
        self._batch: Optional[Mapping[str, Any]] = None
        self._micro_batch: Optional[int] = None
        self._sizes: Dict[int, Dict[str, List[Optional[int]]]] = {}
        self._ooms: Optional[int] = None
        self._is_later = False

    def welcomed(self, welcome: Mapping[str, Any]) -> None:
        """The worker says how often it wants a snapshot: every so many steps, 0 for never.

        One that does not say so is older and would not understand a word of what is watched: it is told nothing.
        """
        self._snapshot_steps = optional_integer(welcome, "snapshotSteps")
        self.account.wanted(welcome.get("reports") is True)

    def epoch(self, number: int) -> None:
        """The training is in this epoch from now on. Raises ValueError below 0."""
        if number < 0:
            raise ValueError(f"epoch must be 0 or more: {number}")
        self._epoch = number

    def cut_as(self, applier: Any, step: int, batch: Mapping[str, Any]) -> None:
        """The next step's batch is cut like this (``batch`` of the summary). Peaks of another size are forgotten."""
        before, self._batch = self._batch, batch
        if before is not None and any(before[size] != batch[size] for size in ("samples", "microBatch")):
            self._read(applier)
            self._peaks = {}
            self._sent_step = step

    def micro_batch(self, applier: Any, phase: str, samples: int) -> None:
        """From here on micro-batches have ``samples``. Raises ValueError below 1.

        Peaks are kept by size from the second step on: the first one is without the optimizer's state. Those of a
        time in which the allocator turned a request away are not: they are the limit's and not the size's.
        """
        if samples < 1:
            raise ValueError(f"a micro-batch has 1 sample or more: {samples}")
        if samples == self._micro_batch:
            return
        reading = self._read(applier)
        if reading is not None:
            self._count(phase, reading)
        self._micro_batch = samples

    def want_release(self) -> None:
        """The worker asks for the cache; it is given back at the next phase change."""
        self._release_wanted = True

    def lingering(self, held_bytes: Optional[int]) -> None:
        """A turn could not be ended, because ``held_bytes`` were held without the cache: more than it may without."""
        self._lingering = _most(self._lingering, held_bytes)

    def leaving(self, applier: Any, phase: str, step: int) -> None:
        """``phase`` ends here, at a safe point."""
        reading = self._read(applier)
        if reading is not None:
            self._count(phase, reading)
        self.account.leaving(phase, reading)
        if self._release_wanted:
            self._release_wanted = False
            self._release(applier, step)

    def step_done(self, applier: Any, phase: str, step: int) -> None:
        """The training has done ``step`` steps and is still in ``phase``."""
        reading = self._read(applier)
        self.account.step_done(phase, step, reading)
        if reading is not None:
            self._count(phase, reading)
            self._is_later = True
            if self._snapshot_steps and step % self._snapshot_steps == 0:
                self._snapshot(applier, step, reading)
        now = self._clock()
        is_soon = self._sent_at is not None and now - self._sent_at < SUMMARY_SECONDS
        if is_soon or self._snapshot_steps is None:
            return
        if reading is not None or self._epoch is not None or self._batch is not None:
            self._summarize(step, reading or Reading())
            self._sent_at = now
            self._sent_step = step
            self._peaks = {}
            self._lingering = None

    def _read(self, applier: Any) -> Optional[Reading]:
        watched = getattr(applier, "watched", None)
        if watched is None or self._broken:
            return None
        try:
            return watched()
        except Exception:  # a broken report must not end a training
            self._give_up()
            return None

    def _count(self, phase: str, reading: Reading) -> None:
        _raise(self._peaks, phase, reading)
        was_refused = self._ooms is not None and reading.ooms is not None and reading.ooms > self._ooms
        self._ooms = reading.ooms
        if self._micro_batch is not None and self._is_later and not was_refused:
            if self._micro_batch not in self._sizes and len(self._sizes) >= MAX_SIZES:
                del self._sizes[sorted(self._sizes)[MAX_SIZES // 2]]  # the ends say most
            _raise(self._sizes.setdefault(self._micro_batch, {}), phase, reading)

    def _summarize(self, step: int, reading: Reading) -> None:
        self._send({
            "type": "phase-summary", "step": step, "steps": max(0, step - self._sent_step), "epoch": self._epoch,
            "phases": _lines(self._peaks),
            "allocatedBytes": reading.allocated_bytes, "reservedBytes": reading.reserved_bytes,
            "requestedBytes": reading.requested_bytes, "inactiveSplitBytes": reading.inactive_split_bytes,
            "lingeringBytes": self._lingering,
            "allocations": reading.allocations, "retries": reading.retries, "ooms": reading.ooms,
            **({} if self._batch is None else {"batch": self._batch}),
            **self._micro_batches(),
        })

    def _micro_batches(self) -> Dict[str, Any]:
        if self._micro_batch is None:
            return {}
        sizes = [{"samples": size, "phases": _lines(self._sizes[size])} for size in sorted(self._sizes)]
        return {"microBatch": self._micro_batch, "microBatches": sizes}

    def _snapshot(self, applier: Any, step: int, reading: Reading) -> None:
        layout = getattr(applier, "layout", None)
        try:
            found = Layout() if layout is None else layout()
        except Exception:  # as for a reading
            self._give_up()
            return
        split = reading.inactive_split_bytes if found.inactive_split_bytes is None else found.inactive_split_bytes
        self._send({
            "type": "snapshot", "step": step, "allocatedBytes": reading.allocated_bytes,
            "reservedBytes": reading.reserved_bytes, "inactiveSplitBytes": split,
            "largestFreeBytes": found.largest_free_bytes, "segments": found.segments,
        })

    def _release(self, applier: Any, step: int) -> None:
        try:
            before = applier.held_bytes()
            applier.release_cache()
            after = applier.held_bytes()
        except Exception:  # as for a reading
            self._give_up()
            return
        self._send({"type": "cache-released", "step": step, "beforeBytes": before, "afterBytes": after})

    def _give_up(self) -> None:
        self._broken = True
        LOG.warning("ullage: the allocator could not be watched; not tried any more", exc_info=True)


class TorchReader:
    """Torch's statistics as readings, from what ``torch.cuda.memory_stats_as_nested_dict`` returns.

    Torch keeps one peak, that since its statistics were last reset. Without resetting it, what a phase *reserved* at
    most is still known, because the cache falls only when it is given back: the larger of both ends of the phase, or
    the peak where it rose. What it *allocated* at most is known only where the peak rose, and else unknown. With
    ``reset`` both are exact, but ``torch.cuda.max_memory_allocated()`` and the like then tell the user the peak of the
    current phase only.
    """

    def __init__(self, reset: Optional[Callable[[], None]] = None) -> None:
        """``reset``: resets torch's peaks, when that was asked for."""
        self._reset = reset
        self._reserved: Optional[int] = None
        self._newest: Dict[str, int] = {}
        self._most: Dict[str, int] = {}

    def read(self, stats: Mapping[str, Any]) -> Reading:
        """The reading of these statistics; keys that this torch does not have stay unknown."""
        reserved = _stat(stats, "reserved_bytes", "current")
        peak_allocated = self._since("allocated_bytes", stats)
        peak_reserved = self._since("reserved_bytes", stats)
        if self._reset is not None:
            self._reset()
        else:
            peak_reserved = _most(_most(self._reserved, reserved), peak_reserved)
        self._reserved = reserved
        return Reading(
            allocated_bytes=_stat(stats, "allocated_bytes", "current"), reserved_bytes=reserved,
            peak_allocated_bytes=peak_allocated, peak_reserved_bytes=peak_reserved,
            requested_bytes=_stat(stats, "requested_bytes", "current"),
            inactive_split_bytes=_stat(stats, "inactive_split_bytes", "current"),
            allocations=_stat(stats, "allocation", "allocated"), retries=stats.get("num_alloc_retries"),
            ooms=stats.get("num_oom_rejections", stats.get("num_ooms")))

    def most(self, name: str, peak: Optional[int]) -> Optional[int]:
        """The peak since the process started: torch's own, or the highest that was read before it was reset."""
        return peak if self._reset is None else _most(self._most.get(name), peak)

    def _since(self, name: str, stats: Mapping[str, Any]) -> Optional[int]:
        """The peak since the reading before; None where torch's one peak is from an earlier time."""
        peak = _stat(stats, name, "peak")
        if peak is None:
            return None
        self._most[name] = max(peak, self._most.get(name, 0))
        before, self._newest[name] = self._newest.get(name), peak
        return peak if self._reset is not None or before is None or peak > before else None


def layout_of(segments: List[Mapping[str, Any]], device: int) -> Layout:
    """The totals of ``torch.cuda.memory_snapshot()`` on one device."""
    count, largest, split = 0, 0, 0
    for segment in segments:
        if segment.get("device") != device:
            continue
        count += 1
        for block in segment.get("blocks", ()):
            if block.get("state") == "inactive":
                size = block.get("size", 0)
                largest = max(largest, size)
                split += size if size < segment.get("total_size", 0) else 0
    return Layout(count, largest, split)


def _raise(peaks: Dict[str, List[Optional[int]]], phase: str, reading: Reading) -> None:
    known = peaks.setdefault(phase, [None, None])
    known[0] = _most(known[0], reading.peak_reserved_bytes)
    known[1] = _most(known[1], reading.peak_allocated_bytes)


def _lines(peaks: Mapping[str, List[Optional[int]]]) -> Dict[str, Dict[str, Optional[int]]]:
    return {phase: {"peakReservedBytes": reserved, "peakAllocatedBytes": allocated}
            for phase, (reserved, allocated) in peaks.items()}


def _stat(stats: Mapping[str, Any], name: str, kind: str) -> Optional[int]:
    return stats.get(name, {}).get("all", {}).get(kind)


def _most(left: Optional[int], right: Optional[int]) -> Optional[int]:
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)
