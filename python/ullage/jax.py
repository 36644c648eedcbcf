"""JAX: the variables that give its allocator the rank's limit, and what it says of itself afterwards.

::

    import ullage.jax
    ullage.jax.prepare()                       # before `import jax`; or: python3 -m ullage exec --framework jax -- ...
    import jax
    memory = ullage.jax.attach()
    with memory.step():
        params = update(params, batch)

JAX reads the variables once, when it starts. A later order is confirmed with the limit that stays in force and shown
as *needs restart*. This module imports JAX only in ``attach``.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Dict, Iterator, Mapping, Optional

from ullage.applier import Usage
from ullage.client import Rank
from ullage.errors import UllageError
from ullage.fixed import (
    DEFAULT_OVERHEAD_BYTES, LOG, FixedLimit, Unlimited, allocator_bytes, granted_bytes, hold, the_rank,
)
from ullage.phases import FORWARD, IDLE

FRACTION_VARIABLE = "XLA_CLIENT_MEM_FRACTION"
OLD_FRACTION_VARIABLE = "XLA_PYTHON_CLIENT_MEM_FRACTION"
PREALLOCATE_VARIABLE = "XLA_PYTHON_CLIENT_PREALLOCATE"
ALLOCATOR_VARIABLE = "XLA_PYTHON_CLIENT_ALLOCATOR"
_DIGITS = 6


def environment(limit_bytes: int, total_bytes: int, *, overhead_bytes: int = DEFAULT_OVERHEAD_BYTES,
                preallocate: bool = True) -> Dict[str, str]:
    """The variables that hold JAX to ``limit_bytes`` of a device with ``total_bytes``.

    The fraction is that of the *total*, not of what is free (jaxlib 0.4.1 and later), rounded down to six digits.
    ``overhead_bytes`` is left out of it, for what the process uses beside JAX's allocator. ``preallocate``: take all of
    it at the start, as JAX does by default. Raises UllageError when no fraction above 0 and below 1 comes of it.
    """
    if total_bytes <= 0:
        raise UllageError(f"total_bytes={total_bytes}: must be the device's memory, above 0")
    own = allocator_bytes(limit_bytes, overhead_bytes)
    scale = 10 ** _DIGITS
    parts = own * scale // total_bytes
    if parts >= scale:
        raise UllageError(f"refused {own} of {total_bytes} bytes for JAX: 1.0 and more fails when it starts, because"
                          " CUDA's libraries need room beside it; lower the limit or raise the overhead")
    if parts == 0:
        raise UllageError(f"refused {own} of {total_bytes} bytes for JAX: rounded down to six digits it is 0")
    return {FRACTION_VARIABLE: f"0.{parts:0{_DIGITS}d}", PREALLOCATE_VARIABLE: "true" if preallocate else "false"}


def missing(settings: Mapping[str, str], environ: Mapping[str, str]) -> Dict[str, str]:
    """Those of ``settings`` that ``environ`` does not have yet, under the old name of the fraction either."""
    has_fraction = environ.get(FRACTION_VARIABLE) or environ.get(OLD_FRACTION_VARIABLE)
    return {name: value for name, value in settings.items()
            if not environ.get(name) and not (name == FRACTION_VARIABLE and has_fraction)}


def prepare(rank: Optional[Rank] = None, *, overhead_bytes: int = DEFAULT_OVERHEAD_BYTES, preallocate: bool = True,
            timeout: float = 30.0) -> Dict[str, str]:
    """Sets the variables in this process, before JAX is imported, and returns those it set.

    What the user set stays. None is set without a limit (waits ``timeout`` seconds for the first), for a simulated
    device or one whose memory is not known. Raises UllageError when JAX is imported already: *needs restart*; and as
    ``environment`` does.
    """
    rank = the_rank(rank)
    if "jax" in sys.modules or "jaxlib" in sys.modules:
        raise UllageError("jax is imported already and has read its variables: needs restart; call"
                          " ullage.jax.prepare() first, or use: python3 -m ullage exec --framework jax")
    granted, device = granted_bytes(rank, timeout), rank.device
    if granted is None or device is None or device.kind in (None, "simulated") or not device.total_bytes:
        LOG.warning("ullage: JAX starts with its defaults: %s",
                    "no limit was granted" if granted is None else "the device is simulated or its memory not known")
        return {}
    settings = missing(environment(granted, device.total_bytes, overhead_bytes=overhead_bytes,
                                   preallocate=preallocate), os.environ)
    os.environ.update(settings)
    return settings


def attach(rank: Optional[Rank] = None, *, device: Any = None, overhead_bytes: int = DEFAULT_OVERHEAD_BYTES,
           timeout: float = 30.0) -> "JaxMemory":
    """Reports the memory of ``device`` (default: JAX's first local one) and whether its limit holds the rank.

    The limit is shown as enforced (``env``) only when the allocator itself says that its limit, with
    ``overhead_bytes``, is not above the rank's; else the rank stays advisory, with a note of the restart that would
    change that. Starts JAX's backend.
    """
    import jax  # not before: the variables must be set by then

    rank = the_rank(rank)
    memory = JaxMemory(rank, jax.local_devices()[0] if device is None else device)
    granted = granted_bytes(rank, timeout)
    allowed = memory.limit_bytes
    otherwise = Unlimited(memory.usage)
    if allowed is None or granted is None:
        if memory.is_gpu:
            otherwise.needs_restart("JAX's allocator names no limit that holds it")
        rank.use(otherwise)
    elif allowed + overhead_bytes > granted:
        otherwise.needs_restart(f"JAX's allocator was given {allowed} bytes when it started, more than the limit"
                                f" less {overhead_bytes} for libraries")
        rank.use(otherwise)
    else:
        memory.enforced = hold(rank, FixedLimit("JAX", allowed + overhead_bytes, usage=memory.usage), otherwise)
    return memory


class JaxMemory:
    """One JAX device of this rank: its memory, and the steps of a training on it. ``enforced``: see ``attach``."""

    def __init__(self, rank: Rank, device: Any) -> None:
        self.rank = rank
        self.enforced = False
        self._device = device

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU: JAX limits no other device."""
        return self._device.platform in ("gpu", "cuda", "rocm")

    @property
    def limit_bytes(self) -> Optional[int]:
        """What the allocator says it may take; None on a device without such a limit, the CPU for one."""
        return self._stats().get("bytes_limit") if self.is_gpu else None

    def usage(self) -> Optional[Usage]:
        """What the allocator says of itself; None on the CPU, where it says nothing."""
        stats = self._stats()
        if "bytes_in_use" not in stats:
            return None
        return Usage(stats["bytes_in_use"], stats.get("pool_bytes"),
                     stats.get("peak_bytes_in_use"), stats.get("peak_pool_bytes"))

    @contextlib.contextmanager
    def step(self) -> Iterator[Rank]:
        """A training step: FORWARD as a whole, since a compiled step has no other phases; counted when it succeeds.

        JAX dispatches and returns: wait for a result of the step within it if its end is to be the true one.
        """
        self.rank.enter_phase(FORWARD)
        try:
            yield self.rank
            self.rank.step_done()
        finally:
            self.rank.enter_phase(IDLE)

    def _stats(self) -> Mapping[str, int]:
        return self._device.memory_stats() or {}


__all__ = ["JaxMemory", "attach", "environment", "prepare"]
