#!/usr/bin/env python3
"""How long a cluster is without a coordinator: three coordinators and two workers in processes of their own, the
acting coordinator killed, again and again.

    python3 bench/failover.py [--runs 10] [--dist FOLDER ...] [--setting KEY=VALUE ...] [--json]

The time is from SIGKILL until another coordinator says that it plans, asked every 20 ms. It goes by the clock, so other
load lengthens it: with several --dist, each its own build, a run of each is made in turn, for figures that can be
compared. Needs a built distribution (any ./ullage command builds it).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "cli" / "target" / "dist"
COORDINATORS = ["c0", "c1", "c2"]
WORKERS = ["w0", "w1"]
PATIENCE = 120.0
SETTINGS = """
ullage {
  node { name = "%(name)s", state-dir = "%(folder)s/%(name)s" }
  cluster { port = %(cluster)d, seed-nodes = [%(seeds)s], majority-of = all }
  http.port = %(http)d
  worker.devices { simulate = "2xH100-80G", lock-dir = "%(folder)s/locks" }
}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """Five nodes of one build, by name."""

    def __init__(self, dist: Path, further: List[str]) -> None:
        self.dist = dist
        self.folder = Path(tempfile.mkdtemp(prefix="ullage-failover-"))
        names = COORDINATORS + WORKERS
        self.http = {name: free_port() for name in names}
        cluster = {name: free_port() for name in names}
        seeds = ", ".join(f'"127.0.0.1:{cluster[name]}"' for name in COORDINATORS)
        for name in names:
            text = SETTINGS % {"name": name, "folder": self.folder, "cluster": cluster[name], "seeds": seeds,
                               "http": self.http[name]}
            lines = [text, *(f"{key} = {value}" for key, value in (one.split("=", 1) for one in further))]
            (self.folder / f"{name}.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.processes: Dict[str, subprocess.Popen] = {}
        for name in names:
            # One after the other: five that start at once keep two cores from answering each other in time.
            self.start(name)
            self.wait_started(name)

    def start(self, name: str) -> None:
        role = "coordinator" if name in COORDINATORS else "worker"
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                [str(self.dist / "bin" / "ullage"), role, "--config", str(self.folder / f"{name}.conf")],
                stdout=log, stderr=log)

    def wait_started(self, name: str) -> None:
        until = time.monotonic() + PATIENCE
        sign = "http started" if name in COORDINATORS else "member of a cluster"
        while sign not in (self.folder / f"{name}.log").read_text(encoding="utf-8"):
            if time.monotonic() > until or self.processes[name].poll() is not None:
                raise SystemExit(f"{name} does not start; its log is in {self.folder}")
            time.sleep(0.1)

    def status(self, name: str) -> Optional[Dict]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http[name]}/api/v1/status", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None

    def wait_whole(self) -> Dict:
        """Until every coordinator answers for the same acting one, which knows both workers; then that status."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            seen = [self.status(name) for name in COORDINATORS]
            if all(seen) and len({one["coordinator"]["node"] for one in seen}) == 1:
                status = seen[0]
                known = {node["node"] for node in status["nodes"]}
                if status["coordinator"]["state"] == "ACTIVE" and known >= set(WORKERS):
                    return status
            time.sleep(0.2)
        raise SystemExit(f"the cluster is not whole after {PATIENCE:.0f} s; logs in {self.folder}")

    def fail(self) -> float:
        """Kills the acting coordinator; seconds until another one plans. The killed one is started again after."""
        status = self.wait_whole()
        time.sleep(3)  # heartbeats have been seen for long enough to be judged by
        acting, epoch = status["coordinator"]["node"], status["coordinator"]["epoch"]
        others = [name for name in COORDINATORS if name != acting]
        killed = time.monotonic()
        self.processes[acting].send_signal(signal.SIGKILL)
        self.processes[acting].wait()
        while time.monotonic() < killed + PATIENCE:
            for name in others:
                now = self.status(name)
                if now and now["coordinator"]["state"] == "ACTIVE" and now["coordinator"]["epoch"] > epoch:
                    took = time.monotonic() - killed
                    self.start(acting)
                    return took
            time.sleep(0.02)
        raise SystemExit(f"no coordinator within {PATIENCE:.0f} s; logs in {self.folder}")

    def stop(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(30)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="how often it is killed, for each build")
    parser.add_argument("--dist", type=Path, action="append", help="a distribution; several are measured in turn")
    parser.add_argument("--setting", action="append", default=[], metavar="KEY=VALUE", help="a line of the settings")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    dists = options.dist or [DIST]
    for dist in dists:
        if not os.access(dist / "bin" / "ullage", os.X_OK):
            raise SystemExit(f"no distribution at {dist}: run ./ullage --version first")
    clusters: List[Cluster] = []
    times: Dict[str, List[float]] = {str(dist): [] for dist in dists}
    try:
        for dist in dists:
            clusters.append(Cluster(dist, options.setting))
        for run in range(options.runs):
            for cluster in clusters:
                took = cluster.fail()
                times[str(cluster.dist)].append(round(took, 2))
                print(f"{run + 1}/{options.runs} {cluster.dist}: {took:.2f} s", file=sys.stderr)
    finally:
        for cluster in clusters:
            cluster.stop()
    for cluster in clusters:
        shutil.rmtree(cluster.folder)
    if options.json:
        print(json.dumps(times))
        return 0
    print("| build | runs | least | median | most |\n|---|---|---|---|---|")
    for name, found in times.items():
        print(f"| {name} | {len(found)} | {min(found):.1f} s | {statistics.median(found):.1f} s | {max(found):.1f} s |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
