"""The client's half of the limit protocol as a pure state machine: no socket, no clock, no thread.

::

    receive(order) --> newest order --plan(held)--> what to set and what to say --commit(plan)--> in force

Two things are kept apart: the *newest order* the worker gave, and what is *in force* in this process. The first
becomes the second only through ``commit``, which the caller makes after its allocator took the limit.

A turn (docs/turns.md) is an amount on top of what is in force, for some phases; orders know nothing of it. It is over
only when the process holds no more than it may without.

Invariants: the newest order's sequence never falls; within one sequence the limit in force only falls; a limit in
force is above its order only by what the process still holds, and then not above what was in force before. What the
process may hold is at any time at most what is in force and what the turn adds.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Dict, FrozenSet, Iterable, Mapping, Optional

from ullage.phases import INIT, PHASES

#: For so many seconds what was passed on to this process waits for a worker that is there to say what counts now.
NEWS_SECONDS = 2.0


@dataclass(frozen=True)
class Order:
    """A worker's order. ``sequence`` is 1 or more; ``limits`` holds the bytes of each of the seven phases."""

    sequence: int
    limits: Mapping[str, int]

    def __post_init__(self) -> None:
        if self.sequence < 1:
            raise ValueError(f"sequence must be 1 or more: {self.sequence}")
        for phase in PHASES:
            if phase not in self.limits:
                raise ValueError(f"order {self.sequence} has no limit for {phase}")
            if self.limits[phase] < 0:
                raise ValueError(f"order {self.sequence}: limit of {phase} is negative: {self.limits[phase]}")

    @property
    def max_bytes(self) -> int:
        """The highest limit of any phase."""
        return max(self.limits[phase] for phase in PHASES)


@dataclass(frozen=True)
class InForce:
    """What is in force: the order's sequence, and the most bytes the process may use in any phase."""

    sequence: int
    limit_bytes: int


@dataclass(frozen=True)
class Plan:
    """What a safe point is to do: set ``phase_limit_bytes`` in the allocator, then ``commit``.

    ``in_force`` is what will hold afterwards in any phase, and what a confirmation says.
    """

    sequence: int
    phase: str
    phase_limit_bytes: int
    in_force: InForce


class Receipt(enum.Enum):
    """What an arriving order was."""

    NEW = "new"
    REPEATED = "repeated"
    STALE = "stale"


