#!/usr/bin/env python3
"""What Ullage costs a training step: a small real training with torch on the CPU, with and without Ullage, in one run.

Two copies of the same model are trained, one attached to a rank that is watched, one bare. They take turns step by
step, in an order that changes, and what counts is the CPU time of the whole process, the client's own thread with it:
other load on the machine would drown what is measured here in wall time. What is said is the median over pairs of the
difference, and what part that is of a step of 50 ms and of 500 ms: the cost is the same whatever the step takes.
Without ULLAGE_SOCKET the worker is a minimal one in a child process.

  python3 bench/watch.py [--pairs N] [--width N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent / "python"
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

import ullage  # noqa: E402
import ullage.torch  # noqa: E402
from ullage.watch import TorchReader  # noqa: E402

GIB = 1 << 30
#: Of a step of this length in milliseconds, at most this part.
GOALS = {50: 0.005, 500: 0.001}
#: What torch.cuda.memory_stats_as_nested_dict returns for one device has as many entries as this.
STATISTICS = ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
              "inactive_split_bytes", "requested_bytes")


class Training:
    """One small model and its optimizer; ``step`` trains it once and returns the microseconds of CPU that took."""

    def __init__(self, width: int) -> None:
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self._batch = torch.randn(64, width)

    def step(self) -> float:
        start = time.process_time_ns()
        self.optimizer.zero_grad()
        torch.nn.functional.mse_loss(self.model(self._batch), self._batch).backward()
        self.optimizer.step()
        return (time.process_time_ns() - start) / 1000


def measure(bare: Training, watched: Training, pairs: int) -> Tuple[List[float], List[float]]:
    """The times of both, pair by pair; a tenth more pairs come first and do not count."""
    times: Tuple[List[float], List[float]] = ([], [])
    for number in range(-(pairs // 10), pairs):
        pair = [0.0, 0.0]
        for which in ((0, 1) if number % 2 else (1, 0)):
            pair[which] = (bare, watched)[which].step()
        if number >= 0:
            times[0].append(pair[0])
            times[1].append(pair[1])
    return times


def reading_micros() -> float:
    """What turning torch's statistics of a CUDA device into a reading costs; without torch's own call."""
    kinds = ("current", "peak", "allocated", "freed")
    stats: Dict[str, Any] = {name: {pool: dict.fromkeys(kinds, 1 << 30) for pool in ("all", "small_pool", "large_pool")}
                             for name in STATISTICS}
    stats.update(num_alloc_retries=0, num_ooms=0)
    return _micros(TorchReader().read, stats)


def _micros(call: Callable[..., Any], argument: Any) -> float:
    taken = []
    for _ in range(5_000):
        start = time.perf_counter_ns()
        call(argument)
        taken.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(taken)


def run(pairs: int, width: int) -> Dict[str, Any]:
    """Measures and returns the report."""
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp(prefix="ullage-bench-")
    path = os.environ.get("ULLAGE_SOCKET")
    child: Optional[subprocess.Popen] = None
    if path is None:
        path = f"{folder}/ranks.sock"
        child = subprocess.Popen([sys.executable, "-m", "tests.fake_worker", path, str(8 * GIB)], cwd=ROOT,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
    try:
        rank = ullage.connect(path, require=True, timeout=10, applier=ullage.LimitedAllocator())
        rank.wait_for_limit(10)
        while not rank._calls.connected:
            time.sleep(0.01)
        bare, watched = Training(width), Training(width)
        ullage.torch.attach(watched.model, watched.optimizer, rank)
        without, with_it = measure(bare, watched, pairs)
        rank.close()
    finally:
        if child is not None:
            child.kill()
            child.wait()
            child.stdin.close()
            child.stdout.close()
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    return report(without, with_it)


def report(without: List[float], with_it: List[float]) -> Dict[str, Any]:
    """The cost of a step as the median over pairs, with the quartiles, and what part of a step that is."""
    costs = [b - a for a, b in zip(without, with_it)]
    low, cost, high = statistics.quantiles(costs, n=4)
    # Blocks of pairs, each with its own median: how far the result itself moves.
    size = max(1, len(costs) // 10)
    blocks = [statistics.median(costs[at:at + size]) for at in range(0, len(costs) - size + 1, size)]
    parts = {millis: max(blocks) / (millis * 1000) for millis in GOALS}
    return {
        "schema": 1, "torch": torch.__version__, "pairs": len(costs),
        "stepMicros": round(statistics.median(without), 1),
        "costMicros": round(cost, 1), "costQuartilesMicros": [round(low, 1), round(high, 1)],
        "costOfBlocksMicros": [round(min(blocks), 1), round(max(blocks), 1)],
        "pairedRatio": round(statistics.median(b / a for a, b in zip(without, with_it)), 4),
        "cudaReadingMicros": round(reading_micros(), 2),
        "worstPartOfStep": {str(millis): round(part, 6) for millis, part in parts.items()},
        "goalMet": {str(millis): parts[millis] <= goal for millis, goal in GOALS.items()},
    }


def main() -> int:
    """Prints the report; exit code 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2_000, help="of steps, 20 or more; default 2000")
    parser.add_argument("--width", type=int, default=128, help="of the model's layers; default 128")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.pairs < 20 or options.width < 1:
        parser.error("--pairs must be 20 or more and --width 1 or more")
    result = run(options.pairs, options.width)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"torch {result['torch']}, {result['pairs']} pairs of steps of {result['stepMicros']} us (median)")
        print(f"cost of a step: {result['costMicros']} us (quartiles {result['costQuartilesMicros']}, ten blocks "
              f"{result['costOfBlocksMicros']}), paired ratio {result['pairedRatio']}")
        print(f"one reading of CUDA statistics, without torch's call: {result['cudaReadingMicros']} us")
        for millis, part in result["worstPartOfStep"].items():
            met = "yes" if result["goalMet"][millis] else "NO"
            print(f"of a step of {millis} ms: {part:.3%} by the worst block; goal met: {met}")
    return 0 if all(result["goalMet"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
