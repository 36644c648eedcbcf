#!/usr/bin/env python3
"""How long `ullage up` takes from the start of the JVM until a coordinator plans and the rank socket is open.

The node says so itself, by the JVM's own clock. Each round starts one with the archive of loaded classes that the build
leaves, one with it at a random address, as Java has it by itself, and one without any, not even Java's own; in turn, so
that a busy machine disturbs all alike. Needs a distribution (any ./ullage command builds it) and Java 17 to 21.

  python3 bench/startup.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

ULLAGE = Path(__file__).resolve().parent.parent / "cli" / "target" / "dist" / "bin" / "ullage"
READY = re.compile(r"is ready \(([0-9.]+) s\)")
TARGET_SECONDS = 3.0
VARIANTS = {
    "with class archive": "",
    "at a random address": "-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=1",
    "without": "-Xshare:off",
}


def ready_seconds(java_options: str) -> float:
    """Starts a node, reads when it was ready, and ends it."""
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "ULLAGE_JAVA_OPTS": java_options}
        command = [str(ULLAGE), "up", "--simulate", "8xH100-80G", "--port", "0", "--state", state]
        node = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert node.stdout is not None
        try:
            for line in node.stdout:
                found = READY.search(line)
                if found:
                    return float(found.group(1))
            raise SystemExit(f"{' '.join(command)} ended with {node.wait()} before it was ready")
        finally:
            node.terminate()
            node.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not ULLAGE.exists():
        raise SystemExit(f"no distribution at {ULLAGE}: run ./ullage --version first")
    seconds: Dict[str, List[float]] = {name: [] for name in VARIANTS}
    for number in range(options.rounds):
        for name, java_options in VARIANTS.items():
            print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr)
            seconds[name].append(ready_seconds(java_options))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    met = medians["with class archive"] < TARGET_SECONDS
    if options.json:
        print(json.dumps({"schema": 1, "seconds": seconds, "medianSeconds": medians, "targetSeconds": TARGET_SECONDS,
                          "met": met}))
    else:
        for name, values in seconds.items():
            print(f"{name:20s} median {medians[name]:.1f} s, {min(values):.1f} to {max(values):.1f} s")
        print(f"ready within {TARGET_SECONDS:.0f} s: {'yes' if met else 'NO'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
