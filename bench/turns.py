#!/usr/bin/env python3
"""What taking turns costs and gains: two jobs by turns on one device, against the same two one after the other.

    python3 bench/turns.py [STEPS]        needs a built distribution (mvn -pl cli -am package)

Each job has the memory profile of a recorded model of 24 layers (6,521 MiB, 23,090 MiB at the peak) on a simulated
device of 40 GiB, 32 GiB of which may be promised. A step is sleep: as long in its burst and outside of it as a row
says.
Both ways run in one go, in turn, and the ratio is of their medians.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROUNDS = 3
#: Milliseconds in the burst and outside of it.
STEPS_MILLIS = ((20, 20), (30, 10), (10, 30))
SETTINGS = """
ullage {
  node.state-dir = "%s"
  cluster.port = 0
  http.port = %d
  worker.devices.simulate = "1x40GiB"
  limits { turns = auto, jobs {
    a { persistent = 6521MiB, peak = 23090MiB }
    b { persistent = 6521MiB, peak = 23090MiB }
  } }
}
"""
JOB = """
import os, sys, time
import ullage
from ullage.allocator import LimitedAllocator
persistent, burst = 6521 << 20, (23090 - 6521) << 20
inside, outside, steps, go = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
allocator = LimitedAllocator()
rank = ullage.connect(applier=allocator, require=True, timeout=30)
while (rank.wait_for_limit(1) or 0) < persistent:
    time.sleep(0.01)
allocator.reserve(persistent)
print("ready", flush=True)
while not os.path.exists(go):
    time.sleep(0.01)
    rank.safe_point()
start = time.monotonic()
for step in range(steps):
    rank.enter_phase("forward")
    allocator.reserve(burst)
    rank.enter_phase("backward")
    time.sleep(inside / 1000)
    allocator.release(burst)
    rank.enter_phase("optimizer")
    rank.step_done()
    rank.enter_phase("idle")
    time.sleep(outside / 1000)
print(time.monotonic() - start, rank.turns.waited_seconds, rank.turns.missed, allocator.refusals, flush=True)
"""


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    folder = tempfile.mkdtemp(prefix="ullage-turns-")
    port = free_port()
    settings = os.path.join(folder, "turns.conf")
    with open(settings, "w", encoding="utf-8") as file:
        file.write(SETTINGS % (os.path.join(folder, "state"), port))
    node = subprocess.Popen([ullage(), "up", "--config", settings], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: status(port) is not None, "the node")
        print("| burst / rest of a step (ms) | one after the other (s) | by turns (s) | ratio | waited, each job (s) |")
        print("|---|---|---|---|---|")
        for inside, outside in STEPS_MILLIS:
            row(folder, port, steps, inside, outside)
    finally:
        node.terminate()
        node.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def row(folder, port, steps, inside, outside):
    alone, together, waited = [], [], []
    for _ in range(ROUNDS):
        one = [run(folder, port, [name], steps, inside, outside) for name in "ab"]
        both = run(folder, port, ["a", "b"], steps, inside, outside)
        alone.append(sum(results[0][0] for results in one))
        together.append(max(result[0] for result in both))
        waited.append(statistics.mean(result[1] for result in both))
        if any(result[2] or result[3] for result in both):
            raise SystemExit(f"a turn was missed or a request refused: {both}")
    ratio = statistics.median(alone) / statistics.median(together)
    print(f"| {inside} / {outside} | {statistics.median(alone):.2f} | {statistics.median(together):.2f} | {ratio:.2f} |"
          f" {statistics.median(waited):.2f} |", flush=True)


def run(folder, port, names, steps, inside, outside):
    """Runs these jobs at the same time; seconds, seconds waited, turns missed and requests refused of each."""
    go = os.path.join(folder, f"go-{time.monotonic_ns()}")
    jobs = []
    for name in names:
        environment = dict(os.environ, ULLAGE_JOB=name, RANK="0", WORLD_SIZE="1", LOCAL_RANK="0",
                           ULLAGE_SOCKET=os.path.join(folder, "state", "ranks.sock"),
                           PYTHONPATH=os.path.join(ROOT, "python"))
        jobs.append(subprocess.Popen([sys.executable, "-c", JOB, str(inside), str(outside), str(steps), go],
                                     env=environment, stdout=subprocess.PIPE, text=True))
    for job in jobs:
        job.stdout.readline()
    pool = bool(len(names) > 1)
    wait_until(lambda: is_ready(status(port), len(names), pool), "the limits of " + ", ".join(names))
    with open(go, "w", encoding="utf-8"):
        pass
    results = [[float(word) for word in job.communicate()[0].split()] for job in jobs]
    wait_until(lambda: is_ready(status(port), 0, False), "the end of the jobs")
    return results


def is_ready(seen, ranks, with_pool):
    if seen is None or not seen["nodes"]:
        return False
    device = seen["nodes"][0]["devices"][0]
    turns = device.get("turns") or {}
    found = device.get("ranks") or []
    return (len(found) == ranks and all(rank["settled"] and rank["sequence"] for rank in found)
            and (not with_pool or bool(turns.get("poolInForceBytes"))))


def status(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status", timeout=5) as answer:
            return json.load(answer)
    except OSError:
        return None


def wait_until(condition, what):
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within 120 s: {what}")
        time.sleep(0.1)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ullage():
    for root, _, files in os.walk(os.path.join(ROOT, "cli", "target")):
        if root.endswith("/bin") and "ullage" in files:
            return os.path.join(root, "ullage")
    raise SystemExit("no distribution under cli/target; build it with: mvn -pl cli -am package")


if __name__ == "__main__":
    main()
