"""What a training comes to: time by phase, steps, samples, loss, time that went into waiting for memory.

::

    phase change, step done, Rank.report --> counted here --at most once a second--> a "report" line to the worker

Everything is counted since this client began, so a line that is lost is made good by the next one; only the loss is a
mean since the line before. What nobody says stays unknown. Nothing is sent to a worker that does not ask for it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, TypeVar

if TYPE_CHECKING:
    from ullage.client import Rank
    from ullage.watch import Reading

REPORT_SECONDS = 1.0
#: A script that did no step for so long is taken for one that counts none.
STEPLESS_SECONDS = 10.0
#: What this client's own thread is called; the training does not wait for it.
SESSION_THREAD = "ullage-session"
_BILLION = 1_000_000_000
_MILLION = 1_000_000
_MOST_LOSSES = 1024
#: Beyond this many billionths a whole number is not exact in every reader of JSON.
_MOST = (1 << 53) - 1

Call = TypeVar("Call", bound=Callable[..., Any])


class Account:
    """Counts for one rank. Not thread safe: the rank calls it with its lock held."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], clock: Callable[[], float]) -> None:
        """``send`` passes a line on without waiting for anything."""
        self._send = send
        self._clock = clock
        self._began = clock()
        self._entered = self._began
        self._phases: Dict[str, float] = {}
        self._limit_seconds = 0.0
        self._turn_seconds = 0.0
        self._inside = False
        self._step = 0
        self._steps = 0
        self._samples: Optional[int] = None
        self._flops: Optional[int] = None
        self._losses: List[float] = []
        self._loss_sum = 0.0
        self._loss_count = 0
        self._losses_left_out = 0
        self._allocations: Optional[int] = None
        self._allocation_nanos: Optional[int] = None
        self._sent_at: Optional[float] = None
        self._is_wanted = False
        self._has_news = False

    def wanted(self, is_wanted: bool) -> None:
        """Whether the worker understands these lines."""
        self._is_wanted = is_wanted

    def turned(self, seconds: float) -> None:
        """So long the training waited for a turn."""
        self._turn_seconds += max(0.0, seconds)

    def leaving(self, phase: str, reading: Optional["Reading"]) -> None:
        """``phase`` ends here."""
        now = self._clock()
        self._phases[phase] = self._phases.get(phase, 0.0) + max(0.0, now - self._entered)
        self._entered = now
        self._read(reading)
        self._send_if_due(now, phase)

    def step_done(self, phase: str, step: int, reading: Optional["Reading"]) -> None:
        """The training has done ``step`` steps and is still in ``phase``."""
        self._steps += 1
        self._step = step
        self._fold()
        self._has_news = True
        self._read(reading)
        self._send_if_due(self._clock(), phase)

    def said(self, loss: Optional[float], samples: Optional[int], flops: Optional[float]) -> None:
        """What the script says of a step. Raises ValueError for an amount that cannot be."""
        count = None if samples is None else _count("samples", samples, _MOST)
        operations = None if flops is None else _count("flops", flops, _MOST * _MILLION)
        if count is not None:
            self._samples = min(_MOST, (self._samples or 0) + count)
        if operations is not None:
            self._flops = operations
        if loss is not None:
            value = float(loss)
            if len(self._losses) >= _MOST_LOSSES:
                self._fold()  # of a script that counts no steps
            if math.isfinite(value) and abs(value) * _BILLION <= _MOST:
                self._losses.append(value)
            else:
                self._losses_left_out += 1
        # What is said belongs to the step that is about to be done; who counts no steps is heard all the same.
        self._has_news |= self._steps == 0 and self._clock() - self._began >= STEPLESS_SECONDS

    @contextlib.contextmanager
    def limited(self) -> Iterator[None]:
        """What the training does in here is waiting for a limit; one within another counts once."""
        if self._inside or threading.current_thread().name == SESSION_THREAD:
            yield
            return
        self._inside = True
        start = self._clock()
        try:
            yield
        finally:
            self._inside = False
            self._limit_seconds += max(0.0, self._clock() - start)

    def last(self, phase: str) -> None:
        """The client says bye; ``phase`` is the one it is in."""
        has_said = self._samples is not None or bool(self._losses)
        if self._is_wanted and (self._has_news or has_said):
            self._report(self._clock(), phase)

    def _fold(self) -> None:
        """The losses said so far are of the steps done so far."""
        self._loss_sum += sum(self._losses)
        self._loss_count += len(self._losses)
        self._losses.clear()

    def _read(self, reading: Optional["Reading"]) -> None:
        if reading is not None and reading.allocation_nanos is not None:
            self._allocations = reading.allocations
            self._allocation_nanos = reading.allocation_nanos

    def _send_if_due(self, now: float, phase: str) -> None:
        is_soon = self._sent_at is not None and now - self._sent_at < REPORT_SECONDS
        if self._is_wanted and self._has_news and not is_soon:
            self._report(now, phase)

    def _report(self, now: float, phase: str) -> None:
        if self._steps == 0:
            self._fold()
        phases = dict(self._phases)
        phases[phase] = phases.get(phase, 0.0) + max(0.0, now - self._entered)
        loss = None if self._loss_count == 0 else round(self._loss_sum / self._loss_count * _BILLION)
        self._send({
            "type": "report", "step": self._step, "steps": self._steps, "elapsedMillis": _millis(now - self._began),
            "samples": self._samples, "megaflopsPerStep": None if self._flops is None else self._flops // _MILLION,
            "phaseMillis": {name: _millis(seconds) for name, seconds in phases.items()},
            "turnWaitMillis": _millis(self._turn_seconds),
            "limitWaitMillis": _millis(self._limit_seconds),
            "timedAllocations": None if self._allocation_nanos is None else self._allocations,
            "allocationMicros": None if self._allocation_nanos is None else self._allocation_nanos // 1000,
            "lossBillionths": loss, "lossesLeftOut": self._losses_left_out,
        })
        self._sent_at = now
        self._has_news = False
        self._loss_sum, self._loss_count = 0.0, 0


