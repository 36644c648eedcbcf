"""The memory a demo trainer takes on its simulated device: its tensors, and a workspace in proportion to the batch."""

from __future__ import annotations

import time
from typing import Callable, Optional

from ullage.allocator import LimitedAllocator
from ullage.client import Rank
from ullage.errors import MemoryLimitError

#: How much of the first limit a full batch wants.
DEMAND_OF_LIMIT = 0.9
#: What a full batch wants where no limit was granted: 1 GiB.
DEFAULT_DEMAND_BYTES = 1 << 30
_RETRY_SECONDS = 0.05


class Workspace:
    """Takes and returns memory for micro-batches; a refusal makes the next one smaller, a new limit larger again.

    The tensor bytes are the real ones of the model. The workspace is modelled: no host memory stands behind it.
    """

    def __init__(self, rank: Rank, allocator: LimitedAllocator, batch: int, demand_bytes: Optional[int],
                 stopped: Callable[[], bool]) -> None:
        """``batch``: samples of a full batch, 1 or more; ``demand_bytes``: what it wants, None: by the limit."""
        self._rank = rank
        self._allocator = allocator
        self._batch = batch
        self._demand_bytes = demand_bytes
        self._stopped = stopped
        self._tensor_bytes = 0
        self.micro_batch = batch
        self.smallest_micro_batch = batch
        self.limit_changes = 0
        self.waits = 0
        self.unreserved = 0
        rank.on_limit(self._limit_changed)

    def hold_tensors(self, nbytes: int) -> None:
        """Counts the model's tensors, as far as the limit lets them; the rest is tried again with the next call."""
        more = nbytes - self._tensor_bytes
        try:
            if more > 0:
                self._allocator.reserve(more)
            else:
                self._allocator.release(-more)
            self._tensor_bytes = nbytes
        except MemoryLimitError:
            pass

    def take(self, samples: int) -> int:
        """Takes memory for at most ``samples``, fewer when refused; waits when even one is. Returns how many."""
        taken = min(samples, self.micro_batch)
        while True:
            try:
                self._allocator.reserve(self._bytes(taken))
                return taken
            except MemoryLimitError:
                self._allocator.release_cache()
            if taken > 1:
                taken = max(1, taken // 2)
                self.micro_batch = taken
                self.smallest_micro_batch = min(taken, self.smallest_micro_batch)
            elif self._stopped():
                self.unreserved += 1
                return -1
            else:
                self.waits += 1
                time.sleep(_RETRY_SECONDS)
                self._rank.safe_point()

    def give_back(self, samples: int) -> None:
        """Returns what ``take`` took."""
        if samples > 0:
            self._allocator.release(self._bytes(samples))

    def _bytes(self, samples: int) -> int:
        if self._demand_bytes is None:
            limit = self._rank.limit_bytes
            free = None if limit is None else max(0, limit - self._tensor_bytes)
            self._demand_bytes = DEFAULT_DEMAND_BYTES if free is None else int(free * DEMAND_OF_LIMIT)
        return max(1, self._demand_bytes // self._batch) * samples

    def _limit_changed(self, _: int) -> None:
        self.limit_changes += 1
        self.micro_batch = self._batch
