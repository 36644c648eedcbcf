#!/usr/bin/env python3
"""What a phase call costs the thread that trains, beside a raw echo over the same kind of socket.

Each round times every variant once, in turn, so that a busy machine disturbs them alike. With ULLAGE_SOCKET set the
calls go to that worker; without, to a minimal peer in a child process that speaks the protocol. The raw echo's server
is a child process in either case.

  python3 bench/rank_client.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import ullage  # noqa: E402

GIB = 1 << 30
#: The lines of a call with an answer, for the raw echo to carry as many bytes.
ECHO_LINE = b'{"type":"phase","phase":"BACKWARD","step":100,"id":1000}\n'
SEND_TARGET_US = 15.0
ASK_TARGET_RATIO = 1.5

PEER = r"""
import json, socket, sys, threading
PHASES = ("INIT", "FORWARD", "BACKWARD", "OPTIMIZER", "EVALUATION", "CHECKPOINT", "IDLE")
GIB = 1 << 30
def lines(connection):
    rest = b""
    while True:
        data = connection.recv(65536)
        if not data:
            return
        parts = (rest + data).split(b"\n")
        rest = parts.pop()
        yield from parts
def serve(connection):
    for line in lines(connection):
        if line.startswith(b'{"type":"phase"'):
            at = line.find(b'"id":')
            if at >= 0:
                number = line[at + 5:-1]
                connection.sendall(b'{"type":"entered","id":%s,"sequence":1,"limitBytes":8589934592}\n' % number)
        elif line.startswith(b'{"type":"hello"'):
            for message in ({"type": "welcome", "version": 1, "session": "s", "token": "t"},
                            {"type": "limits", "sequence": 1, "limitBytes": {p: 8 * GIB for p in PHASES}}):
                connection.sendall(json.dumps(message).encode() + b"\n")
        elif line.startswith(b'{"type":"attach"'):
            connection.sendall(b'{"type":"attached"}\n')
def echo(connection):
    while True:
        data = connection.recv(65536)
        if not data:
            return
        connection.sendall(data)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen(8)
print("ready", flush=True)
while True:
    connection = listener.accept()[0]
    threading.Thread(target={"echo": echo, "peer": serve}[sys.argv[1]], args=(connection,), daemon=True).start()
"""


def serve(kind: str, path: str) -> subprocess.Popen:
    """Starts a child process that listens at ``path``: ``echo`` or ``peer``."""
    child = subprocess.Popen([sys.executable, "-c", PEER, kind, path], stdout=subprocess.PIPE)
    child.stdout.readline()
    return child


def measure(variants: Dict[str, Callable[[], Any]], rounds: int) -> Dict[str, List[float]]:
    """Microseconds of each variant in each round; a tenth more rounds come first and do not count."""
    clock = time.perf_counter_ns
    taken: Dict[str, List[float]] = {name: [] for name in variants}
    for number in range(-(rounds // 10), rounds):
        for name, call in variants.items():
            start = clock()
            call()
            end = clock()
            if number >= 0:
                taken[name].append((end - start) / 1000)
    return taken


def run(rounds: int) -> Dict[str, Any]:
    """Measures against the worker or the peer and returns the report."""
    folder = tempfile.mkdtemp(prefix="ullage-bench-")
    children = [serve("echo", f"{folder}/echo.sock")]
    real = os.environ.get("ULLAGE_SOCKET")
    if not real:
        children.append(serve("peer", f"{folder}/ranks.sock"))
    try:
        echo = socket.socket(socket.AF_UNIX)
        echo.connect(f"{folder}/echo.sock")
        rank = ullage.connect(real or f"{folder}/ranks.sock", require=True, timeout=10)
        if rank.wait_for_limit(10) is None:
            raise SystemExit("no limit was granted within 10 s")
        while not rank._calls.connected:
            time.sleep(0.01)
        def raw() -> None:
            echo.send(ECHO_LINE)
            echo.recv(4096)

        phases = ["FORWARD", "BACKWARD"]

        def tell() -> None:
            phases.reverse()
            rank.enter_phase(phases[0])

        def ask() -> None:
            phases.reverse()
            rank.enter_phase(phases[0], wait=True)

        def scope() -> None:
            with rank.phase("forward"):
                pass

        # The answered call comes while the worker is at rest, as in a training, not behind a call it still handles.
        taken = measure({"raw echo": raw, "phase call, answered": ask, "phase call": tell,
                         "with phase: enter and leave": scope}, rounds)
        dropped = rank._calls.dropped
        rank.close()
    finally:
        for child in children:
            child.kill()
            child.wait()
            child.stdout.close()
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    return report(taken, rounds, f"worker at {real}" if real else "minimal Python peer", dropped)


def report(taken: Dict[str, List[float]], rounds: int, peer: str, dropped: int) -> Dict[str, Any]:
    """Medians, 99th percentiles and ratios to the raw echo; the paired ratio is the median over rounds."""
    echo = taken["raw echo"]
    rows = [{
        "name": name,
        "medianMicros": round(statistics.median(values), 2),
        "p99Micros": round(sorted(values)[int(len(values) * 0.99)], 2),
        "ratioOfMedians": round(statistics.median(values) / statistics.median(echo), 3),
        "pairedRatio": round(statistics.median(v / e for v, e in zip(values, echo)), 3),
    } for name, values in taken.items()]
    found = {row["name"]: row for row in rows}
    return {
        "schema": 1, "peer": peer, "python": sys.version.split()[0], "rounds": rounds, "dropped": dropped, "rows": rows,
        "targets": {
            "phaseCallMedianBelowMicros": SEND_TARGET_US,
            "phaseCallMet": found["phase call"]["medianMicros"] < SEND_TARGET_US,
            "answeredBelowRatio": ASK_TARGET_RATIO,
            "answeredMet": found["phase call, answered"]["ratioOfMedians"] < ASK_TARGET_RATIO,
        },
    }


def main() -> int:
    """Prints the table or JSON; exit code 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = run(options.rounds)
    if options.json:
        print(json.dumps(result))
    else:
        print(f"peer: {result['peer']}; Python {result['python']}; {result['rounds']} rounds; "
              f"{result['dropped']} phase lines dropped")
        print(f"{'':30}{'median us':>11}{'p99 us':>10}{'x echo':>9}{'paired':>9}")
        for row in result["rows"]:
            print(f"{row['name']:30}{row['medianMicros']:11.2f}{row['p99Micros']:10.2f}"
                  f"{row['ratioOfMedians']:9.2f}{row['pairedRatio']:9.2f}")
        for name in ("phaseCallMet", "answeredMet"):
            print(f"{name}: {'yes' if result['targets'][name] else 'NO'}")
    return 0 if result["targets"]["phaseCallMet"] and result["targets"]["answeredMet"] else 1


if __name__ == "__main__":
    sys.exit(main())
