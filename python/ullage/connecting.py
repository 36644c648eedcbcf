"""``connect``: from this process's environment to a registered rank."""

from __future__ import annotations

import atexit
import os
import re
import threading
import weakref
from typing import Dict, List, Mapping, Optional, Tuple

from ullage.applier import Applier
from ullage.client import LOG, Rank
from ullage.errors import LaunchError
from ullage.estimate import planned
from ullage.launch import discover, listed_device
from ullage.state import InForce

#: How ``ullage exec`` passes on what is in force: ``sequence:bytes:pid``, good for that process only.
IN_FORCE_VARIABLE = "ULLAGE_IN_FORCE"

#: Where ``/proc/<pid>/stat`` has a process's start, in clock ticks since boot, counted from behind its name.
_START_TIME = 19

_ranks: "weakref.WeakSet[Rank]" = weakref.WeakSet()
_open: Dict[Tuple[str, str, int], Rank] = {}
_lock = threading.RLock()


def socket_paths(given: Optional[str], environ: Mapping[str, str]) -> List[str]:
    """Where the worker's socket may be, best first.

    What was given (an argument, else ``ULLAGE_SOCKET``) is the only place; otherwise the runtime folder, the user's
    state folder and the system's: ``$XDG_RUNTIME_DIR/ullage``, ``$XDG_STATE_HOME/ullage`` (by default
    ``~/.local/state/ullage``), ``/run/ullage``; the file is ``ranks.sock``.
    """
    named = given or environ.get("ULLAGE_SOCKET")
    if named:
        return [named]
    state = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folders = [os.path.join(state, "ullage"), "/run/ullage"]
    if environ.get("XDG_RUNTIME_DIR"):
        folders.insert(0, os.path.join(environ["XDG_RUNTIME_DIR"], "ullage"))
    return [os.path.join(folder, "ranks.sock") for folder in folders]


def connect(socket: Optional[str] = None, *, applier: Optional[Applier] = None, device: Optional[str] = None,
            job: Optional[str] = None, framework: Optional[str] = None, require: bool = False,
            timeout: float = 5.0, environ: Optional[Mapping[str, str]] = None) -> Rank:
    """Registers this process with its worker and returns its rank.

    ``socket``: the worker's socket (see ``socket_paths``). ``applier``: the allocator to hold to the limit; None:
    nothing enforces it. ``device`` and ``job`` override ``ULLAGE_DEVICE`` and the launcher's job id. ``framework``:
    what to report, by default what is loaded. ``timeout``: seconds to wait for a worker that is there and slow.

    Without a worker a warning is logged and the returned rank keeps trying; with ``require`` UllageError is raised
    after ``timeout`` seconds. A second call for the same rank and socket returns the open one.
    """
    env = os.environ if environ is None else environ
    if job is not None:
        env = dict(env, ULLAGE_JOB=job)
    paths = socket_paths(socket, env)
    try:
        info = discover(env)
    except LaunchError as error:
        if require:
            raise
        LOG.warning("ullage: %s; this process is not registered", error)
        return Rank(None, lambda: paths[0], {}, applier)
    for problem in info.problems:
        LOG.warning("ullage: %s", problem)
    key = (paths[0], info.job, info.rank)
    with _lock:
        known = _open.get(key)
        if known is not None and not known.closed:
            if applier is not None:
                known.use(applier)
            return known
        hello = {
            "job": info.job, "rank": info.rank, "worldSize": info.world_size, "localRank": info.local_rank,
            "localWorldSize": info.local_world_size, "pid": os.getpid(), **pid_meaning(), "launcher": info.launcher,
            "restart": info.restart, "visibleDevices": env.get("CUDA_VISIBLE_DEVICES"),
            "deviceOrder": env.get("CUDA_DEVICE_ORDER"), "containerDevices": env.get("NVIDIA_VISIBLE_DEVICES"),
            "device": device or env.get("ULLAGE_DEVICE") or listed_device(env, info.local_rank),
            "framework": framework, "policy": env.get("ULLAGE_POLICY") or None,
            "planned": planned(env, info.rank, info.world_size),
        }
        in_force = passed_in_force(env) if known is None else known.in_force
        rank = Rank(info, lambda: _existing(paths), hello, applier, in_force)
        _open[key] = rank
        _ranks.add(rank)
    rank.start(require, timeout)
    return rank


def current() -> Optional[Rank]:
    """The open rank of this process; the newest one when there are several, None when there is none."""
    with _lock:
        for rank in reversed(list(_open.values())):
            if not rank.closed:
                return rank
    return None


def pid_meaning(proc: str = "/proc/self") -> Dict[str, Optional[int]]:
    """What this process's pid means to a worker outside its container: its pid namespace, and when it started.

    Both None where the kernel does not tell; then the worker takes the pid for one of its own namespace.
    """
    try:
        namespace = re.fullmatch(r"pid:\[([0-9]{1,18})\]", os.readlink(f"{proc}/ns/pid"))
        with open(f"{proc}/stat", encoding="latin-1") as stat:
            # The name before it may hold anything, also blanks and brackets.
            start = stat.read().rpartition(")")[2].split()[_START_TIME]
    except (OSError, IndexError):
        return {"pidNamespace": None, "startTicks": None}
    known = namespace is not None and start.isdigit()
    return {"pidNamespace": int(namespace.group(1)) if known else None, "startTicks": int(start) if known else None}


def passed_in_force(environ: Mapping[str, str]) -> Optional[InForce]:
    """What an ``ullage exec`` that became this very process had in force; None for any other process."""
    match = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,19}):([0-9]{1,10})", environ.get(IN_FORCE_VARIABLE, ""))
    if match is None or int(match.group(3)) != os.getpid() or int(match.group(1)) < 1:
        return None
    return InForce(int(match.group(1)), int(match.group(2)))


def format_in_force(in_force: InForce) -> str:
    """The variable's value for this process."""
    return f"{in_force.sequence}:{in_force.limit_bytes}:{os.getpid()}"


def _existing(paths: List[str]) -> str:
    """The first path that exists, else the first one, so that the warning names a place."""
    return next((path for path in paths if os.path.exists(path)), paths[0])


def _close_all() -> None:
    for rank in list(_ranks):
        rank.close()


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()
    for rank in list(_ranks):
        rank.forked()
    _open.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork_in_child)
