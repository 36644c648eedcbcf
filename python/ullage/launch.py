"""Rank discovery: which rank of which job this process is, from what its launcher put in the environment.

The innermost launcher wins: torchrun inside a Slurm step, mpirun inside an sbatch script. A launcher further out
describes its own tasks, which is no contradiction; two launchers that describe the *same* processes and disagree are
reported with both values.
"""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from typing import Callable, List, Mapping, MutableMapping, NamedTuple, Optional, Tuple

from ullage.errors import LaunchError

#: The longest job id the worker accepts, in characters.
MAX_JOB_LENGTH = 200


@dataclass(frozen=True)
class LaunchInfo:
    """This process's place in its job.

    ``rank`` is 0 or more. ``world_size``, ``local_rank`` and ``local_world_size`` are None where the launcher does
    not say: the worker works out a missing local rank, and nobody guesses 0. ``restart`` counts from 0.
    ``problems`` are contradictions and gaps a person should know of; each names variables and values.
    """

    job: str
    rank: int
    world_size: Optional[int]
    local_rank: Optional[int]
    local_world_size: Optional[int]
    launcher: str
    restart: int
    problems: Tuple[str, ...] = ()


class LocalIds(NamedTuple):
    """What names a job whose launcher does not: this host, this process and its parent."""

    host: str
    pid: int
    parent: int


class _Launcher(NamedTuple):
    """The variables of one launcher, each a list of names of which the first that is set counts."""

    name: str
    rank: Tuple[str, ...]
    size: Tuple[str, ...]
    local_rank: Tuple[str, ...]
    local_size: Tuple[str, ...]
    restart: Tuple[str, ...] = ()
    needs_size: bool = True


_TORCHRUN = _Launcher("torchrun", ("RANK",), ("WORLD_SIZE",), ("LOCAL_RANK",), ("LOCAL_WORLD_SIZE", "LOCAL_SIZE"),
                      ("TORCHELASTIC_RESTART_COUNT",))
_DEEPSPEED = _TORCHRUN._replace(name="deepspeed")
_SLURM = _Launcher("slurm", ("SLURM_PROCID",), ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"),
                   ("SLURM_LOCALID",), (), ("SLURM_RESTART_COUNT",))
#: Innermost first.
_LAUNCHERS: Tuple[_Launcher, ...] = (
    _TORCHRUN,
    _Launcher("horovod", ("HOROVOD_RANK",), ("HOROVOD_SIZE",), ("HOROVOD_LOCAL_RANK",), ("HOROVOD_LOCAL_SIZE",)),
    _Launcher("openmpi", ("OMPI_COMM_WORLD_RANK",), ("OMPI_COMM_WORLD_SIZE",), ("OMPI_COMM_WORLD_LOCAL_RANK",),
              ("OMPI_COMM_WORLD_LOCAL_SIZE",)),
    _Launcher("mvapich", ("MV2_COMM_WORLD_RANK",), ("MV2_COMM_WORLD_SIZE",), ("MV2_COMM_WORLD_LOCAL_RANK",),
              ("MV2_COMM_WORLD_LOCAL_SIZE",)),
    _Launcher("pmi", ("PMI_RANK",), ("PMI_SIZE",), ("MPI_LOCALRANKID", "PMI_LOCAL_RANK"),
              ("MPI_LOCALNRANKS", "PMI_LOCAL_SIZE")),
    _Launcher("pmix", ("PMIX_RANK",), (), (), (), (), needs_size=False),
    _SLURM,
)


def discover(environ: Optional[Mapping[str, str]] = None, local: Optional[LocalIds] = None) -> LaunchInfo:
    """Works out rank and job from ``environ`` (default: this process's environment).

    ``local`` replaces this host's name and process ids, which serve only where no launcher names the job. Raises
    LaunchError with every bad value at once: variable, value and rule.
    """
    env = os.environ if environ is None else environ
    ids = LocalIds(socket.gethostname(), os.getpid(), os.getppid()) if local is None else local
    problems: List[str] = []
    launcher = _innermost(env, problems)
    errors: List[str] = []
    job = _job(env, launcher, ids, errors, problems)
    if launcher is None:
        if errors:
            raise LaunchError(errors)
        return LaunchInfo(job, 0, 1, _stray_local_rank(env, problems), None, "plain", 0, tuple(problems))
    reader = _Reader(env, errors)
    rank = reader.integer(launcher.rank)
    size = reader.integer(launcher.size, minimum=1)
    local_rank = reader.integer(launcher.local_rank)
    local_size = reader.integer(launcher.local_size, minimum=1)
    if launcher is _SLURM:
        local_size = _slurm_local_size(env)
    restart = reader.integer(launcher.restart)
    reader.below(launcher.rank, rank, launcher.size, size)
    reader.below(launcher.local_rank, local_rank, launcher.local_size, local_size)
    if errors:
        raise LaunchError(errors)
    _compare_with_others(env, launcher, rank, size, local_rank, problems)
    return LaunchInfo(job, rank or 0, size, local_rank, local_size, launcher.name, restart or 0, tuple(problems))


