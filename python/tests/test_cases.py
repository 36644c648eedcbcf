"""The cases that the rank client and its model in the Java simulation must both obey, from the one file they share."""

import json
import unittest
from pathlib import Path

from ullage.phases import PHASES
from ullage.state import InForce, LimitState, Order

from tests.fake_worker import uniform

CASES = Path(__file__).resolve().parents[2] / "common/src/test/resources/rank-client-cases.json"


def _after(step, state):
    """Does one step; returns what is so afterwards, by the names the cases use."""
    now = {}
    if step["do"] == "receive":
        order = Order(step["sequence"], uniform(step["limit"], **step.get("inPhase", {})))
        now["receipt"] = state.receive(order).name
    elif step["do"] == "settle":
        now["plan"] = state.plan(step["held"])
        if now["plan"] is not None:
            now["told"] = state.commit(now["plan"])
    elif step["do"] == "enter":
        state.enter(step["phase"])
    elif step["do"] == "take":
        state.take_turn(step["bytes"], step["phases"])
    elif step["do"] == "end":
        now["ended"] = state.end_turn(step["held"])
    elif step["do"] == "reconnect":
        state.forget_pending()
    in_force = state.in_force
    limits = state.limits
    now.update({
        "inForce": None if in_force is None else [in_force.sequence, in_force.limit_bytes],
        "limit": state.limit_bytes, "newest": state.newest_sequence, "pending": state.pending,
        "needsSettling": state.needs_settling, "turn": state.turn_bytes,
        "limits": None if limits is None else [limits[phase] for phase in PHASES]})
    return now


@unittest.skipUnless(CASES.exists(), "machine: outside a checkout there is no file of shared cases")
class SharedCases(unittest.TestCase):
    def test_the_client_does_what_its_model_does(self):
        cases = json.loads(CASES.read_text(encoding="utf-8"))
        self.assertGreater(len(cases), 15)
        for case in cases:
            state = LimitState(InForce(*case["inForce"]) if case["inForce"] else None)
            for step in case["steps"]:
                with self.subTest(rule=case["rule"], step=step):
                    now = _after(step, state)
                    self.assertEqual(step["expect"], {name: now[name] for name in step["expect"]})
