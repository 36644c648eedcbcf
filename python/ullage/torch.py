"""PyTorch: phases from hooks, the limit into torch's allocator. For torch 1.13 and 2.x.

::

    rank = ullage.connect()
    handle = ullage.torch.attach(model, optimizer, rank)

The training loop stays as it is: a forward pass, a backward pass and an optimizer step are noticed where they start.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

import torch

from ullage.applier import Usage
from ullage.client import Rank
from ullage.connecting import connect, current
from ullage.phases import BACKWARD, CHECKPOINT, EVALUATION, FORWARD, IDLE, OPTIMIZER
from ullage.watch import Layout, Reading, TorchReader, layout_of

if TYPE_CHECKING:
    from ullage.steps import Steps

_MAX_DEPTH = 6


def attach(model: torch.nn.Module, optimizer: Union[torch.optim.Optimizer, Sequence[torch.optim.Optimizer]],
           rank: Optional[Rank] = None, release: bool = True,
           usage: Optional[Callable[[], Optional[int]]] = None, reset_peaks: bool = False) -> "Attachment":
    """Marks the phases of a training of ``model`` by ``optimizer`` (or several) and holds torch to the rank's limit.

    ``rank``: by default the open rank of this process, else a new one. ``release``: give torch's cache back when it
    holds more than a new limit. On a CUDA device the limit goes into torch's allocator at phase boundaries; without
    one nothing enforces it, and the rank's applier stays what it was. ``usage``: returns the bytes to report as
    allocated, or None, where torch itself does not know (no CUDA); host memory is not reported by itself.
    ``reset_peaks``: reset torch's peak statistics at each phase, for what each phase *allocates* at most; what
    ``torch.cuda.max_memory_allocated()`` returns is then the current phase's. Without, what each reserves is known.
    """
    if rank is None:
        rank = current() or connect()
    device = _cuda_device(model)
    if device is not None:
        rank.use(TorchApplier(device, release, reset_peaks))
    elif usage is not None:
        rank.usage_from(_PeakUsage(usage))
    optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else list(optimizer)
    return Attachment(rank, model, optimizers)


def tensor_bytes(model: torch.nn.Module,
                 optimizer: Union[torch.optim.Optimizer, Sequence[torch.optim.Optimizer], None] = None) -> int:
    """The bytes of parameters, buffers, gradients and optimizer state, each storage as its tensor's size."""
    tensors: List[torch.Tensor] = list(model.buffers())
    for parameter in model.parameters():
        tensors.append(parameter)
        if parameter.grad is not None:
            tensors.append(parameter.grad)
    if optimizer is not None:
        for one in [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else optimizer:
            for state in list(one.state.values()):
                tensors.extend(_tensors(state))
    return sum(tensor.nelement() * tensor.element_size() for tensor in tensors)


def fraction_of(limit_bytes: int, total_bytes: int) -> float:
    """``limit_bytes`` of ``total_bytes`` as the float for torch: 0.0 to 1.0, and never a byte above the limit."""
    fraction = min(1.0, max(0.0, float(limit_bytes) / float(total_bytes)))
    while fraction > 0.0 and int(fraction * total_bytes) > limit_bytes:
        fraction = math.nextafter(fraction, 0.0)
    return fraction


class TorchApplier:
    """Torch's caching allocator on one CUDA device.

    A limit is one on the process, and torch's fraction counts only what torch reserved: not the CUDA context, NCCL's
    buffers or libraries. So what the worker measured of those is taken off the fraction and added to what is held.
    """

    enforced_by = "torch"
    thread_safe = False

    def __init__(self, device: int, release: bool = True, reset_peaks: bool = False) -> None:
        """``device`` is torch's index of a CUDA device that this process already uses."""
        self._device = device
        reset = functools.partial(torch.cuda.reset_peak_memory_stats, device) if reset_peaks else None
        self._reader = TorchReader(reset)
        self._release = release
        self._total_bytes = int(torch.cuda.get_device_properties(device).total_memory)
        self._overhead_bytes = 0

    def use_overhead(self, overhead_bytes: Optional[int]) -> bool:
        """What the process uses beside torch's allocator, from the next ``apply`` on; returns whether it changed.

        Not known (None) leaves what was known before: nothing is taken off a limit until something is known.
        """
        if overhead_bytes is None or overhead_bytes == self._overhead_bytes:
            return False
        self._overhead_bytes = overhead_bytes
        return True

    def held_bytes(self) -> Optional[int]:
        """What the process holds: what torch reserved, and beside it; None with an allocator that does not count."""
        if not self._counts():
            return None
        return int(torch.cuda.memory_reserved(self._device)) + self._overhead_bytes

    def release_cache(self) -> None:
        """Gives unused segments back, unless that was declined."""
        if self._release:
            torch.cuda.empty_cache()

    def apply(self, limit_bytes: int, phase: str) -> None:
        """Sets the fraction, less what the process uses beside torch; torch refuses new segments beyond it."""
        share_bytes = max(0, limit_bytes - self._overhead_bytes)
        torch.cuda.set_per_process_memory_fraction(fraction_of(share_bytes, self._total_bytes), self._device)

    def usage(self) -> Optional[Usage]:
        """Torch's own statistics. ``refusals`` are its out-of-memory errors; newer ones tell the limit's apart."""
        if not self._counts():
            return None
        stats = torch.cuda.memory_stats(self._device)
        return Usage(
            stats.get("allocated_bytes.all.current"), stats.get("reserved_bytes.all.current"),
            self._reader.most("allocated_bytes", stats.get("allocated_bytes.all.peak")),
            self._reader.most("reserved_bytes", stats.get("reserved_bytes.all.peak")),
            stats.get("num_oom_rejections", stats.get("num_ooms")))

    def watched(self) -> Optional[Reading]:
        """What each phase does with the allocator; called at each phase change, so in torch's cheapest form."""
        return self._reader.read(torch.cuda.memory_stats_as_nested_dict(self._device)) if self._counts() else None

    def layout(self) -> Layout:
        """The totals of torch's snapshot, which walks every block: for once in some hundred steps."""
        return layout_of(torch.cuda.memory_snapshot(), self._device) if self._counts() else Layout()

    @staticmethod
    def _counts() -> bool:
        """Whether the statistics are real: cudaMallocAsync reports 0 for many."""
        backend = getattr(torch.cuda, "get_allocator_backend", None)
        return backend is None or backend() == "native"


class Attachment:
    """The hooks of one ``attach``; ``detach`` removes every one of them."""

    def __init__(self, rank: Rank, model: torch.nn.Module, optimizers: Iterable[torch.optim.Optimizer]) -> None:
        self.rank = rank
        self._model = model
        self._optimizers = list(optimizers)
        self._attached = True
        self._in_backward = False
        self._outer = IDLE
        self._removers: List[Callable[[], None]] = [
            model.register_forward_pre_hook(self._before_forward).remove,
            model.register_forward_hook(self._after_forward).remove,
        ]
        for optimizer in self._optimizers:
            self._hook_optimizer(optimizer)

    def steps(self, **options: Any) -> "Steps":
        """Steps that survive running out of memory (docs/oom.md). A collective call where ranks are many.

        ``micro_batch``: most samples at once, by default the whole batch. ``simplify``, ``cpu``: called once, on all
        ranks at the same step, when a smaller micro-batch is not enough. ``checkpoint``: called before the job stops
        or its processes are started again, with parameters that are the same on all ranks. ``before_step``: called
        between the gradients' mean and the optimizer's step, for clipping. ``rebuild``: called with a number that is
        new each time, on all ranks, after their groups were aborted in a ``watched`` step: forms them anew, and loads
        a checkpoint. ``decide_within``: seconds to wait for the
        coordinator. ``interrupt_after``: seconds after which a rank that does not take a directive up is ended.
        """
        from ullage.steps import Options, Steps
        return Steps(self.rank, self._model, self._optimizers, Options(**options))

    def detach(self) -> None:
        """Removes the hooks; the rank, its limit and its phase stay. May be called again."""
        self._attached = False
        while self._removers:
            self._removers.pop()()

    def _before_forward(self, module: torch.nn.Module, inputs: Any) -> None:
        if self._in_backward and _inside_backward():
            return  # checkpointing runs the model again: still the backward pass
        self._in_backward = False
        phase = self.rank.current_phase
        self._outer = phase if phase in (EVALUATION, CHECKPOINT) else IDLE
        training = module.training and torch.is_grad_enabled()
        self.rank.enter_phase(FORWARD if training else EVALUATION)

    def _after_forward(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if self.rank.current_phase == EVALUATION:
            self.rank.enter_phase(self._outer)
            return
        for tensor in _tensors(output):
            if tensor.requires_grad:
                tensor.register_hook(self._gradient_arrived)

    def _gradient_arrived(self, gradient: torch.Tensor) -> None:
        if self._attached and not self._in_backward:
            self._in_backward = True
            self.rank.enter_phase(BACKWARD)

    def _before_step(self, *_: Any) -> None:
        self._in_backward = False
        self.rank.enter_phase(OPTIMIZER)

    def _after_step(self, *_: Any) -> None:
        self.rank.step_done()
        self.rank.enter_phase(IDLE)

    def _hook_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        if hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "register_step_post_hook"):
            self._removers.append(optimizer.register_step_pre_hook(self._before_step).remove)
            self._removers.append(optimizer.register_step_post_hook(self._after_step).remove)
        else:
            self._wrap_step(optimizer)

    def _wrap_step(self, optimizer: torch.optim.Optimizer) -> None:
        """For torch before 2.0. A bound method, because schedulers take ``step`` apart like one."""
        before = optimizer.__dict__.get("step")
        step = optimizer.step

        @functools.wraps(getattr(step, "__func__", step))
        def marked(_: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
            if not self._attached:
                return step(*args, **kwargs)
            self._before_step()
            result = step(*args, **kwargs)
            self._after_step()
            return result

        wrapper = types.MethodType(marked, optimizer)
        optimizer.step = wrapper

        def restore() -> None:
            if optimizer.__dict__.get("step") is not wrapper:
                return  # somebody wrapped it again; this one passes through from now on
            if before is None:
                del optimizer.__dict__["step"]
            else:
                optimizer.step = before

        self._removers.append(restore)


class _PeakUsage:
    """Turns a count of allocated bytes into a report, with the peak of what it saw."""

    def __init__(self, allocated: Callable[[], Optional[int]]) -> None:
        self._allocated = allocated
        self._peak: Optional[int] = None

    def __call__(self) -> Optional[Usage]:
        allocated = self._allocated()
        if allocated is None:
            return None
        self._peak = allocated if self._peak is None else max(self._peak, allocated)
        return Usage(allocated_bytes=allocated, peak_allocated_bytes=self._peak)


def _inside_backward() -> bool:
    """Whether this thread works out gradients now; torch before 2.0 cannot tell, and then it counts as not."""
    graph_task = getattr(torch._C, "_current_graph_task_id", None)
    return graph_task is not None and graph_task() != -1


def _cuda_device(model: torch.nn.Module) -> Optional[int]:
    """The CUDA device of the model's first parameter or buffer there; None without one."""
    if not torch.cuda.is_available():
        return None
    for group in (model.parameters(), model.buffers()):
        for tensor in group:
            if tensor.device.type == "cuda":
                return torch.cuda.current_device() if tensor.device.index is None else tensor.device.index
    return None


def _tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """Every tensor in a model's output: in tuples, lists, mappings, dataclasses and plain objects."""
    if isinstance(value, torch.Tensor):
        yield value
        return
    if value is None or depth >= _MAX_DEPTH or isinstance(value, (str, bytes, int, float, torch.nn.Module)):
        return
    if isinstance(value, Mapping):
        parts: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    else:
        parts = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, type) else ()
    for part in list(parts):
        yield from _tensors(part, depth + 1)


__all__ = ["Attachment", "TorchApplier", "attach", "fraction_of", "tensor_bytes"]
