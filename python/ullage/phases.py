"""The phases of a training process, as far as memory is concerned. A rank is in exactly one at a time."""

from __future__ import annotations

from typing import Dict, Tuple

INIT = "INIT"
FORWARD = "FORWARD"
BACKWARD = "BACKWARD"
OPTIMIZER = "OPTIMIZER"
EVALUATION = "EVALUATION"
CHECKPOINT = "CHECKPOINT"
IDLE = "IDLE"

#: Every phase, in the order of the protocol.
PHASES: Tuple[str, ...] = (INIT, FORWARD, BACKWARD, OPTIMIZER, EVALUATION, CHECKPOINT, IDLE)

#: The accepted spellings: upper and lower case.
SPELLINGS: Dict[str, str] = {spelling: name for name in PHASES for spelling in (name, name.lower())}


def phase_name(phase: str) -> str:
    """The protocol's name of a phase given in any case.

    Raises ValueError that lists the phases when there is none of that name.
    """
    name = str(phase).upper()
    if name not in PHASES:
        raise ValueError(f"unknown phase {phase!r}; known: {', '.join(PHASES)}")
    return name