class LimitState:
    """Orders in, limits in force out. Not thread safe: one caller at a time."""

    def __init__(self, in_force: Optional[InForce] = None) -> None:
        """``in_force`` is what this process was already given, before an exec or an earlier connection."""
        self._phase = INIT
        self._newest: Optional[Order] = None
        self._applied: Optional[Order] = None
        self._in_force = in_force
        self._phase_limit_bytes: Optional[int] = None
        self._turn_bytes = 0
        self._turn_phases: FrozenSet[str] = frozenset()
        self._resumed = in_force is not None
        if in_force is not None:
            self._newest = _resumed_order(in_force)
            self._phase_limit_bytes = in_force.limit_bytes

    @property
    def phase(self) -> str:
        """The current phase."""
        return self._phase

    @property
    def in_force(self) -> Optional[InForce]:
        """What is truly in force in any phase; None when the process was never given a limit."""
        return self._in_force

    @property
    def limit_bytes(self) -> Optional[int]:
        """The limit truly in force now, in the current phase; None when there was never one."""
        return self._phase_limit_bytes

    @property
    def resumed(self) -> bool:
        """Whether what is in force was passed on to this process, and its worker has not said yet what counts now."""
        return self._resumed

    @property
    def newest_sequence(self) -> int:
        """The sequence of the newest order known here, 0 when there is none."""
        return 0 if self._newest is None else self._newest.sequence

    @property
    def limits(self) -> Optional[Dict[str, int]]:
        """The limit of each phase by what is in force, bytes; None when there was never one."""
        if self._in_force is None:
            return None
        most = self._in_force.limit_bytes
        if self._applied is None:
            return {phase: most for phase in PHASES}
        return {phase: min(self._applied.limits[phase], most) for phase in PHASES}

    @property
    def pending(self) -> bool:
        """Whether the newest order is not in force yet, or only in part because more is held than it allows."""
        order = self._newest
        if order is None:
            return False
        return order is not self._applied or self._in_force is None or self._in_force.limit_bytes > order.max_bytes

    @property
    def needs_settling(self) -> bool:
        """Whether the next safe point has anything to do: an order, or this phase's own limit."""
        return self.pending or self._phase_limit_bytes != self.target_bytes or self.lingers

    @property
    def turn_bytes(self) -> int:
        """What a turn adds to what is in force; 0 without one."""
        return self._turn_bytes

    @property
    def lingers(self) -> bool:
        """Whether the process has a turn outside of the phases it was given for: it is to end it as soon as it can."""
        return self._turn_bytes > 0 and self._phase not in self._turn_phases

    def take_turn(self, turn_bytes: int, phases: Iterable[str]) -> None:
        """The worker gave a turn: ``turn_bytes`` on top in ``phases``, from the next ``commit`` on."""
        self._turn_bytes = turn_bytes
        self._turn_phases = frozenset(phases)

    def end_turn(self, held_bytes: Optional[int]) -> bool:
        """Gives the turn up, unless its phase lasts, or more is held or allowed than may be without.

        ``held_bytes`` is to be read after the limit without the turn was set; None: not known. Returns whether the
        turn is over.
        """
        most = 0 if self._in_force is None else self._in_force.limit_bytes
        allowed = 0 if self._phase_limit_bytes is None else self._phase_limit_bytes
        if not self.lingers or allowed > most or (held_bytes is not None and held_bytes > most):
            return False
        self._turn_bytes = 0
        return True

    def enter(self, phase: str) -> None:
        """Makes ``phase`` the current one. Its limit takes effect with the next ``commit``."""
        self._phase = phase

    def receive(self, order: Order) -> Receipt:
        """Takes an order in. The highest sequence wins; within one sequence the first order does."""
        if order.sequence < self.newest_sequence:
            return Receipt.STALE
        if order.sequence == self.newest_sequence and not self._resumed:
            return Receipt.REPEATED
        self._newest = order
        self._resumed = False
        return Receipt.NEW

    def forget_pending(self) -> None:
        """A new connection: an order not in force yet came from a worker that may not know of it any more.

        Its ledger may be lost, and the next order would have the same sequence. A worker that does know repeats it.
        """
        if self._applied is not None:
            self._newest = self._applied
        elif self._in_force is not None:
            self._newest = _resumed_order(self._in_force)
            self._resumed = True
        else:
            self._newest = None

    @property
    def target_bytes(self) -> Optional[int]:
        """What the newest order allows in the current phase, bytes; None when there is no order."""
        if self._newest is None:
            return None
        limit = self._newest.limits[self._phase]
        if self._in_force is not None and self._in_force.sequence == self._newest.sequence:
            limit = min(limit, self._in_force.limit_bytes)
        return limit if self.lingers else limit + self._turn_bytes

    @property
    def ordered_bytes(self) -> Optional[int]:
        """What the newest order allows in any phase, bytes; None when there is no order."""
        return None if self._newest is None else self._newest.max_bytes

    def plan(self, held_bytes: Optional[int], fixed_bytes: Optional[int] = None) -> Optional[Plan]:
        """What to set and confirm when the allocator holds ``held_bytes`` (None: not known); None without order.

        A process that was never given a limit had no bound before, so what it holds counts in full. ``fixed_bytes``:
        the limit of an allocator that cannot be given another; more than that is not in force whatever is ordered.
        """
        order = self._newest
        if order is None:
            return None
        before = None if self._in_force is None else self._in_force.limit_bytes
        total = 0 if held_bytes is None else held_bytes
        held = max(0, total - self._turn_bytes)  # the rest is what the turn is for
        floor = held if before is None else min(held, before)
        most = max(order.max_bytes, floor)
        if self._in_force is not None and self._in_force.sequence == order.sequence:
            most = min(most, self._in_force.limit_bytes)
        if fixed_bytes is not None:
            most = min(most, fixed_bytes)
        phase_limit = min(max(order.limits[self._phase], floor), most)
        if self.lingers:
            phase_limit = max(phase_limit, min(total, most + self._turn_bytes))
        else:
            phase_limit += self._turn_bytes
        return Plan(order.sequence, self._phase, phase_limit, InForce(order.sequence, most))

    def commit(self, plan: Plan) -> bool:
        """Puts ``plan`` in force; the allocator has taken it. Returns whether the worker is to be told."""
        order = self._newest
        if order is None or plan.sequence != order.sequence or plan.phase != self._phase:
            raise ValueError(f"{plan} is not of the newest order {self.newest_sequence} in phase {self._phase}")
        tell = order is not self._applied or plan.in_force != self._in_force
        self._applied = order
        self._in_force = plan.in_force
        self._phase_limit_bytes = plan.phase_limit_bytes
        return tell


def _resumed_order(in_force: InForce) -> Order:
    """The limits of each phase were not passed on; the worker repeats them, and until then one limit serves."""
    return Order(in_force.sequence, {phase: in_force.limit_bytes for phase in PHASES})
