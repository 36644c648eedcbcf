"""Frameworks that take their limit at their start and no other afterwards: TensorFlow, JAX.

A rank's limit is for the whole process. Its allocator gets less: the limit less an *overhead* for what the process
uses beside the allocator (the CUDA context, libraries, communication buffers). All amounts are whole bytes, rounded
down.
"""

from __future__ import annotations

import logging
import os
from fractions import Fraction
from typing import Callable, Optional, Union

from ullage.applier import RestartNote, Usage
from ullage.client import Rank
from ullage.connecting import connect, current
from ullage.errors import UllageError

LOG = logging.getLogger("ullage")
MIB = 1 << 20
#: What a process is taken to use beside its allocator, where nobody measured it. An estimate: contexts of 300 to
#: 1000 MiB were seen, so measure where it matters.
DEFAULT_OVERHEAD_BYTES = 512 * MIB
#: The exit code of a training that stopped in order to be started again; as the errno ERESTART.
EXIT_RESTART = 85

Ratio = Union[int, float, str, Fraction]


class FixedLimit:
    """An applier for an allocator that was told its limit at the start of the process.

    A later order is confirmed with the limit that stays in force, and with a note of what a restart would bring.
    Invariant: ``fixed_bytes`` never changes.
    """

    enforced_by = "env"
    thread_safe = True

    def __init__(self, framework: str, fixed_bytes: int, ratio: Fraction = Fraction(1),
                 usage: Optional[Callable[[], Optional[Usage]]] = None) -> None:
        """``fixed_bytes``: the most the process can take; ``ratio``: what part of an order a restart would apply."""
        self.fixed_bytes = fixed_bytes
        self._framework = framework
        self._ratio = ratio
        self._usage = usage

    def held_bytes(self) -> Optional[int]:
        """All of the limit: the framework may take it at any time and gives nothing back."""
        return self.fixed_bytes

    def release_cache(self) -> None:
        """Not possible: such an allocator never shrinks."""

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Nothing to set; ``fixed_bytes`` tells the client what stays in force."""

    def usage(self) -> Optional[Usage]:
        """What the framework says of itself; None when nothing is known."""
        return None if self._usage is None else self._usage()

    def restart_note(self, ordered_bytes: int) -> Optional[RestartNote]:
        """What a restart would bring in force; None when that is what is in force, to the MiB."""
        wanted = part_of(ordered_bytes, self._ratio)
        if wanted // MIB == self.fixed_bytes // MIB:
            return None
        return RestartNote(wanted, f"{self._framework} fixes its limit when it starts")


class Unlimited:
    """An applier for a framework that nothing holds to the limit, with what is to be said of a restart, if anything."""

    enforced_by = "advisory"
    thread_safe = True

    def __init__(self, usage: Optional[Callable[[], Optional[Usage]]] = None, ratio: Fraction = Fraction(1)) -> None:
        self._usage = usage
        self._ratio = ratio
        self._reason: Optional[str] = None

    def needs_restart(self, reason: str) -> None:
        """From the next confirmation on: only a restart could put a limit in force, and why."""
        self._reason = reason

    def held_bytes(self) -> Optional[int]:
        """Not known."""
        return None

    def release_cache(self) -> None:
        """Nothing to give back."""

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Accepts every limit: there is nothing to set."""

    def usage(self) -> Optional[Usage]:
        """What the framework says of itself; None when nothing is known."""
        return None if self._usage is None else self._usage()

    def restart_note(self, ordered_bytes: int) -> Optional[RestartNote]:
        """What a restart would bring in force, when ``needs_restart`` was called."""
        return None if self._reason is None else RestartNote(part_of(ordered_bytes, self._ratio), self._reason)


def exact_ratio(ratio: Ratio) -> Fraction:
    """A part of a limit as an exact number, ``0.1`` as a tenth; ValueError unless above 0 and at most 1."""
    try:
        exact = Fraction(str(ratio))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if not 0 < exact <= 1:
        raise ValueError(f"ratio={ratio!r}: must be a number above 0 and at most 1")
    return exact


def part_of(limit_bytes: int, ratio: Fraction) -> int:
    """``ratio`` of ``limit_bytes``, rounded down."""
    return limit_bytes * ratio.numerator // ratio.denominator


def allocator_bytes(limit_bytes: int, overhead_bytes: int) -> int:
    """What a process with this limit may give its allocator, 1 MiB or more.

    Raises UllageError when the overhead leaves less, ValueError for an overhead below 0.
    """
    if overhead_bytes < 0:
        raise ValueError(f"overhead_bytes={overhead_bytes}: must be 0 or more")
    left = limit_bytes - overhead_bytes
    if left < MIB:
        raise UllageError(f"refused a limit of {limit_bytes} bytes: the process needs {overhead_bytes} bytes beside its"
                          f" allocator, for which at least {MIB} must be left")
    return left


def the_rank(rank: Optional[Rank], framework: Optional[str] = None) -> Rank:
    """The rank given, else the open one of this process, else a new one that reports ``framework``."""
    return rank or current() or connect(framework=framework)


def granted_bytes(rank: Rank, timeout: float) -> Optional[int]:
    """The highest limit of any phase in force, bytes; waits for the first grant. None when there is none in time.

    What is fixed at the start stays, so it is the newest there is, not one that an ``exec`` was given before.
    """
    if not rank.closed:
        rank.wait_for_limit(timeout)
    return None if rank.in_force is None else rank.in_force.limit_bytes


def hold(rank: Rank, limit: FixedLimit, otherwise: Unlimited) -> bool:
    """Makes ``limit`` what holds the rank; ``otherwise`` when less than that is in force by now.

    A shrink that arrived while the framework started was confirmed by a process that nothing held. The framework
    can exceed it, so it must not be called enforced.
    """
    rank.use(limit)
    in_force = rank.in_force
    if in_force is not None and in_force.limit_bytes < limit.fixed_bytes:
        otherwise.needs_restart("a smaller limit came while the framework started")
        LOG.warning("ullage: %d bytes are in force, the framework was told %d at its start: needs a restart",
                    in_force.limit_bytes, limit.fixed_bytes)
        rank.use(otherwise)
        return False
    return True


def drop_variable(name: str) -> bool:
    """Takes a variable out of this process's environment; returns whether it was there."""
    return os.environ.pop(name, None) is not None
