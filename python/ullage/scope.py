"""The context manager of a phase."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Optional, Type

from ullage.phases import IDLE

if TYPE_CHECKING:
    from ullage.client import Rank


class PhaseScope:
    """The context manager of ``Rank.phase``."""

    def __init__(self, rank: Rank, phase: str, wait: bool) -> None:
        self._rank = rank
        self._phase = phase
        self._wait = wait
        self._outer = IDLE

    def __enter__(self) -> Rank:
        rank = self._rank
        self._outer = rank.current_phase if rank.depth else IDLE
        rank.depth += 1
        rank.enter_phase(self._phase, self._wait)
        return rank

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[types.TracebackType]) -> None:
        self._rank.depth -= 1
        self._rank.enter_phase(self._outer)
