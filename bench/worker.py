#!/usr/bin/env python3
"""What a whole worker costs at a short interval: 8 devices with 64 processes each, read every 100 ms and reported to a
coordinator in another process, beside a bare JVM that is a member of the same cluster and does nothing.

    python3 bench/worker.py [--seconds 60] [--interval 100ms] [--memory steady] [--ranks 8] [--members 3] [--threads]
                            [--json]

Processor time (user and system) is what the kernel counted for each process, so other load disturbs it less than it
disturbs a clock. The devices are the stand-in for NVML that the tests use, their processes are real ones that sleep, or
that take steps as ranks.
Needs a built distribution (any ./ullage command builds it), gcc and a JDK.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "cli" / "target" / "dist"
RANK = ROOT / "bench" / "steady_rank.py"
BARE = ROOT / "bench" / "src" / "main" / "java" / "dev" / "ullage" / "bench" / "BareMember.java"
DEVICES = 8
PROCESSES = 64
START_PAUSE = 4.0
MIB = 1 << 20
#: What the devices show: other memory at each reading, or the same for as long as nobody allocates.
STAND_INS = {"moving": ["-DBENCH"], "steady": ["-DBENCH", "-DSTEADY"]}
#: What the distribution's script gives a worker.
WORKER_OPTIONS = ["-XX:+UseSerialGC", "-Xms24m", "-Xmx512m", "-Xmn8m", "-XX:PerfDataSamplingInterval=1000",
                  "-XX:TieredStopAtLevel=1", "-XX:CompileThresholdScaling=0.1", "-XX:+UseTransparentHugePages"]
SETTINGS = """
ullage {
  node { name = "%(name)s", state-dir = "%(folder)s/%(name)s" }
  cluster { port = %(port)d, seed-nodes = ["127.0.0.1:%(seed)d"] }
  http.port = %(http)d
  worker {
    devices { nvml-library = "%(folder)s/libnvidia-ml-fake.so.1", lock-dir = "%(folder)s/locks" }
    sample-interval = %(interval)s
  }
}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fake_driver(folder: Path, pids: List[int], memory: str) -> None:
    """Compiles the stand-in and tells it of the devices and of who is on them."""
    library = folder / "libnvidia-ml-fake.so.1"
    source = ROOT / "worker" / "src" / "test" / "c" / "fake_nvml.c"
    subprocess.run(["gcc", "-std=gnu11", "-O2", *STAND_INS[memory], "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", library,
                    source, "-ldl"], check=True)
    lines = [f"count={DEVICES}", "driver=550.54.15"]
    for device in range(DEVICES):
        mine = pids[device * PROCESSES:(device + 1) * PROCESSES]
        compute = ",".join(f"{pid}:{(100 + place) * MIB}" for place, pid in enumerate(mine))
        used = sum((100 + place) * MIB for place in range(len(mine)))
        total = 80 << 30
        lines += [f"device.{device}.uuid={device_id(device)}",
                  f"device.{device}.name=NVIDIA H100 80GB HBM3",
                  f"device.{device}.pci=00000000:0{device}:00.0",
                  f"device.{device}.memory={total},{600 * MIB},{used},{total - 600 * MIB - used}",
                  f"device.{device}.compute={compute}"]
    (folder / "libnvidia-ml-fake.so.1.script").write_text("\n".join(lines) + "\n", encoding="utf-8")


def device_id(device: int) -> str:
    return f"GPU-{device}0000000-1111-4000-8000-000000000000"


def start_processes(folder: Path, ranks: int) -> List[subprocess.Popen]:
    """Those on the devices: on each of the first devices one that is a rank once its worker is there."""
    processes = []
    for device in range(DEVICES):
        for place in range(PROCESSES):
            if place > 0 or device >= ranks:
                processes.append(subprocess.Popen(["sleep", "3600"]))
                continue
            launcher = {"RANK": str(device), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(device),
                        "LOCAL_WORLD_SIZE": str(ranks), "ULLAGE_JOB": "bench"}
            command = [sys.executable, str(RANK), str(folder / "worker" / "ranks.sock"), device_id(device),
                       str(100 * MIB)]
            with open(folder / f"rank-{device}.log", "w", encoding="utf-8") as log:
                processes.append(subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **launcher}))
    return processes


def settings(folder: Path, name: str, interval: str, ports: Dict[str, int]) -> Path:
    file = folder / f"{name}.conf"
    values = {"name": name, "folder": folder, "interval": interval, "seed": ports["seed"], "http": ports["http"],
              "port": ports["seed"] if name == "coordinator" else 0}
    file.write_text(SETTINGS % values, encoding="utf-8")
    return file


def compile_bare(folder: Path) -> str:
    """The class path of a member that does nothing."""
    subprocess.run(["javac", "-d", folder / "classes", "-cp", f"{DIST}/lib/*", BARE], check=True)
    return f"{folder}/classes:{DIST}/lib/*"


def wait_for_devices(port: int, expected: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status", timeout=5) as answer:
                nodes = json.load(answer)["nodes"]
            if sum(len(node["devices"]) for node in nodes) >= expected:
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.5)
    raise SystemExit(f"the coordinator does not know {expected} devices after a minute")


def ticks(stat: str) -> int:
    """User and system time, from a line of /proc/PID/stat; the name in it may have blanks."""
    fields = stat[stat.rindex(")") + 2:].split()
    return int(fields[11]) + int(fields[12])


def thread_ticks(pid: int) -> Counter:
    used: Counter = Counter()
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            used[f"{(task / 'comm').read_text().strip()} {task.name}"] = ticks((task / "stat").read_text())
        except FileNotFoundError:
            continue
    return used


