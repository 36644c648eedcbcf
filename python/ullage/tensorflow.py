"""TensorFlow: the rank's limit as a logical device, or memory growth, set before TensorFlow's runtime starts.

::

    import ullage.tensorflow
    memory = ullage.tensorflow.configure()     # before the first tensor, model or dataset

Once the runtime is up TensorFlow takes no other limit, and memory never shrinks back. A later order is therefore
confirmed with the limit that stays in force and shown as *needs restart*.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import List, Optional, Sequence, Tuple

import tensorflow as tf

from ullage.applier import Usage
from ullage.client import Rank
from ullage.fixed import (
    DEFAULT_OVERHEAD_BYTES, LOG, MIB, FixedLimit, Ratio, Unlimited, allocator_bytes, drop_variable, exact_ratio,
    granted_bytes, hold, part_of, the_rank,
)

GROWTH_VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"
TOO_LATE = "TensorFlow's runtime was up before its memory was configured"


@dataclass(frozen=True)
class Memory:
    """What ``configure`` did, on all visible GPUs alike.

    ``mode``: ``limit`` (a logical device of ``memory_limit_mib``), ``growth``, or ``none`` where nothing could be set;
    ``notes`` say why, and what was dropped. ``enforced`` is true only if TensorFlow holds this process to its limit.
    """

    rank: Rank
    mode: str
    gpus: Tuple[str, ...]
    memory_limit_mib: Optional[int] = None
    enforced: bool = False
    notes: Tuple[str, ...] = ()


def configure(rank: Optional[Rank] = None, *, limit: bool = True, growth: bool = False, ratio: Ratio = 1,
              overhead_bytes: int = DEFAULT_OVERHEAD_BYTES, timeout: float = 30.0) -> Memory:
    """Gives TensorFlow ``ratio`` of the rank's limit, or memory growth, on every visible GPU.

    ``rank``: by default the open one of this process, else a new one. ``limit`` and ``growth`` exclude each other in
    TensorFlow: with both the limit is set and growth is dropped, with a note. ``overhead_bytes`` is left out of the
    logical device for what the process uses beside it. ``timeout``: seconds to wait for the first limit. Without a
    GPU, without a limit, or when the runtime is up already, nothing is set and the rank stays advisory. Raises
    UllageError when the overhead leaves no room, ValueError for a ratio or an overhead out of range.
    """
    part = exact_ratio(ratio)
    rank = the_rank(rank, f"tensorflow {tf.__version__}")
    otherwise = Unlimited(gpu_usage, part)
    gpus = tf.config.get_visible_devices("GPU")
    names = tuple(gpu.name for gpu in gpus)
    notes: List[str] = []
    granted = granted_bytes(rank, timeout) if limit else None
    if limit and growth:
        notes.append("growth is dropped: TensorFlow knows a limit or growth, never both")
    if not gpus:
        notes.append("TensorFlow sees no GPU: nothing to limit")
    elif limit and granted is None:
        notes.append("no limit was granted: TensorFlow starts with its defaults")
    elif limit:
        return _limited(rank, gpus, part, overhead_bytes, notes, otherwise)
    elif growth:
        return _growing(rank, gpus, notes, otherwise)
    rank.use(otherwise)
    return _said(Memory(rank, "none", names, notes=tuple(notes)))


def _limited(rank: Rank, gpus: Sequence[tf.config.PhysicalDevice], part: Fraction, overhead_bytes: int,
             notes: List[str], otherwise: Unlimited) -> Memory:
    names = tuple(gpu.name for gpu in gpus)
    wanted = part_of(granted_bytes(rank, 0.0) or 0, part)
    mib = allocator_bytes(wanted, overhead_bytes) // MIB
    if drop_variable(GROWTH_VARIABLE):
        notes.append(f"{GROWTH_VARIABLE} is dropped: a limit is set")
    try:
        for gpu in gpus:
            is_divided = tf.config.get_logical_device_configuration(gpu) is not None
            if not is_divided and tf.config.experimental.get_memory_growth(gpu):
                notes.append(f"growth of {gpu.name} is dropped: a limit is set")
                tf.config.experimental.set_memory_growth(gpu, False)
        for gpu in gpus:
            tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=mib)])
    except RuntimeError:
        return _too_late(rank, names, notes, otherwise)
    enforced = hold(rank, FixedLimit("TensorFlow", wanted, part, gpu_usage), otherwise)
    return _said(Memory(rank, "limit", names, mib, enforced, tuple(notes)))


def _growing(rank: Rank, gpus: Sequence[tf.config.PhysicalDevice], notes: List[str], otherwise: Unlimited) -> Memory:
    names = tuple(gpu.name for gpu in gpus)
    try:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError:
        return _too_late(rank, names, notes, otherwise)
    except ValueError as error:
        notes.append(f"growth was not set: {error}")
        rank.use(otherwise)
        return _said(Memory(rank, "none", names, notes=tuple(notes)))
    rank.use(otherwise)
    return _said(Memory(rank, "growth", names, notes=tuple(notes)))


def _too_late(rank: Rank, names: Tuple[str, ...], notes: List[str], otherwise: Unlimited) -> Memory:
    """Keeps what holds the rank now if that was fixed earlier, else says that nothing does."""
    notes.append(f"{TOO_LATE}: needs restart")
    if not isinstance(rank.applier, FixedLimit):
        otherwise.needs_restart(TOO_LATE)
        rank.use(otherwise)
    return _said(Memory(rank, "none", names, enforced=isinstance(rank.applier, FixedLimit), notes=tuple(notes)))


def _said(memory: Memory) -> Memory:
    for note in memory.notes:
        LOG.warning("ullage: %s", note)
    return memory


def gpu_usage() -> Optional[Usage]:
    """What TensorFlow's allocator holds on its first GPU; None without one. This starts the runtime."""
    if not tf.config.get_visible_devices("GPU"):
        return None  # it answers 0 for a CPU, which is not the truth
    try:
        info = tf.config.experimental.get_memory_info("GPU:0")
    except (ValueError, RuntimeError):
        return None
    return Usage(allocated_bytes=info["current"], peak_allocated_bytes=info["peak"])


__all__ = ["Memory", "configure", "gpu_usage"]
