#!/usr/bin/env python3
"""A node whose only source is nvidia-smi, with a tool that stops answering, scraped by 20 at once for a minute.

    python3 bench/scrapes.py [--seconds 60] [--scrapers 20] [--json]

First the tool answers from a recording, then each run of it hangs and ignores SIGTERM, then it answers again. What is
measured while it hangs: how many of its processes are there at once, how long a scrape of /metrics takes, how many
threads the node has more than before and whether that grows (the second half of the time against the first), and
whether the age of the readings grows; afterwards, how long until they are fresh. Ends with code 1 where one of the
bounds does not hold. Needs a built distribution (any ./ullage command).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

from worker import DIST, ROOT, free_port

RESOURCES = ROOT / "worker" / "src" / "test" / "resources"
RECORDING = RESOURCES / "nvidia-smi" / "telegraf-xml" / "tesla-t4.xml"
STUCK = RESOURCES / "cases" / "G04" / "fake-nvidia-smi.sh"
OF_THE_JVM = re.compile("C[12] CompilerThre|G1 |GC |VM |Sweeper|Common-Cleaner|Service Thread")
AGE = re.compile(r"^ullage_device_sample_age_seconds\{[^}]*\} ([0-9.e+-]+)$", re.MULTILINE)
#: The bounds of case G04. The tool is run at most once in two seconds: that is the period within which readings are
#: fresh again.
BOUNDS = {"toolsAtOnce": 1, "scrapeP99Millis": 200, "threadsGrowth": 0, "freshAfterSeconds": 2}
TOOL = """#!/bin/sh
[ -e {folder}/hangs ] && PIDLOG={folder}/pids exec sh {stuck}
exec cat {recording}
"""
SETTINGS = """
ullage {{
  node.state-dir = "{folder}/state"
  cluster.port = 0
  http.port = {port}
  worker.devices {{ nvml-library = "{folder}/no-nvml.so", lock-dir = "{folder}/locks" }}
}}
"""


def start(folder: Path, port: int) -> subprocess.Popen:
    tool = folder / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(TOOL.format(folder=folder, stuck=STUCK, recording=RECORDING), encoding="utf-8")
    tool.chmod(0o755)
    settings = folder / "scrapes.conf"
    settings.write_text(SETTINGS.format(folder=folder, port=port), encoding="utf-8")
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    with open(folder / "node.log", "w", encoding="utf-8") as log:
        return subprocess.Popen([str(DIST / "bin" / "ullage"), "up", "--config", str(settings)], stdout=log, stderr=log,
                                env=environment)


def scrape(port: int) -> Tuple[float, str]:
    """How long it took, in ms, and the page."""
    began = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        page = answer.read().decode("utf-8")
    return 1000 * (time.monotonic() - began), page


def age(port: int) -> float:
    """Seconds, of the oldest reading; endless while there is none."""
    try:
        ages = [float(found) for found in AGE.findall(scrape(port)[1])]
    except OSError:
        return float("inf")
    return max(ages) if ages else float("inf")


def wait_until_fresh(port: int, within: float) -> float:
    began = time.monotonic()
    while age(port) > 3:
        if time.monotonic() - began > within:
            raise SystemExit(f"no fresh reading within {within:.0f} s")
        time.sleep(0.1)
    return time.monotonic() - began


def living(folder: Path) -> List[int]:
    """The runs of the tool that are there now."""
    try:
        pids = (folder / "pids").read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return []
    return [int(pid) for pid in pids if is_running(pid)]


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def threads(node: subprocess.Popen) -> Counter:
    """By name; without those that the JVM itself starts and ends as it compiles and collects."""
    names: Counter = Counter()
    for task in Path(f"/proc/{node.pid}/task").iterdir():
        try:
            names[(task / "comm").read_text(encoding="utf-8").strip()] += 1
        except OSError:
            continue
    return Counter({name: count for name, count in names.items() if not OF_THE_JVM.match(name)})


def scraper(port: int, until: float, millis: List[float]) -> None:
    while time.monotonic() < until:
        took, _ = scrape(port)
        millis.append(took)
        time.sleep(max(0.0, 1 - took / 1000))


def load(folder: Path, port: int, node: subprocess.Popen, options: argparse.Namespace) -> Dict[str, Any]:
    millis: List[float] = []
    # A first round of all of them, so that the threads that answer are there before they are counted.
    run_scrapers(port, 20, options.scrapers, [])
    before = threads(node)
    first_age = age(port)
    (folder / "hangs").touch()
    until = time.monotonic() + options.seconds
    workers = run_scrapers(port, options.seconds, options.scrapers, millis, wait=False)
    at_once, most, halves = 0, before, [0, 0]
    while time.monotonic() < until:
        at_once = max(at_once, len(living(folder)))
        now = threads(node)
        most = max(most, now, key=lambda names: sum(names.values()))
        half = 0 if until - time.monotonic() > options.seconds / 2 else 1
        halves[half] = max(halves[half], sum(now.values()))
        time.sleep(0.1)
    for worker in workers:
        worker.join()
    last_age = age(port)
    # The driver is back: what hung in it ends, and the next one answers.
    (folder / "hangs").unlink()
    for pid in living(folder):
        os.kill(pid, signal.SIGKILL)
    fresh_after = wait_until_fresh(port, 60)
    millis.sort()
    return {
        "scrapes": len(millis),
        "toolsAtOnce": at_once,
        "toolsInAll": len((folder / "pids").read_text(encoding="utf-8").split()),
        "scrapeMedianMillis": round(statistics.median(millis), 1),
        "scrapeP99Millis": round(millis[len(millis) * 99 // 100], 1),
        "threadsBefore": sum(before.values()),
        "threadsMore": sum(most.values()) - sum(before.values()),
        "threadsGrowth": max(0, halves[1] - halves[0]),
        "newThreads": ", ".join(sorted((most - before).elements())),
        "ageBeforeSeconds": round(first_age, 1),
        "ageAtTheEndSeconds": round(last_age, 1),
        "freshAfterSeconds": round(fresh_after, 1),
    }


def run_scrapers(port: int, seconds: float, count: int, millis: List[float],
                 wait: bool = True) -> List[threading.Thread]:
    until = time.monotonic() + seconds
    workers = [threading.Thread(target=scraper, args=(port, until, millis)) for _ in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers if wait else []:
        worker.join()
    return workers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--scrapers", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ullage-scrapes-"))
    port = free_port()
    node = start(folder, port)
    try:
        wait_until_fresh(port, 60)
        found = load(folder, port, node, options)
    finally:
        node.terminate()
        node.wait(30)
        shutil.rmtree(folder)
    broken = [f"{name} is {found[name]}, more than {most}" for name, most in BOUNDS.items() if found[name] > most]
    if found["ageAtTheEndSeconds"] < options.seconds - 5:
        broken.append(f"the age has not grown: {found['ageAtTheEndSeconds']} s at the end")
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20} {value}")
    for line in broken:
        print(f"BROKEN: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
