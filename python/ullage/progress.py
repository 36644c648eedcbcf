"""What a training says of itself beside its phases: its epoch, the size of its micro-batch."""

from __future__ import annotations

import threading

from ullage.applier import Applier
from ullage.state import LimitState
from ullage.watch import Watch


class Progress:
    """A part of the rank, which has the state; see ``ullage.client``."""

    _lock: threading.RLock  # type: ignore[valid-type]
    watch: Watch
    _applier: Applier
    _state: LimitState

    def epoch(self, number: int) -> None:
        """Says in which epoch the training is, from 0 on; without it nobody knows. Raises ValueError below 0."""
        self.watch.epoch(number)

    def micro_batch(self, samples: int) -> None:
        """Says how many samples the training works on at once, from here on. Raises ValueError below 1.

        Peaks are then told apart by the size, so that from two sizes the need of another one is known.
        """
        with self._lock:
            self.watch.micro_batch(self._applier, self._state.phase, samples)
