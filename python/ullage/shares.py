"""How the batch of a job is shared out over its ranks: the shares of a directive, and batches cut by them. No torch.

::

    order (the same on every rank) --> batch of the job --> this rank's part of it
                                       cut by the shares that hold for that batch

Shares change at the same batch on every rank, however far ahead its loader has drawn: so no sample is trained on
twice, and none is left out.
"""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Sized, Tuple, cast

LOG = logging.getLogger("ullage")
#: Batches of one pass over the data; a position is the number of the pass and that of the batch in one integer.
_PASS = 1 << 40


@dataclass(frozen=True)
class Shares:
    """Samples of each rank in one step, by rank, in ``rounds`` micro-batches each (docs/protocol.md, ``directive``).

    ``since`` is the sequence of the directive that said so first.
    """

    since: int
    rounds: int
    samples: Tuple[int, ...]

    @staticmethod
    def of(message: Mapping[str, Any]) -> Optional["Shares"]:
        """The shares of a directive's line; None when it has none, or none that make sense: then all share evenly."""
        line = message.get("shares")
        if not isinstance(line, dict):
            return None
        since, rounds, samples = line.get("since"), line.get("rounds"), line.get("samples")
        if not (_count(since) and _count(rounds) and isinstance(samples, list) and all(map(_count, samples))):
            LOG.warning("ullage: batch shares that are none, so the batch is shared evenly: %.200s", line)
            return None
        return Shares(cast(int, since), cast(int, rounds), tuple(samples))

    def fits(self, ranks: int, batch: int) -> bool:
        """Whether these are shares of so many ranks and samples: a job that was started anew may have others."""
        return len(self.samples) == ranks and sum(self.samples) == batch


def fingerprint(shares: Optional[Shares]) -> int:
    """A number that differs where shares do (by CRC-32); 0: none."""
    return 0 if shares is None else 1 + zlib.crc32(repr((shares.rounds, shares.samples)).encode())


def evenly(batch: int, ranks: int) -> Tuple[int, ...]:
    """As many samples for each rank; what is left goes to the first ones."""
    return tuple(batch // ranks + (1 if rank < batch % ranks else 0) for rank in range(ranks))


class ShareBatches:
    """A batch sampler: yields the indices of this rank's part of each batch of the job. One thread's, the loader's.

    An incomplete last batch is left out. Made by ``Attachment.batches``.
    """

    def __init__(self, order: Iterable[int], batch: int, rank: int, ranks: int) -> None:
        """``order`` yields the indices of the samples, **the same on every rank**, anew in each pass; ``batch``:
        samples of the whole job in one step. Raises ValueError where some rank would have none."""
        if batch < ranks or not 0 <= rank < ranks:
            raise ValueError(f"a batch of {batch} for rank {rank} of {ranks}: each needs one at least")
        self.batch = batch
        self._order = order
        self._rank = rank
        self._ranks = ranks
        self._pass = 0
        self._drawn = 0
        self._plans: List[Tuple[int, Tuple[int, ...]]] = [(0, evenly(batch, ranks))]

    @property
    def rank(self) -> int:
        """Whose part this is."""
        return self._rank

    @property
    def newest(self) -> Tuple[int, ...]:
        """The shares that will hold once all batches drawn ahead are used up."""
        return self._plans[-1][1]

    @property
    def ranks(self) -> int:
        """How many share a batch."""
        return self._ranks

    @property
    def shares(self) -> Tuple[int, ...]:
        """Samples of each rank in the next batch that is drawn, by rank."""
        return self._at(self.position)

    @property
    def position(self) -> int:
        """The next batch that is drawn, as one number that grows with each."""
        return self._pass * _PASS + self._drawn

    def take(self, samples: Sequence[int], position: int) -> None:
        """Cuts by other shares from the batch at ``position`` on, which no rank may have drawn yet."""
        past = [plan for plan in self._plans if plan[0] <= self.position][-1]
        self._plans = [past] + [plan for plan in self._plans if self.position < plan[0] < position]
        self._plans.append((position, tuple(samples)))

    def _at(self, position: int) -> Tuple[int, ...]:
        return [samples for start, samples in self._plans if start <= position][-1]

    def __iter__(self) -> Iterator[List[int]]:
        self._pass += 1
        self._drawn = 0
        mine = self._pass
        whole: List[int] = []
        for index in self._order:
            whole.append(index)
            if len(whole) == self.batch:
                if mine != self._pass:
                    return  # another pass has begun: this iterator is nobody's any more
                samples = self._at(self.position)
                self._drawn += 1
                start = sum(samples[:self._rank])
                yield whole[start:start + samples[self._rank]]
                whole = []

    def __len__(self) -> int:
        return len(cast(Sized, self._order)) // self.batch


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


__all__ = ["ShareBatches", "Shares", "evenly", "fingerprint"]
