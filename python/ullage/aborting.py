"""Freeing this process's threads from collectives, where torch can (docs/oom.md).

What torch offers differs by version and backend, so it is looked for and not concluded from a version:
``torch.distributed.distributed_c10d._abort_process_group`` where there is one, which aborts all groups; then an
``abort`` or ``_abort`` of each group or of its backend. Groups over gloo have neither in torch 1.13.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Iterator, List, Optional

import torch
import torch.distributed as dist

LOG = logging.getLogger("ullage")
_NAMES = ("abort", "_abort")


def can_abort() -> bool:
    """Whether this torch has something to abort the groups of this process with. Aborting may still fail."""
    return _abort_all() is not None or any(True for _ in _aborts())


def abort_groups() -> bool:
    """Aborts all groups of this process; returns whether anything was aborted. May hang: for a thread to spare.

    What a thread inside a collective sees is the backend's own: an error there, or a result that is none and an error
    from the next collective on.
    """
    everything = _abort_all()
    if everything is not None:
        try:
            everything()
            return True
        except Exception:  # one backend that cannot must not keep the others from it
            LOG.warning("ullage: torch could not abort all groups at once; each by itself", exc_info=True)
    done = False
    for abort in list(_aborts()):
        try:
            abort()
            done = True
        except Exception:
            LOG.debug("ullage: a group could not be aborted", exc_info=True)
    return done


def _abort_all() -> Optional[Callable[[], Any]]:
    if not (dist.is_available() and dist.is_initialized()):
        return None
    found = getattr(_c10d(), "_abort_process_group", None)
    return found if callable(found) else None


def _aborts() -> Iterator[Callable[[], Any]]:
    """What aborts each group, the newest group first: a later one may rest on an earlier one."""
    for group in reversed(_groups()):
        for owner in (group, _backend(group)):
            found = next((getattr(owner, name) for name in _NAMES if callable(getattr(owner, name, None))), None)
            if found is not None:
                yield found
                break


def _groups() -> List[Any]:
    if not (dist.is_available() and dist.is_initialized()):
        return []
    c10d = _c10d()
    known = getattr(getattr(c10d, "_world", None), "pg_map", None)
    return list(getattr(c10d, "_pg_map", {}) if known is None else known)


def _backend(group: Any) -> Any:
    """What the group uses on CUDA devices; None where the group is the backend itself, or has none for them."""
    find = getattr(group, "_get_backend", None)
    try:
        return None if find is None else find(torch.device("cuda"))
    except Exception:
        return None


def _c10d() -> Any:
    return dist.distributed_c10d
