"""The command line: ``python3 -m ullage exec -- CMD`` and ``python3 -m ullage env``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from typing import List, Optional

from ullage import __version__
from ullage.errors import LaunchError
from ullage.execution import ExecOptions, run
from ullage.launch import discover

_EXEC_HELP = """\
Registers this process with the worker, waits for the first limit, sets what a framework reads at its start, and
becomes CMD: same process, so signals and the exit code are CMD's own. It goes in front of each rank, not in front of
the launcher. Where no worker is there at all it does not wait, unless --require is given.

  torchrun --no_python --nproc_per_node 4 python3 -m ullage exec -- python3 train.py
  mpirun -np 4 python3 -m ullage exec -- python3 train.py
  srun python3 -m ullage exec -- python3 train.py

environment of CMD:
  ULLAGE_SOCKET, ULLAGE_JOB, ULLAGE_DEVICE   where and as what it is registered; ullage.connect() resumes it
  ULLAGE_LIMIT_BYTES                         the limit granted, the highest of any phase
  ULLAGE_LOCAL_RANK                          this rank's number on its host: the launcher's, else the worker's
  XLA_CLIENT_MEM_FRACTION                    on a real device, unless set already
  PYTORCH_ALLOC_CONF                         on a real device, when CMD's torch is 2.10 or later, less an overhead for
  ULLAGE_HELD_BYTES                          what is beside its allocator; by the second its worker knows that
  XLA_CLIENT_MEM_FRACTION, XLA_PYTHON_CLIENT_PREALLOCATE
                                             with --framework jax: less an overhead for what is beside JAX's allocator
  ULLAGE_ALLOCATOR_MIB                       with --framework tensorflow: what to give a logical device, MiB, with the
                                             same overhead left out; TensorFlow itself reads no such variable

  CUDA_VISIBLE_DEVICES                       this rank's own entry of ULLAGE_OWN_DEVICES, where "ullage run" sets that

exit codes: CMD's own; 2 usage; 75 --require and no worker or no limit in time, or its own device cannot be told;
126 CMD cannot be executed; 127 CMD not found"""

_ENV_HELP = "Prints what rank discovery found. Exit codes: 0; 1 when the launcher's variables break their own rules."


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command line and returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.action == "env":
        return _env(options.json)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        options.parser.error("CMD is missing: ullage exec [options] -- CMD...")
    command = rank_command(command, options.python, options.local_rank)
    return run(ExecOptions(command, options.require, options.timeout, options.job, options.device, options.socket,
                           options.framework))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m ullage", description="Ullage's rank client.")
    parser.add_argument("--version", action="version", version=f"ullage {__version__}")
    # Launchers that start a module put this in front of everything; it is the script's.
    parser.add_argument("--local_rank", "--local-rank", help=argparse.SUPPRESS)
    actions = parser.add_subparsers(dest="action", required=True, metavar="{exec,env}")
    execute = actions.add_parser("exec", help="run a command as a registered rank", description=_EXEC_HELP,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 usage="python3 -m ullage exec [options] -- CMD...")
    execute.add_argument("--require", action="store_true", help="exit with 75 instead of starting CMD without a limit")
    execute.add_argument("--timeout", type=_seconds, default=30.0, metavar="SECONDS",
                         help="how long to wait for the worker, and then for the limit; default 30")
    execute.add_argument("--python", action="store_true", help="CMD is what follows python3: run it with this one")
    execute.add_argument("--job", help="job id, instead of the launcher's")
    execute.add_argument("--device", help="device: UUID, unique prefix of one, or index")
    execute.add_argument("--framework", choices=("tensorflow", "jax"),
                         help="what CMD trains with: a framework that takes its limit at its start only")
    execute.add_argument("--socket", metavar="PATH", help="the worker's socket, instead of ULLAGE_SOCKET")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    execute.set_defaults(parser=execute)
    env = actions.add_parser("env", help="print what rank discovery found", description=_ENV_HELP)
    env.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def rank_command(command: List[str], python: bool, local_rank: Optional[str]) -> List[str]:
    """``command`` as it is to be started: by this interpreter if ``python``, with the launcher's local rank.

    deepspeed and older launchers of PyTorch pass ``--local_rank=N`` as the first argument of what they start. They
    started this client, so the argument is put where the script would have found it.
    """
    script = 0
    if python:
        while script < len(command) - 1 and command[script].startswith("-"):
            script += 1
        command, script = [sys.executable] + command, script + 1
    if local_rank is not None:
        command = command[:script + 1] + [f"--local_rank={local_rank}"] + command[script + 1:]
    return command


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be 0 or more seconds: {text}")
    return value


def _env(as_json: bool) -> int:
    try:
        found = dataclasses.asdict(discover())
        errors: List[str] = []
    except LaunchError as error:
        found, errors = {}, list(error.problems)
    if as_json:
        print(json.dumps(dict(found, schema=1, errors=errors)))
    else:
        for key, value in found.items():
            if key != "problems":
                print(f"{key + ':':18}{'not known' if value is None else value}")
        for problem in list(found.get("problems", ())):
            print(f"problem: {problem}")
        for problem in errors:
            print(f"error: {problem}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