def thread_wakeups(pid: int) -> Counter:
    count: Counter = Counter()
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except FileNotFoundError:
            continue
        count[task.name] = sum(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt"))
    return count


def measure(nodes: Dict[str, subprocess.Popen], seconds: float) -> Dict[str, Dict]:
    hertz = os.sysconf("SC_CLK_TCK")
    before = {
        name: (ticks(Path(f"/proc/{node.pid}/stat").read_text()), thread_ticks(node.pid), thread_wakeups(node.pid))
        for name, node in nodes.items()}
    start = time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - start
    found = {}
    for name, node in nodes.items():
        process, threads, woken = before[name]
        after = thread_ticks(node.pid) - threads
        status = Path(f"/proc/{node.pid}/status").read_text().splitlines()
        used = ticks(Path(f"/proc/{node.pid}/stat").read_text()) - process
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
        found[name] = {
            "cpuPercent": round(100 * used / hertz / lasted, 2),
            "residentMiB": round(resident / 1024, 1),
            # Without those of threads that ended meanwhile.
            "wakeupsPerSecond": round(sum((thread_wakeups(node.pid) - woken).values()) / lasted),
            "threads": [[thread, round(100 * count / hertz / lasted, 2)] for thread, count in after.most_common(25)],
        }
    return found


def show(found: Dict[str, Dict], options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(found))
        return
    print(f"| {options.seconds:.0f} s, read every {options.interval} | % of one core | resident, MiB | wake-ups/s |")
    print("|---|---|---|---|")
    for name, figures in found.items():
        row = (name, figures["cpuPercent"], figures["residentMiB"], figures["wakeupsPerSecond"])
        print("| %s | %.2f | %.0f | %d |" % row)
    if options.threads:
        for name, figures in found.items():
            print(f"\n{name}:")
            for thread, share in figures["threads"]:
                print(f"  {share:6.2f}  {thread}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long is measured")
    parser.add_argument("--warm-up", type=float, default=300,
                        help="seconds before that; code is compiled as it is used, and much of it is used rarely")
    parser.add_argument("--interval", default="100ms", help="the worker's sample-interval")
    parser.add_argument("--memory", choices=STAND_INS, default="moving",
                        help="whether each reading of a device shows other memory than the one before, as while a job "
                             "starts, or the same, as with an allocator that keeps what it has")
    parser.add_argument("--ranks", type=int, default=0,
                        help="so many devices have a rank on them that takes four steps a second")
    parser.add_argument("--members", type=int, default=3, help="nodes in all: coordinator, worker, and bare ones")
    parser.add_argument("--threads", action="store_true", help="which threads use it")
    parser.add_argument("--java-options", default="", help="further JVM options of the worker")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the folder with settings and logs")
    options = parser.parse_args()
    if options.members < 3:
        parser.error(f"--members {options.members}: 3 or more, of which one is a coordinator, one a worker, one bare")
    if not 0 <= options.ranks <= DEVICES:
        parser.error(f"--ranks {options.ranks}: 0 to {DEVICES}, one on each device")
    if not (DIST / "bin" / "ullage").exists():
        raise SystemExit(f"no distribution at {DIST}: run ./ullage --version first")
    folder = Path(tempfile.mkdtemp(prefix="ullage-worker-bench-"))
    ports = {"seed": free_port(), "http": free_port()}
    on_devices = start_processes(folder, options.ranks)
    nodes: Dict[str, subprocess.Popen] = {}
    try:
        fake_driver(folder, [process.pid for process in on_devices], options.memory)
        nodes["coordinator"] = start(folder, "coordinator", options, ports)
        wait_for_devices(ports["http"], 0)
        nodes["worker"] = start(folder, "worker", options, ports)
        class_path = compile_bare(folder)
        for member in range(2, options.members):
            name = "bare member" if member == 2 else f"bare member {member - 1}"
            file = settings(folder, name.replace(" ", "-"), options.interval, ports)
            bare = ["java", *WORKER_OPTIONS, "-cp", class_path, "dev.ullage.bench.BareMember", str(file)]
            with open(folder / f"{name}.log", "w", encoding="utf-8") as log:
                nodes[name] = subprocess.Popen(bare, stdout=log, stderr=log)
            # Many JVMs that start at once starve one another's heartbeats, and these do not join again.
            time.sleep(START_PAUSE if options.members > 3 else 0)
        wait_for_devices(ports["http"], DEVICES)
        time.sleep(options.warm_up)
        for name, node in nodes.items():
            if node.poll() is not None:
                options.keep = True
                raise SystemExit(f"{name} ended with {node.returncode} before it was measured: see {folder}")
        show(measure({name: nodes[name] for name in ("worker", "bare member")}, options.seconds), options)
    finally:
        for process in [*nodes.values(), *on_devices]:
            process.send_signal(signal.SIGTERM)
        for process in [*nodes.values(), *on_devices]:
            process.wait(30)
        if not options.keep:
            shutil.rmtree(folder)
    return 0


def start(folder: Path, name: str, options: argparse.Namespace, ports: Dict[str, int]) -> subprocess.Popen:
    java_options = options.java_options if name == "worker" else ""
    command = [str(DIST / "bin" / "ullage"), name, "--config", str(settings(folder, name, options.interval, ports))]
    with open(folder / f"{name}.log", "w", encoding="utf-8") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "ULLAGE_JAVA_OPTS": java_options})


if __name__ == "__main__":
    sys.exit(main())
