"""The rank client of Ullage: tells the worker what this training process does, and keeps it to its memory limit.

::

    import ullage
    rank = ullage.connect()
    with rank.phase("forward"):
        ...
    rank.step_done()
"""

from __future__ import annotations

from ullage.allocator import LimitedAllocator
from ullage.applier import Applier, Usage
from ullage.client import Rank
from ullage.device import Device
from ullage.connecting import connect, current
from ullage.errors import (LaunchError, MemoryLimitError, OutOfMemoryStop, ProtocolError, RestartForMemory, StepAgain,
                           StepFailed, UllageError)
from ullage.launch import LaunchInfo, discover
from ullage.phases import BACKWARD, CHECKPOINT, EVALUATION, FORWARD, IDLE, INIT, OPTIMIZER, PHASES

__version__ = "0.1.0"

__all__ = [
    "Applier", "Device", "LaunchError", "LaunchInfo", "LimitedAllocator", "MemoryLimitError",
    "OutOfMemoryStop", "ProtocolError", "Rank", "RestartForMemory", "StepAgain", "StepFailed", "UllageError", "Usage",
    "connect", "current", "discover",
    "BACKWARD", "CHECKPOINT", "EVALUATION", "FORWARD", "IDLE", "INIT", "OPTIMIZER", "PHASES",
]