def listed_device(environ: Mapping[str, str], local_rank: Optional[int]) -> Optional[str]:
    """The device of ``ULLAGE_DEVICES``, a list that the ranks of this host take in turn; None when there is none.

    ``ullage run --ranks-per-device`` sets it: with more ranks than devices no other list says who is where.
    """
    devices = _listed(environ.get("ULLAGE_DEVICES", ""))
    if not devices or local_rank is None:
        return None
    return devices[local_rank % len(devices)]


def see_own_device(environ: MutableMapping[str, str]) -> None:
    """Leaves this rank one device of ``ULLAGE_OWN_DEVICES``, a list that the ranks of this host take in turn.

    ``ullage run`` sets it for MIG instances: CUDA shows a process the first one of a list and no other, so ranks with
    one list for all would be on one instance together. What a launcher chose for the rank out of the list stays.
    Raises LaunchError when the local rank cannot be told: then no choice would be right.
    """
    devices = _listed(environ.pop("ULLAGE_OWN_DEVICES", ""))
    if not devices or environ.get("CUDA_VISIBLE_DEVICES", "").strip() in devices:
        return
    local_rank = discover(environ).local_rank
    if local_rank is None:
        raise LaunchError([f"ULLAGE_OWN_DEVICES lists a device for each local rank ({len(devices)}), and the "
                           "launcher does not say which local rank this is: set CUDA_VISIBLE_DEVICES for each rank"])
    environ["CUDA_VISIBLE_DEVICES"] = devices[local_rank % len(devices)]


def _listed(text: str) -> List[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _first(env: Mapping[str, str], names: Tuple[str, ...]) -> Tuple[Optional[str], str]:
    """The first variable of ``names`` that has a value, and the value; (None, "") when none has."""
    for name in names:
        value = env.get(name, "").strip()
        if value:
            return name, value
    return None, ""


class _Reader:
    """Reads integers and collects what is wrong with them."""

    def __init__(self, env: Mapping[str, str], errors: List[str]) -> None:
        self._env = env
        self._errors = errors

    def integer(self, names: Tuple[str, ...], minimum: int = 0) -> Optional[int]:
        name, text = _first(self._env, names)
        if name is None:
            return None
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            self._errors.append(f"{name}={text!r}: must be an integer")
            return None
        value = int(text)
        if value < minimum:
            self._errors.append(f"{name}={value}: must be {minimum} or more")
            return None
        return value

    def below(self, names: Tuple[str, ...], value: Optional[int], size_names: Tuple[str, ...],
              size: Optional[int]) -> None:
        if value is not None and size is not None and value >= size:
            name, size_name = _first(self._env, names)[0], _first(self._env, size_names)[0]
            self._errors.append(f"{name}={value}: must be below {size_name or 'the number of local ranks'}={size}")


def _innermost(env: Mapping[str, str], problems: List[str]) -> Optional[_Launcher]:
    chosen: Optional[_Launcher] = None
    for launcher in _LAUNCHERS:
        rank, rank_value = _first(env, launcher.rank)
        size, size_value = _first(env, launcher.size)
        if rank and (size or not launcher.needs_size):
            chosen = chosen or launcher
        elif rank and chosen is None:
            problems.append(f"{rank}={rank_value} is set without {launcher.size[0]}; ignored")
        elif size and chosen is None and launcher is not _SLURM:
            problems.append(f"{size}={size_value} is set without {launcher.rank[0]}; ignored")
    if chosen is _TORCHRUN and _first(env, ("CROSS_RANK", "CROSS_SIZE"))[0]:
        return _DEEPSPEED
    return chosen


def _number(env: Mapping[str, str], names: Tuple[str, ...]) -> Optional[int]:
    """A value that is only compared with: None when it is not a plain number."""
    text = _first(env, names)[1]
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _compare_with_others(env: Mapping[str, str], chosen: _Launcher, rank: Optional[int], size: Optional[int],
                         local_rank: Optional[int], problems: List[str]) -> None:
    """Reports launchers that describe the same processes and disagree. Slurm is always further out, never compared."""
    elastic = _first(env, ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "GROUP_RANK"))[0] is not None
    if chosen.name == "torchrun" and elastic:
        return
    for other in _LAUNCHERS:
        if other.name == chosen.name or other is _SLURM or (other is _TORCHRUN and chosen is _DEEPSPEED):
            continue
        their_rank, their_size = _number(env, other.rank), _number(env, other.size)
        their_local = _number(env, other.local_rank)
        rank_name, size_name = chosen.rank[0], _first(env, chosen.size)[0]
        if size is not None and their_size is not None and size < their_size:
            problems.append(f"{size_name}={size} is smaller than {_first(env, other.size)[0]}={their_size} around it; "
                            f"used {size_name}")
        if their_rank is not None and their_rank != rank and their_size in (None, size):
            problems.append(f"{rank_name}={rank} and {_first(env, other.rank)[0]}={their_rank} contradict each other; "
                            f"used {rank_name}")
        same_processes = their_rank == rank or (their_rank is None and their_size is None)
        if local_rank is not None and their_local is not None and their_local != local_rank and same_processes:
            mine = _first(env, chosen.local_rank)[0]
            problems.append(f"{mine}={local_rank} and {_first(env, other.local_rank)[0]}={their_local} contradict "
                            f"each other; used {mine}")


