"""``python3 -m ullage exec``: registers, waits for a grant, then becomes the command in the same process."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import Dict, List, Mapping, MutableMapping, NamedTuple, Optional

from ullage.client import LOG, Rank
from ullage.connecting import IN_FORCE_VARIABLE, connect, format_in_force
from ullage.device import Device
from ullage.errors import UllageError
from ullage.fixed import DEFAULT_OVERHEAD_BYTES, MIB, allocator_bytes
from ullage.jax import environment, missing
from ullage.launch import see_own_device

EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
#: EX_TEMPFAIL: what was required is not there now; another try may succeed.
EXIT_REQUIRED = 75

#: With ``--framework tensorflow``: what a script may give a logical device, MiB.
ALLOCATOR_VARIABLE = "ULLAGE_ALLOCATOR_MIB"

#: Set along with a fraction: the limit that it holds the process to, for the worker.
HELD_VARIABLE = "ULLAGE_HELD_BYTES"

_FRACTION_KEY = "per_process_memory_fraction"
_FRACTION_DIGITS = 6
#: The options of the interpreter that leave the set of installed packages as it is.
_HARMLESS_OPTIONS = frozenset({"-u", "-m", "-c", "-B", "-O", "-OO", "-q", "-v"})
#: Those that change it; another interpreter is asked with the same ones.
_CHANGING_OPTIONS = frozenset({"-E", "-I", "-s", "-S"})
_PYTHON_NAME = re.compile(r"python[0-9.]*")
_PROBE = "import importlib.metadata as found; print(found.version('torch'))"
_PROBE_SECONDS = 20


class ExecOptions(NamedTuple):
    """What the command line asked for; ``timeout`` in seconds."""

    command: List[str]
    require: bool
    timeout: float
    job: Optional[str]
    device: Optional[str]
    socket: Optional[str]
    framework: Optional[str] = None


def run(options: ExecOptions) -> int:
    """Replaces this process by the command; returns an exit code only when that was not possible."""
    program = shutil.which(options.command[0])
    if program is None:
        return _cannot_run(options.command[0])
    environ = dict(os.environ)
    try:
        see_own_device(environ)
        rank = connect(options.socket, device=options.device, job=options.job, framework=None,
                       require=options.require, timeout=options.timeout, environ=environ)
        limit = rank.wait_for_limit(options.timeout) if rank.connected else None
        if limit is None and options.require:
            rank.close()
            raise UllageError(f"the worker granted no limit within {options.timeout:g} s")
    except UllageError as error:
        print(f"ullage exec: {error}", file=sys.stderr)
        return EXIT_REQUIRED
    if limit is None:
        LOG.warning("ullage exec: no limit was granted; %s starts without", options.command[0])
    _describe(rank, options, environ)
    sys.stdout.flush()
    sys.stderr.flush()
    _restore_signals()
    try:
        os.execve(program, options.command, environ)
    except OSError as error:
        print(f"ullage exec: {program}: {error.strerror}", file=sys.stderr)
        return EXIT_NOT_EXECUTABLE


def _describe(rank: Rank, options: ExecOptions, environ: MutableMapping[str, str]) -> None:
    """Leaves the rank, without a bye, and puts into ``environ`` what the command can read."""
    rank.flush(1.0)
    in_force = rank.leave(bye=False)
    environ["ULLAGE_SOCKET"] = os.path.abspath(rank.socket_path)
    for variable in ("ULLAGE_LIMIT_BYTES", ALLOCATOR_VARIABLE, IN_FORCE_VARIABLE, HELD_VARIABLE):
        environ.pop(variable, None)
    if rank.info is not None:
        environ["ULLAGE_JOB"] = rank.info.job
    if rank.local_rank is not None:
        environ["ULLAGE_LOCAL_RANK"] = str(rank.local_rank)
    device = (rank.device.uuid if rank.device is not None else None) or options.device
    if device:
        environ["ULLAGE_DEVICE"] = device
    if in_force is not None:
        environ["ULLAGE_LIMIT_BYTES"] = str(in_force.limit_bytes)
        environ[IN_FORCE_VARIABLE] = format_in_force(in_force)
        try:
            _prepare(options.framework, in_force.limit_bytes, rank.device, environ)
        except UllageError as error:
            LOG.warning("ullage exec: %s", error)
        environ.update(framework_settings(in_force.limit_bytes, rank.device, environ,
                                          torch_version_for(options.command)))


def _prepare(framework: Optional[str], limit_bytes: int, device: Optional[Device],
             environ: MutableMapping[str, str]) -> None:
    """Sets what ``--framework`` asks for; raises UllageError when the limit leaves that framework nothing."""
    if framework == "tensorflow":
        environ[ALLOCATOR_VARIABLE] = str(allocator_bytes(limit_bytes, DEFAULT_OVERHEAD_BYTES) // MIB)
        if environ.pop("TF_FORCE_GPU_ALLOW_GROWTH", None) is not None:
            LOG.warning("ullage exec: TF_FORCE_GPU_ALLOW_GROWTH is dropped: a limit or growth, never both")
    elif framework == "jax" and is_real(device):
        environ.update(missing(environment(limit_bytes, device.total_bytes), environ))


def framework_settings(limit_bytes: int, device: Optional[Device], environ: Mapping[str, str],
                       torch_version: Optional[str]) -> Dict[str, str]:
    """The variables that hold a framework to ``limit_bytes`` from its start; none for a simulated device.

    ``torch_version`` is that of the command's interpreter, None when not known: a torch older than 2.10 aborts on
    the key it does not know, so it is set only for one that is known to know it. What the user set stays. Torch's
    allocator gets the limit less what its process uses beside it, so that the process keeps to the limit.
    """
    if not is_real(device):
        return {}
    fraction = fraction_text(limit_bytes, device.total_bytes)
    if float(fraction) <= 0:
        return {}
    # JAX fails at its start with 1.0: CUDA's libraries need room beside it.
    settings = {} if float(fraction) >= 1 else missing({"XLA_CLIENT_MEM_FRACTION": fraction}, environ)
    if torch_version is not None and _at_least(torch_version, (2, 10)):
        # The newer name hides the older one, so what the user wrote in the older one comes along.
        given = environ.get("PYTORCH_ALLOC_CONF") or environ.get("PYTORCH_CUDA_ALLOC_CONF") or ""
        share = fraction_text(limit_bytes - DEFAULT_OVERHEAD_BYTES, device.total_bytes)
        if float(share) <= 0:
            LOG.warning("ullage exec: a limit of %d bytes leaves torch's allocator nothing beside %d for its process;"
                        " it starts without", limit_bytes, DEFAULT_OVERHEAD_BYTES)
        elif _FRACTION_KEY not in given:
            settings["PYTORCH_ALLOC_CONF"] = f"{given},{_FRACTION_KEY}:{share}".lstrip(",")
            settings[HELD_VARIABLE] = str(limit_bytes)
    return settings


def is_real(device: Optional[Device]) -> bool:
    """Whether a fraction of this device means something: it is there, not simulated, and its memory is known."""
    return device is not None and device.kind not in (None, "simulated") and bool(device.total_bytes)


def fraction_text(limit_bytes: int, total_bytes: int) -> str:
    """``limit_bytes`` of ``total_bytes`` as a decimal from 0 to 1, rounded down, in exact arithmetic."""
    scale = 10 ** _FRACTION_DIGITS
    parts = min(scale, max(0, limit_bytes) * scale // total_bytes)
    return f"{parts // scale}.{parts % scale:0{_FRACTION_DIGITS}d}"


def torch_version_for(command: List[str]) -> Optional[str]:
    """The version of the torch that ``command`` would import; None unless it surely runs a Python that told.

    This interpreter is not started again for that. Another one, also by a script's first line, is asked with the same
    options, without importing torch: that takes seconds, and may touch a device.
    """
    program = shutil.which(command[0])
    if program is None:
        return None
    is_script = _PYTHON_NAME.fullmatch(os.path.basename(program)) is None
    words = _first_line(program) if is_script else [program] + command[1:]
    interpreter = shutil.which(words[0]) if words else None
    if interpreter is None or _PYTHON_NAME.fullmatch(os.path.basename(interpreter)) is None:
        return None
    options: List[str] = []
    for word in words[1:]:
        if not word.startswith("-"):
            break
        if word in _CHANGING_OPTIONS:
            options.append(word)
        elif word not in _HARMLESS_OPTIONS:
            return None
        if word in ("-m", "-c"):
            break
    if not options and _is_this(interpreter):
        try:
            return importlib.metadata.version("torch")
        except importlib.metadata.PackageNotFoundError:
            return None
    return _asked(interpreter, options)


def _is_this(interpreter: str) -> bool:
    if not sys.executable or sys.flags.isolated or sys.flags.no_site:
        return False
    same_folder = os.path.dirname(os.path.abspath(interpreter)) == os.path.dirname(os.path.abspath(sys.executable))
    return same_folder and os.path.realpath(interpreter) == os.path.realpath(sys.executable)


def _first_line(program: str) -> List[str]:
    """What a script says runs it, by words; nothing for a program that is none."""
    try:
        with open(program, "rb") as file:
            line = file.readline(256)
    except OSError:
        return []
    words = line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []
    return words[1:] if words and os.path.basename(words[0]) == "env" else words


def _asked(interpreter: str, options: List[str]) -> Optional[str]:
    try:
        answer = subprocess.run([interpreter, *options, "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def _at_least(version: str, wanted: tuple) -> bool:
    match = re.match(r"([0-9]{1,6})\.([0-9]{1,6})", version)
    return match is not None and (int(match.group(1)), int(match.group(2))) >= wanted


def _cannot_run(name: str) -> int:
    """Says why and returns the shell's exit code for it."""
    if os.path.dirname(name) and os.path.exists(name):
        print(f"ullage exec: {name}: not an executable file", file=sys.stderr)
        return EXIT_NOT_EXECUTABLE
    print(f"ullage exec: {name}: command not found", file=sys.stderr)
    return EXIT_NOT_FOUND


def _restore_signals() -> None:
    """Python ignores these, and what is ignored stays so over an exec; the command expects the default."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
