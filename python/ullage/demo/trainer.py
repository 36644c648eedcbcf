"""``python3 -m ullage.demo.trainer``: trains for some steps or seconds, or until SIGTERM, within its limit.

It prints one JSON object at the end: steps, losses, phases entered, refusals, changes of the limit it saw.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from typing import Any, Dict, List, Optional

import ullage
from ullage.demo.plain import PlainLearner
from ullage.demo.workspace import Workspace


class _CountingAllocator(ullage.LimitedAllocator):
    """Remembers how far above its limit it ever let an allocation go; 0 is what it promises."""

    def __init__(self) -> None:
        super().__init__()
        self.most_over_limit_bytes = 0

    def reserve(self, nbytes: int) -> None:
        super().reserve(nbytes)
        if self.limit_bytes is not None:
            self.most_over_limit_bytes = max(self.most_over_limit_bytes, self.allocated_bytes - self.limit_bytes)


class _Stop:
    """Set by SIGTERM and SIGINT."""

    def __init__(self) -> None:
        self.wanted = False
        signal.signal(signal.SIGTERM, self._signalled)
        signal.signal(signal.SIGINT, self._signalled)

    def _signalled(self, *_: Any) -> None:
        self.wanted = True

    def __call__(self) -> bool:
        return self.wanted


def main(arguments: Optional[List[str]] = None) -> int:
    """Trains and returns the exit code: 0, or 1 when the loss did not fall over at least 20 steps."""
    options = _options(arguments)
    stop = _Stop()
    allocator = _CountingAllocator()
    transformer = _transformer(options)
    rank = ullage.connect(applier=allocator)
    rank.wait_for_limit(options.wait if rank.connected else 0)
    phases = _count_phases(rank)
    workspace = Workspace(rank, allocator, options.batch, options.demand_bytes, stop)
    learner = _learner(transformer, options, rank, workspace)
    losses = _train(options, stop, learner, workspace)
    learner.close()
    print(json.dumps({
        "schema": 1, "trainer": learner.name, "job": rank.info.job if rank.info else None,
        "rank": rank.info.rank if rank.info else None, "steps": len(losses),
        "firstLoss": _mean(losses[:5]), "finalLoss": _mean(losses[-5:]), "phases": phases,
        "refusals": allocator.refusals, "limitChanges": workspace.limit_changes, "limitBytes": rank.limit_bytes,
        "peakBytes": allocator.usage().peak_allocated_bytes, "mostOverLimitBytes": allocator.most_over_limit_bytes,
        "microBatch": workspace.micro_batch, "smallestMicroBatch": workspace.smallest_micro_batch,
        "waits": workspace.waits, "unreserved": workspace.unreserved,
    }), flush=True)
    rank.close()
    return 0 if len(losses) < 20 or _fell(losses) else 1


def _train(options: argparse.Namespace, stop: _Stop, learner: Any, workspace: Workspace) -> List[float]:
    losses: List[float] = []
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    while options.steps is None or len(losses) < options.steps:
        over = stop() or (deadline is not None and time.monotonic() >= deadline)
        if learner.agree(over):
            break
        workspace.hold_tensors(learner.tensor_bytes())
        losses.append(learner.step())
        if options.pace:
            time.sleep(options.pace)
    return losses


def _transformer(options: argparse.Namespace) -> Any:
    """The learner on torch, or None without one. Loaded before the rank connects, so that its hello names torch."""
    if options.model == "plain":
        return None
    try:
        from ullage.demo.transformer import TransformerLearner
    except ImportError:
        if options.model == "torch" or options.ddp:
            raise
        return None
    return TransformerLearner


def _learner(transformer: Any, options: argparse.Namespace, rank: ullage.Rank, workspace: Workspace) -> Any:
    seed = options.seed + (rank.info.rank if rank.info else 0)
    if transformer is None:
        return PlainLearner(rank, workspace, options.batch, seed)
    return transformer(rank, workspace, options.batch, seed, options.ddp)


def _count_phases(rank: ullage.Rank) -> Dict[str, int]:
    """Counts the phases entered from now on, by name, around the rank's own method."""
    counts = {phase: 0 for phase in ullage.PHASES}
    enter = rank.enter_phase

    def counted(phase: str, wait: bool = False, timeout: float = 1.0) -> Optional[int]:
        counts[phase.upper()] += 1
        return enter(phase, wait, timeout)

    rank.enter_phase = counted  # type: ignore[method-assign]
    return counts


def _mean(losses: List[float]) -> Optional[float]:
    return sum(losses) / len(losses) if losses else None


def _fell(losses: List[float]) -> bool:
    return sum(losses[-5:]) < sum(losses[:5])


def _options(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m ullage.demo.trainer", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--batch", type=int, default=16, help="samples of a step; default 16")
    parser.add_argument("--demand-bytes", type=int, help="workspace of a full batch; default 0.9 of the first limit")
    parser.add_argument("--pace", type=float, default=0.0, metavar="SECONDS", help="pause after each step; default 0")
    parser.add_argument("--wait", type=float, default=10.0, metavar="SECONDS", help="for the first limit; default 10")
    parser.add_argument("--model", choices=("auto", "torch", "plain"), default="auto", help="default: torch if there")
    parser.add_argument("--ddp", action="store_true", help="average gradients over WORLD_SIZE processes with gloo")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.steps is None and options.seconds is None:
        options.steps = 100
    if options.batch < 1:
        parser.error("--batch must be 1 or more")
    return options


def leave_at_once(code: int) -> None:
    """Ends the process without freeing anything.

    A model under DDP joins gloo's thread when it is freed, holding the interpreter's lock, while that thread may wait
    for the lock to free a tensor of the last step (seen with torch 1.13): one in a few runs would never end.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave_at_once(main())
