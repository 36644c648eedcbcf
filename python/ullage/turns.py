"""Taking turns at a burst (docs/turns.md): what the worker offered, and the conversation about it.

::

    outside --take: ask, wait--> turn held --its phases are left, and no more is held than may be without--> outside
                    \\--the deadline, or a no--> outside, and the phase is entered without a turn

Each asking takes a greater number, also across an exec and a new connection, so whatever comes late is void.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Dict, Mapping

from ullage.calls import Calls
from ullage.errors import ProtocolError
from ullage.phases import PHASES
from ullage.wire import integer, optional_integer

if TYPE_CHECKING:
    from ullage.client import Rank

LOG = logging.getLogger("ullage")
#: How much longer than the worker's deadline a rank waits for the answer that it has passed.
SLACK_SECONDS = 5.0
#: How often a rank that waits applies what was ordered meanwhile, and looks for a new connection.
SLICE_SECONDS = 0.25
_MICROSECONDS = 1_000_000


class Turns:
    """One rank's turns. Its fields belong to the rank's lock; ``take`` is called without it, because it waits."""

    def __init__(self, rank: "Rank", calls: Calls) -> None:
        self._rank = rank
        self._calls = calls
        self._offer: Dict[str, int] = {}
        self._deadline_seconds = 0.0
        self._last_ask = 0
        self._owes_release = False
        self._hellos = 0
        self.given = 0
        self.missed = 0
        self.waited_seconds = 0.0

    @property
    def offer(self) -> Mapping[str, int]:
        """The phases to be entered with a turn, and the bytes it adds in each; empty when there are none."""
        return self._offer

    def offered(self, message: Mapping[str, Any]) -> None:
        """A ``turns`` line: replaces what was offered before. A turn that is held stays as it was given."""
        amounts = message.get("turnBytes")
        if not isinstance(amounts, dict):
            raise ProtocolError(f"turns: turnBytes must be an object, is {amounts!r:.80}")
        self._deadline_seconds = integer(message, "deadlineMillis") / 1000.0
        self._offer = {phase: integer(amounts, phase) for phase in PHASES if phase in amounts}

    def hello(self) -> Dict[str, Any]:
        """The part of a ``hello`` line that is about turns. Whatever is being asked for is void from here on."""
        self._hellos += 1
        self._owes_release = False
        return {"turnBytes": self._rank.state.turn_bytes or None, "turnAsk": self._last_ask}

    def wants(self, phase: str) -> bool:
        """Whether ``phase`` is to be entered with a turn that is not held yet."""
        state = self._rank.state
        return phase in self._offer and state.turn_bytes == 0 and state.in_force is not None

    def take(self, phase: str) -> None:
        """Waits for a turn, at most until the worker's deadline; orders are applied meanwhile."""
        start = time.monotonic()
        while True:
            with self._rank.lock:
                self._rank.pass_safe_point()
                if self._rank.closed or not self.wants(phase):
                    break
                self._last_ask = ask = max(self._last_ask + 1, int(time.monotonic() * _MICROSECONDS))
                # A greater number voids all before it; a release of this one would take back what it is about to get.
                self._owes_release = False
                hellos = self._hellos
                left = start + self._deadline_seconds + SLACK_SECONDS - time.monotonic()
            if left <= 0:
                self._miss(phase, "no answer from the worker")
                break
            answer = self._calls.ask_turn(ask, left, SLICE_SECONDS, self._waiting)
            if answer is None:
                self._await_connection()
            elif self._answered(phase, answer, hellos):
                break
        waited = time.monotonic() - start
        self.waited_seconds += waited
        with self._rank.lock:
            self._rank.waited_for_turn(waited)
            self.pay()

    def _answered(self, phase: str, answer: Mapping[str, Any], hellos: int) -> bool:
        """Takes the answer in; returns whether it counts: a hello sent meanwhile said that nothing is held."""
        with self._rank.lock:
            if self._hellos != hellos:
                return False
            burst = optional_integer(answer, "turnBytes")
            self._owes_release = False
            if burst:
                self._rank.state.take_turn(burst, self._offer)
                self.given += 1
                return True
        self._miss(phase, str(answer.get("reason")))
        return True

    def _miss(self, phase: str, reason: str) -> None:
        self.missed += 1
        LOG.warning("ullage: %s is entered without a turn, with a limit of %s bytes: %s", phase,
                    self._rank.limit_bytes, reason)

    def _waiting(self) -> bool:
        """Between two looks for the answer; returns whether to go on."""
        with self._rank.lock:
            self._rank.pass_safe_point()
            return not self._rank.closed

    def _await_connection(self) -> None:
        with self._rank.lock:
            self._owes_release = True  # it may have been given, and the answer lost
        time.sleep(0.0 if self._calls.connected else SLICE_SECONDS)

    def ended(self) -> None:
        """The turn is over in this process: the worker is to hear of it."""
        self._owes_release = True
        self.pay()

    def pay(self) -> None:
        """Tells the worker that nothing is held and nothing waited for, unless it knows; again until it was sent."""
        if self._owes_release and self._rank.state.turn_bytes == 0 and self._calls.turn_released(self._last_ask):
            self._owes_release = False
