"""How the ranks of a job agree on a few numbers, and average their gradients once they did."""

from __future__ import annotations

from typing import List, Protocol, Sequence

import torch
import torch.distributed as dist


class Agreement(Protocol):
    """Every rank calls the same methods in the same order. ``ranks``: how many there are."""

    ranks: int

    def highest(self, numbers: Sequence[int]) -> List[int]:
        """For each number the highest that any rank brought."""

    def average(self, parameters: Sequence[torch.nn.Parameter], weight: float = 1.0) -> None:
        """Makes each gradient the mean over the ranks; one that no rank has stays absent. ``weight``: what this rank's
        count for; the mean of all weights is 1."""


class LoneAgreement:
    """A job of one rank always agrees."""

    ranks = 1

    def highest(self, numbers: Sequence[int]) -> List[int]:
        """Its own."""
        return list(numbers)

    def average(self, parameters: Sequence[torch.nn.Parameter], weight: float = 1.0) -> None:
        """They are the mean."""


class GroupAgreement:
    """Over ``torch.distributed``. The numbers go over a gloo group of their own, in host memory: agreeing takes none
    of the memory that has just run out. Making one is a collective call."""

    def __init__(self) -> None:
        self._group = dist.new_group(backend="gloo")
        self.ranks = dist.get_world_size()

    def highest(self, numbers: Sequence[int]) -> List[int]:
        """For each number the highest that any rank brought."""
        tensor = torch.tensor(list(numbers), dtype=torch.int64)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=self._group)
        return [int(value) for value in tensor]

    def average(self, parameters: Sequence[torch.nn.Parameter], weight: float = 1.0) -> None:
        """In place, so that it takes no more memory; a rank without a gradient that others have counts as zero."""
        present = self.highest([int(parameter.grad is not None) for parameter in parameters])
        works = []
        for parameter, is_present in zip(parameters, present):
            if not is_present:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            elif weight != 1.0:
                parameter.grad.mul_(weight)
            works.append(dist.all_reduce(parameter.grad, async_op=True))
        for work in works:
            work.wait()
        for parameter, is_present in zip(parameters, present):
            if is_present and parameter.grad is not None:
                parameter.grad.div_(self.ranks)
