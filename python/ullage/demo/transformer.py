"""A training with torch on the CPU: a small transformer on synthetic sequences; with gloo when asked for."""

from __future__ import annotations

import contextlib
import os
from typing import List

import torch
import torch.distributed
from torch import nn

from ullage.client import Rank
from ullage.demo.workspace import Workspace
from ullage.torch import attach, tensor_bytes

_SYMBOLS = 16
_LENGTH = 12
_WIDTH = 32
#: Models under DDP, see ``leave_at_once`` of the trainer.
_NEVER_FREED: List[nn.Module] = []


class _NextSymbol(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.symbols = nn.Embedding(_SYMBOLS, _WIDTH)
        self.places = nn.Embedding(_LENGTH, _WIDTH)
        self.body = nn.TransformerEncoderLayer(_WIDTH, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(_WIDTH, _SYMBOLS)
        mask = torch.triu(torch.full((_LENGTH, _LENGTH), float("-inf")), 1)
        self.register_buffer("mask", mask)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        embedded = self.symbols(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.body(embedded, self.mask))


class TransformerLearner:
    """Learns to count: each sequence goes up by one from a random start. Phases come from ``attach``."""

    name = "torch"

    def __init__(self, rank: Rank, workspace: Workspace, batch: int, seed: int, ddp: bool) -> None:
        """``ddp``: gradients are averaged over WORLD_SIZE processes by gloo, found as torchrun sets it."""
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._workspace = workspace
        self._batch = batch
        self._ddp = ddp and rank.info is not None
        model: nn.Module = _NextSymbol()
        if ddp and rank.info is not None:
            os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
            os.environ.setdefault("MASTER_PORT", "29500")
            torch.distributed.init_process_group("gloo", rank=rank.info.rank, world_size=rank.info.world_size)
            model = nn.parallel.DistributedDataParallel(model)
        self._model = model
        self._optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        self._attachment = attach(model, self._optimizer, rank)

    def tensor_bytes(self) -> int:
        """Bytes of parameters, buffers, gradients and optimizer state."""
        return tensor_bytes(self._model, self._optimizer)

    def step(self) -> float:
        """One step over a full batch, in micro-batches as large as the memory allows; returns the loss."""
        start = torch.randint(_SYMBOLS, (self._batch, 1))
        tokens = (start + torch.arange(_LENGTH + 1)) % _SYMBOLS
        self._optimizer.zero_grad()
        total, done = 0.0, 0
        while done < self._batch:
            taken = self._workspace.take(self._batch - done)
            chunk = tokens[done:done + abs(taken)]
            done += len(chunk)
            last = done >= self._batch
            with self._model.no_sync() if self._ddp and not last else contextlib.nullcontext():
                logits = self._model(chunk[:, :-1])
                loss = nn.functional.cross_entropy(logits.reshape(-1, _SYMBOLS), chunk[:, 1:].reshape(-1))
                (loss * len(chunk) / self._batch).backward()
            total += loss.item() * len(chunk)
            self._workspace.give_back(taken)
        self._optimizer.step()
        return total / self._batch

    def agree(self, stop: bool) -> bool:
        """Whether any process of the job wants to stop: all take the same number of steps."""
        if not self._ddp:
            return stop
        wish = torch.tensor([1.0 if stop else 0.0])
        torch.distributed.all_reduce(wish, op=torch.distributed.ReduceOp.MAX)
        return bool(wish.item() > 0)

    def close(self) -> None:
        """Removes the hooks and leaves the process group."""
        self._attachment.detach()
        if self._ddp:
            torch.distributed.destroy_process_group()
            _NEVER_FREED.append(self._model)