def _stray_local_rank(env: Mapping[str, str], problems: List[str]) -> Optional[int]:
    """The local rank when no launcher named the rank: what all local ranks agree on, None when they do not."""
    claims = [(_first(env, launcher.local_rank)[0], _number(env, launcher.local_rank)) for launcher in _LAUNCHERS]
    claims = [(name, value) for name, value in claims if name is not None and value is not None]
    if not claims:
        return 0
    said = " and ".join(f"{name}={value}" for name, value in claims)
    if len({value for _, value in claims}) > 1:
        problems.append(f"{said} contradict each other and no launcher names a rank; used rank 0 of 1, "
                        "local rank not known")
        return None
    problems.append(f"{said} is set and no launcher names a rank; used rank 0 of 1")
    return claims[0][1]


def _slurm_local_size(env: Mapping[str, str]) -> Optional[int]:
    """This node's entry of SLURM_STEP_TASKS_PER_NODE, such as ``2(x3),1``; None when it does not say."""
    text = _first(env, ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"))[1]
    node = _number(env, ("SLURM_NODEID",))
    if not text or node is None:
        return None
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?", part.strip())
        if match is None:
            return None
        repeat = int(match.group(2) or 1)
        if node < repeat:
            return int(match.group(1)) or None
        node -= repeat
    return None


def _job(env: Mapping[str, str], launcher: Optional[_Launcher], ids: LocalIds, errors: List[str],
         problems: List[str]) -> str:
    named = env.get("ULLAGE_JOB")
    if named is not None and named != "":
        if not named.strip() or len(named) > MAX_JOB_LENGTH or not named.isprintable():
            errors.append(f"ULLAGE_JOB={named!r}: must be 1 to {MAX_JOB_LENGTH} printable characters, not all blank")
        return named
    if launcher is None:
        return f"local-{ids.host}-{ids.pid}"[:MAX_JOB_LENGTH]
    sources = _JOB_SOURCES.get(launcher.name, ())
    for source in sources + (_slurm_job,):
        job = source(env, ids)
        if job:
            return "".join(c for c in job if c.isprintable())[:MAX_JOB_LENGTH]
    fallback = f"local-{ids.host}-{ids.parent}"[:MAX_JOB_LENGTH]
    problems.append(f"{launcher.name} names no job; used {fallback}, which differs on each host: set ULLAGE_JOB")
    return fallback


def _torch_job(env: Mapping[str, str], ids: LocalIds) -> Optional[str]:
    run = env.get("TORCHELASTIC_RUN_ID", "").strip()
    if run and run != "none":
        return run
    return _address_job(env.get("MASTER_ADDR", "").strip(), env.get("MASTER_PORT", "").strip(), ids)


def _address_job(address: str, port: str, ids: LocalIds) -> Optional[str]:
    """Address and port; with the host's name where the address means another job on each host."""
    if not address or not port:
        return None
    is_local = address.startswith("127.") or address in ("localhost", "::1")
    return f"{ids.host}@{address}:{port}" if is_local else f"{address}:{port}"


def _mpi_job(env: Mapping[str, str], _: LocalIds) -> Optional[str]:
    """The namespace: Open MPI 4 gives it twice, as PMIX_NAMESPACE and as a job id of its runtime."""
    name = _first(env, ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid"))[1]
    return f"mpi-{name}" if name else None


def _pmi_job(env: Mapping[str, str], ids: LocalIds) -> Optional[str]:
    name = _first(env, ("PMI_JOBID",))[1]
    return f"pmi-{name}" if name else _mpi_job(env, ids)


def _horovod_job(env: Mapping[str, str], ids: LocalIds) -> Optional[str]:
    address = env.get("HOROVOD_GLOO_RENDEZVOUS_ADDR", "").strip()
    port = env.get("HOROVOD_GLOO_RENDEZVOUS_PORT", "").strip()
    return _address_job(address, port, ids) or _mpi_job(env, ids)


def _slurm_job(env: Mapping[str, str], _: LocalIds) -> Optional[str]:
    job, step = _first(env, ("SLURM_JOB_ID", "SLURM_JOBID"))[1], env.get("SLURM_STEP_ID", "").strip()
    if not job:
        return None
    return f"slurm-{job}.{step}" if step else f"slurm-{job}"


_JOB_SOURCES: Mapping[str, Tuple[Callable[[Mapping[str, str], LocalIds], Optional[str]], ...]] = {
    "torchrun": (_torch_job,),
    "deepspeed": (_torch_job,),
    "horovod": (_horovod_job,),
    "openmpi": (_mpi_job,),
    "mvapich": (_mpi_job,),
    "pmi": (_pmi_job,),
    "pmix": (_mpi_job,),
    "slurm": (),
}
