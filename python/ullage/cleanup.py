"""Getting rid of a failed step: its tensors, and what it changed."""

from __future__ import annotations

import gc
import traceback
from typing import List, Optional

import torch


def drop_frames(error: BaseException) -> BaseException:
    """The error without the frames it came through, whose variables keep every tensor of the step alive."""
    seen: Optional[BaseException] = error
    while seen is not None:
        if seen.__traceback__ is not None:
            traceback.clear_frames(seen.__traceback__)
        seen.__traceback__ = None
        following = seen.__cause__ or seen.__context__
        seen.__cause__ = seen.__context__ = None
        seen = following
    return error


def give_back() -> None:
    """What is unreachable goes now, and what the allocator holds for nobody goes back to the device."""
    gc.collect()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


class State:
    """What a step changes before its parameters do: random numbers and the model's buffers (running means)."""

    def __init__(self, cpu: torch.Tensor, cuda: Optional[torch.Tensor], buffers: List[torch.Tensor]) -> None:
        self._cpu = cpu
        self._cuda = cuda
        self._buffers = buffers

    @staticmethod
    def of(model: torch.nn.Module) -> "State":
        """As it is now."""
        cuda = torch.cuda.get_rng_state() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
        return State(torch.get_rng_state(), cuda, [buffer.detach().clone() for buffer in model.buffers()])

    def restore(self, model: torch.nn.Module) -> None:
        """So that the step begins as it did before."""
        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state(self._cuda)
        with torch.no_grad():
            for buffer, before in zip(model.buffers(), self._buffers):
                buffer.copy_(before)
