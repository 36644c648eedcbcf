"""How long to wait before the next attempt to reach the worker."""

from __future__ import annotations

import random
from typing import Optional


class Backoff:
    """Exponential, with jitter, so that the ranks of a host do not all knock at a restarted worker at once."""

    def __init__(self, first_seconds: float = 0.1, most_seconds: float = 5.0,
                 rng: Optional[random.Random] = None) -> None:
        """Delays start around ``first_seconds``, double, and stay at or below ``most_seconds``; both above 0."""
        self._first = first_seconds
        self._most = most_seconds
        self._rng = random.Random() if rng is None else rng
        self._base = first_seconds

    def next_seconds(self) -> float:
        """The next delay: between half of the current base and all of it. The base then doubles."""
        base = self._base
        self._base = min(self._most, base * 2)
        return base * (0.5 + 0.5 * self._rng.random())

    def reset(self) -> None:
        """Starts over, after a success."""
        self._base = self._first
