#!/usr/bin/env python3
"""A rank that trains without a framework: four steps a second, each half forward and half backward, in memory that
stands still. Run by worker.py --ranks, with a launcher's variables.

    steady_rank.py SOCKET DEVICE BYTES
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import ullage  # noqa: E402

HALF_A_STEP = 0.125


def main(socket: str, device: str, held: int) -> None:
    usage = ullage.Usage(held, held, held, held, 0)
    rank = ullage.connect(socket, device=device)
    rank.usage_from(lambda: usage)
    while True:
        for phase in (ullage.FORWARD, ullage.BACKWARD):
            with rank.phase(phase):
                time.sleep(HALF_A_STEP)
        rank.step_done()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
