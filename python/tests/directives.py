"""Directives as a worker sends them, for the tests of what follows them."""


def directive(sequence=1, level="MICRO_BATCH", micro=4, **other):
    return dict({"type": "directive", "job": "job", "sequence": sequence, "step": 0, "level": level,
                 "microBatch": micro, "accumulation": 2, "restart": False, "rank": 0, "usedBytes": None,
                 "done": [], "reason": "as the test wants"}, **other)


def share_order(sequence):
    return directive(sequence, "LIMIT", None,
                     shares={"since": sequence, "orders": 1, "rounds": 1, "samples": [5, 3]})