class Reporting:
    """The part of a rank in which a script says what it knows and nobody else can."""

    def report(self: "Rank", loss: Optional[float] = None, samples: Optional[int] = None,  # type: ignore[misc]
               flops: Optional[float] = None) -> None:
        """Says what a step came to, for ``ullage report``: best before its ``step_done``, and each part only if known.

        ``loss``: of this step. Give a number that you have anyway: a tensor on a GPU has to be waited for. One that is
        not finite is counted apart. ``samples``: this rank's in this step; they are added up. ``flops``:
        floating-point operations of one step on this rank, 0 or more; for a dense transformer about 6 x parameters x
        tokens. Raises ValueError for samples or flops below 0.
        """
        with self.lock:
            self.watch.account.said(loss, samples, flops)

    def waited_for_turn(self: "Rank", seconds: float) -> None:  # type: ignore[misc]
        """For the parts of this client, under the lock."""
        self.watch.account.turned(seconds)


def counted_as_limit(call: Call) -> Call:
    """For a method of a rank that brings a limit in force: what it takes in the training's thread counts as waiting."""

    @functools.wraps(call)
    def timed(rank: Any, *arguments: Any, **named: Any) -> Any:
        with rank.watch.account.limited():
            return call(rank, *arguments, **named)

    return timed  # type: ignore[return-value]


def _count(name: str, value: Any, most: int) -> int:
    """A worker takes no larger number, and would end the connection over it."""
    if isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{name} must be 0 to {most}: {value!r}")
    return int(value)


def _millis(seconds: float) -> int:
    return int(max(0.0, seconds) * 1000)


__all__ = ["Account", "Reporting", "counted_as_limit"]
