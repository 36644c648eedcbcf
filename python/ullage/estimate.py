"""The estimate that a job was started with (``ullage run --estimate``): this rank's part of it."""

from __future__ import annotations

import json
import logging
from typing import Any, Dict, Mapping, Optional

LOG = logging.getLogger("ullage")
#: How ``ullage run --estimate`` passes it on: one JSON object for all ranks of the job.
ESTIMATE_VARIABLE = "ULLAGE_ESTIMATE"

_PHASES = ("INIT", "FORWARD", "BACKWARD", "OPTIMIZER", "STEADY")
_AMOUNTS = ("lowerBytes", "bytes", "upperBytes", "stateBytes")


def planned(environ: Mapping[str, str], rank: int, world_size: Optional[int]) -> Optional[Dict[str, Any]]:
    """What this rank was estimated to need, as its hello says it; None without an estimate that is of this job.

    Ranks of a pipeline stage follow each other: the first stage has the lowest numbers. An estimate that cannot be
    used is named in a warning, and the rank goes without.
    """
    text = environ.get(ESTIMATE_VARIABLE)
    if not text:
        return None
    try:
        estimate = json.loads(text)
        ranks, stages = int(estimate["ranks"]), list(estimate["stages"])
        if ranks < 1 or not stages or ranks % len(stages) or not all(map(_is_need_of_a_stage, stages)):
            raise ValueError(f"ranks: {ranks}, stages: {len(stages)}")
    except (ValueError, TypeError, KeyError) as error:
        LOG.warning("ullage: %s cannot be used (%s); this rank goes without an estimate", ESTIMATE_VARIABLE, error)
        return None
    if rank >= ranks or (world_size is not None and world_size != ranks):
        LOG.warning("ullage: the estimate is of a world of %d, and this is rank %d of %s; it goes without", ranks, rank,
                    "a world of unknown size" if world_size is None else world_size)
        return None
    return stages[rank // (ranks // len(stages))]


def _is_need_of_a_stage(stage: Any) -> bool:
    return (isinstance(stage, dict) and isinstance(stage.get("phases"), dict)
            and all(_is_need(stage["phases"].get(phase)) for phase in _PHASES)
            and _is_need(stage.get("optimizerState")))


def _is_need(need: Any) -> bool:
    if not isinstance(need, dict) or not all(type(need.get(name)) is int for name in _AMOUNTS):
        return False
    lower, point, upper, state = (need[name] for name in _AMOUNTS)
    return 0 <= lower <= point <= upper and 0 <= state <= point
