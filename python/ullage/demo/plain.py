"""A training without torch: a tiny network and gradient descent in pure Python."""

from __future__ import annotations

import math
import random
from typing import List, Tuple

from ullage.client import Rank
from ullage.demo.workspace import Workspace
from ullage.phases import BACKWARD, FORWARD, IDLE, OPTIMIZER

_BYTES_PER_NUMBER = 8


class PlainLearner:
    """Learns ``sin`` with one hidden layer; marks its phases by hand."""

    name = "plain"

    def __init__(self, rank: Rank, workspace: Workspace, batch: int, seed: int) -> None:
        self._rank = rank
        self._workspace = workspace
        self._random = random.Random(seed)
        self._batch = batch
        self._hidden = 8
        self._weights = [self._random.uniform(-1, 1) for _ in range(3 * self._hidden + 1)]

    def tensor_bytes(self) -> int:
        """Bytes of the parameters and their gradients."""
        return 2 * len(self._weights) * _BYTES_PER_NUMBER

    def step(self) -> float:
        """One step over a full batch, in micro-batches as large as the memory allows; returns the loss."""
        samples = [self._random.uniform(-2, 2) for _ in range(self._batch)]
        gradient = [0.0] * len(self._weights)
        loss = 0.0
        while samples:
            self._rank.enter_phase(FORWARD)
            taken = self._workspace.take(len(samples))
            chunk, samples = samples[:abs(taken)], samples[abs(taken):]
            outputs = [self._forward(x) for x in chunk]
            self._rank.enter_phase(BACKWARD)
            loss += sum(self._backward(x, hidden, y, gradient) for x, (hidden, y) in zip(chunk, outputs))
            self._workspace.give_back(taken)
        self._rank.enter_phase(OPTIMIZER)
        self._weights = [w - 0.05 * g / self._batch for w, g in zip(self._weights, gradient)]
        self._rank.report(loss=loss / self._batch, samples=self._batch)
        self._rank.step_done()
        self._rank.enter_phase(IDLE)
        return loss / self._batch

    def agree(self, stop: bool) -> bool:
        """Alone: its own will."""
        return stop

    def close(self) -> None:
        """Nothing to end."""

    def _forward(self, x: float) -> Tuple[List[float], float]:
        n, w = self._hidden, self._weights
        hidden = [math.tanh(w[i] * x + w[n + i]) for i in range(n)]
        return hidden, sum(w[2 * n + i] * hidden[i] for i in range(n)) + w[3 * n]

    def _backward(self, x: float, hidden: List[float], y: float, gradient: List[float]) -> float:
        n, w = self._hidden, self._weights
        error = y - math.sin(x)
        for i in range(n):
            inner = error * w[2 * n + i] * (1 - hidden[i] ** 2)
            gradient[i] += inner * x
            gradient[n + i] += inner
            gradient[2 * n + i] += error * hidden[i]
        gradient[3 * n] += error
        return 0.5 * error * error
