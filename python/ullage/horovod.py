"""Horovod: the limit of this rank in MiB, for whatever a training script does with such a number.

::

    import horovod.tensorflow as hvd, ullage.horovod
    hvd.init()
    mib = ullage.horovod.limit_mib(hvd)

``hvd`` may be any of Horovod's modules (``horovod.torch``, ``horovod.tensorflow``, ...), or be left out: then the
variables that ``horovodrun`` sets, or ``mpirun``'s, say which rank this is. Nothing of Horovod is imported here.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional

from ullage.client import Rank
from ullage.connecting import connect, current
from ullage.errors import LaunchError
from ullage.fixed import MIB, Ratio, allocator_bytes, exact_ratio, granted_bytes, part_of

_VARIABLES = (("HOROVOD_RANK", "rank"), ("HOROVOD_SIZE", "size"), ("HOROVOD_LOCAL_RANK", "local_rank"),
              ("HOROVOD_LOCAL_SIZE", "local_size"))


def limit_mib(hvd: Any = None, *, rank: Optional[Rank] = None, ratio: Ratio = 1, overhead_bytes: int = 0,
              timeout: float = 30.0) -> Optional[int]:
    """``ratio`` of this rank's limit less ``overhead_bytes``, in whole MiB, rounded down; None when none was granted.

    ``hvd``: an initialised Horovod module to ask for rank and size. ``timeout``: seconds to wait for the first limit.
    The limit is that of the process; it can change later (``rank.on_limit``), which this number does not. Raises
    LaunchError when the module is not initialised or contradicts the variables, UllageError when the overhead leaves
    less than 1 MiB, ValueError for a ratio out of range.
    """
    part = exact_ratio(ratio)
    environ = os.environ if hvd is None else variables(hvd, os.environ)
    rank = rank or current() or connect(environ=environ)
    granted = granted_bytes(rank, timeout)
    return None if granted is None else allocator_bytes(part_of(granted, part), overhead_bytes) // MIB


def variables(hvd: Any, environ: Mapping[str, str]) -> Dict[str, str]:
    """``environ`` with the rank and the sizes that the module knows, as ``horovodrun`` would have set them.

    Raises LaunchError with every variable that says something else.
    """
    if not hvd.is_initialized():
        raise LaunchError(["Horovod is not initialised: call hvd.init() first"])
    found = dict(environ)
    problems = []
    for name, function in _VARIABLES:
        value = str(getattr(hvd, function)())
        given = environ.get(name, "").strip()
        if given and given != value:
            problems.append(f"{name}={given}: Horovod itself says {value}")
        found[name] = value
    if problems:
        raise LaunchError(problems)
    return found


__all__ = ["limit_mib", "variables"]
