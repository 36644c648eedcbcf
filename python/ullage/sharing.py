"""This rank's part in sharing out the batch of its job: what it says, what it follows, what its gradients count for."""

from __future__ import annotations

import logging
from typing import List, Optional, Sequence

import torch

from ullage.agreement import Agreement
from ullage.client import Rank
from ullage.shares import ShareBatches, Shares, evenly, fingerprint

LOG = logging.getLogger("ullage")


class Sharing:
    """One thread's, the one that trains. Without ``batches`` it does nothing: all ranks share evenly."""

    def __init__(self, rank: Rank, batches: Optional[ShareBatches], agreement: Agreement) -> None:
        self._rank = rank
        self._batches = batches
        self._agreement = agreement
        self._rounds = 1
        self._part = 0
        #: What this rank's gradients count for in the mean over the ranks; 1.0 where all have as many samples.
        self.weight = 1.0

    def part(self, count: int) -> int:
        """Most samples at once of a share of ``count``."""
        return -(-count // self._rounds)

    def began(self, count: int, part: int, most: Optional[int], sequence: int,
              parameters: Sequence[torch.nn.Parameter], used: Optional[int]) -> None:
        """A step begins with ``count`` samples, ``part`` at once; ``used``: what the allocator has handed out.

        Gradients that are not there yet count among what the rank keeps: no smaller batch makes them smaller.
        """
        if self._batches is None or count == 0:
            return
        if part < self._part:
            self._release_cache()
        self._part = part
        missing = sum(one.nelement() * one.element_size() for one in parameters if one.grad is None)
        with self._rank.lock:
            self._rank.watch.cut_as(self._rank.applier, self._rank.step, {
                "sequence": sequence, "job": self._batches.batch, "samples": count, "microBatch": part, "most": most,
                "baseBytes": None if used is None else used + missing})

    def counts(self, count: int) -> List[int]:
        """For the agreement: the samples of each rank as far as this one knows them; nothing where none are shared."""
        if self._batches is None:
            return []
        return [count if rank == self._batches.rank else 0 for rank in range(self._batches.ranks)]

    def counted(self, counts: Sequence[int]) -> None:
        """What the agreement made of all ranks' counts."""
        if self._batches is not None and sum(counts) > 0:
            self.weight = counts[self._batches.rank] * self._batches.ranks / sum(counts)

    def follow(self, wanted: Optional[Shares]) -> None:
        """Shares the batch out like this, or evenly, on all ranks from the same batch on: a collective call."""
        if self._batches is None:
            return
        mark = fingerprint(wanted)
        most, least, position = self._agreement.highest([mark, -mark, self._batches.position])
        if wanted is not None and (most != -least or not wanted.fits(self._batches.ranks, self._batches.batch)):
            LOG.warning("ullage: batch shares are not of this job, or not known to all of its ranks; shared evenly")
            wanted = None
        elif most != -least:
            wanted = None
        samples = evenly(self._batches.batch, self._batches.ranks) if wanted is None else wanted.samples
        rounds = 1 if wanted is None else wanted.rounds
        if samples == self._batches.newest and rounds == self._rounds:
            return
        self._rounds = rounds
        self._batches.take(samples, position)
        LOG.warning("ullage: batch shared out as %s, micro-batches of each: %d", list(samples), rounds)

    def _release_cache(self) -> None:
        """What a larger share left in the cache would count for what the smaller one needs. Not before the first step
        of the smaller one: batches that were drawn ahead are of the larger."""
        try:
            with self._rank.lock:
                self._rank.applier.release_cache()
        except Exception:  # a cache that cannot be given back must not end a training
            LOG.warning("ullage: the cache could not be given back", exc_info=True)
