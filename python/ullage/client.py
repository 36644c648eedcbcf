"""The rank: what training code holds in its hands to take part in the sharing of GPU memory."""

from __future__ import annotations

import logging
import os
import threading
import time
import types
from typing import Any, Callable, Dict, List, Mapping, Optional, Type

from ullage.account import Reporting, counted_as_limit
from ullage.applier import AdvisoryApplier, Applier, Usage, UsagePace, fixed_bytes_of, restart_fields, takes_overhead
from ullage.backoff import Backoff
from ullage.calls import Calls
from ullage.device import Device, device_of, framework_loaded
from ullage.errors import UllageError
from ullage.launch import LaunchInfo
from ullage.mailbox import Mailbox
from ullage.phases import IDLE, SPELLINGS, phase_name
from ullage.progress import Progress
from ullage.scope import PhaseScope
from ullage.session import Session
from ullage.state import NEWS_SECONDS, InForce, LimitState, Receipt
from ullage.turns import Turns
from ullage.watch import Watch
from ullage.wire import VERSION, optional_integer, order_of, overhead_of

LOG = logging.getLogger("ullage")
#: After so long without a safe point the client's own thread applies an order, if the allocator allows that.
QUIET_SECONDS = 2.0
_SETTLE_ATTEMPTS = 4


class Rank(Progress, Reporting):
    """One process registered with its worker; made by ``ullage.connect``.

    Every method may be called from any thread and none raises because the worker is slow, gone or never there: the
    last limit stays in force. Limits are bytes. After ``close``, and in a forked child, a rank is inert: phases are
    still kept, nothing is sent.
    """

    def __init__(self, info: Optional[LaunchInfo], path: Callable[[], str], hello: Mapping[str, Any],
                 applier: Optional[Applier] = None, in_force: Optional[InForce] = None,
                 backoff: Optional[Backoff] = None) -> None:
        """For ``connect``: ``info`` None makes a rank that never registers."""
        self.info = info
        self._path = path
        self._hello = dict(hello)
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._state = LimitState(in_force)
        self._applier: Applier = AdvisoryApplier() if applier is None else applier
        self._usage_source: Optional[Callable[[], Optional[Usage]]] = None
        self._callbacks: List[Callable[[int], None]] = []
        self._notified = self._state.limit_bytes
        self._held_bytes: Optional[int] = None
        self._overhead_bytes: Optional[int] = None
        self._overhead_due = False
        self._step = 0
        self.depth = 0
        self._pid = os.getpid()
        self._safe_at = time.monotonic()
        self._pace = UsagePace()
        self._device: Optional[Device] = None
        self._local_rank = None if info is None else info.local_rank
        self._connected = self._attempted = False
        self._error: Optional[UllageError] = None
        self._said: Optional[str] = None
        self._reason: Optional[str] = None
        self._closed = info is None
        self._session = None if info is None else Session(path, self, backoff)
        self._calls = Calls(lambda: None) if self._session is None else self._session.calls
        self.turns = Turns(self, self._calls)
        self.watch = Watch(lambda message: None if self._session is None else self._session.soft(message))
        self.mail = Mailbox(lambda: None) if self._session is None else self._session.mail

    # ---- phases -------------------------------------------------------------------------------------------------

    @property
    def current_phase(self) -> str:
        """The phase this process is in; INIT until the first one is entered."""
        return self._state.phase

    @property
    def step(self) -> int:
        """Steps done, from 0."""
        return self._step

    def phase(self, phase: str, wait: bool = False) -> "PhaseScope":
        """``with rank.phase("forward"):`` enters a phase and at the end the one around it, IDLE at the outermost."""
        return PhaseScope(self, SPELLINGS.get(phase) or phase_name(phase), wait)

    def enter_phase(self, phase: str, wait: bool = False, timeout: float = 1.0) -> Optional[int]:
        """Enters ``phase`` (any case), a safe point, and returns the limit now in force, None when never granted.

        With ``wait`` the worker is asked, and what it ordered by then is in force on return; after ``timeout``
        seconds, or without a worker, the limit is the one known here. Raises ValueError for an unknown phase.
        """
        name = SPELLINGS.get(phase) or phase_name(phase)
        if name in self.turns.offer and self.turns.wants(name):
            self.turns.take(name)
        now = time.monotonic()
        with self._lock:
            self.watch.leaving(self._applier, self._state.phase, self._step)
            self._state.enter(name)
            self._safe_at = now
            if self._due:
                self._settle()
            step = self._step
        if wait:
            answer = self._calls.ask(name, step, timeout)
            # The order the answer speaks of may have come during the call, or be still on its way.
            if answer is not None and (answer.sequence > self._state.newest_sequence or self._state.needs_settling):
                self._await_order(answer.sequence, now + timeout)
        else:
            self._calls.tell(name, step)
        if self._pace.is_due(now):
            self._poll_usage(now)
        limit = self._state.limit_bytes
        if limit != self._notified:
            self._notify(limit)
        return limit

    def step_done(self) -> int:
        """Counts a training step, reports usage when due or at a new peak, and returns the steps done."""
        with self._lock:
            self._step += 1
            self.watch.step_done(self._applier, self._state.phase, self._step)
        self._poll_usage(time.monotonic())
        return self._step

    def safe_point(self) -> Optional[int]:
        """Applies what waits to be applied, as a phase change does, and returns the limit in force."""
        with self._lock:
            self.pass_safe_point()
            limit = self._state.limit_bytes
        if limit != self._notified:
            self._notify(limit)
        return limit

    def pass_safe_point(self) -> None:
        """What a safe point does; the caller has the lock."""
        self._safe_at = time.monotonic()
        if self._due:
            self._settle()
        self.turns.pay()

    @property
    def lock(self) -> threading.RLock:  # type: ignore[valid-type]
        """Guards the state; for the parts of this client."""
        return self._lock

    @property
    def state(self) -> LimitState:
        """Orders, limits and the turn; for the parts of this client, under the lock."""
        return self._state

    # ---- limits -------------------------------------------------------------------------------------------------

    @property
    def limit_bytes(self) -> Optional[int]:
        """The limit in force in the current phase; None when none was ever granted."""
        return self._state.limit_bytes

    @property
    def limits(self) -> Optional[Dict[str, int]]:
        """The limit in force of each phase; None when none was ever granted."""
        with self._lock:
            return self._state.limits

    @property
    def in_force(self) -> Optional[InForce]:
        """The sequence in force and the most bytes this process may use in any phase; None when never granted."""
        return self._state.in_force

    def on_limit(self, callback: Callable[[int], None]) -> None:
        """Calls ``callback(limit_bytes)`` at safe points, in the thread that passes one, after the limit changed."""
        with self._lock:
            self._callbacks.append(callback)

    @counted_as_limit
    def wait_for_limit(self, timeout: float) -> Optional[int]:
        """Waits until a limit was granted, applies it (a safe point) and returns it; None after ``timeout`` seconds."""
        with self._lock:
            self._changed.wait_for(lambda: self._state.newest_sequence > 0 or self._closed, timeout)
            self._changed.wait_for(lambda: not (self._state.resumed and self._connected), min(timeout, NEWS_SECONDS))
        return self.safe_point()

    def use(self, applier: Applier) -> None:
        """Makes ``applier`` what holds this process to its limit, from now on; a limit known already is applied."""
        with self._lock:
            self._applier = applier
            takes_overhead(applier, self._overhead_bytes)
            if self._state.newest_sequence > 0:
                self._settle(confirm=True)
        self.safe_point()

    @property
    def local_rank(self) -> Optional[int]:
        """This process's number on its host: the launcher's, else the worker's; None while neither has said one."""
        return self._local_rank

    @property
    def applier(self) -> Applier:
        """What holds this process to its limit."""
        return self._applier

    # ---- usage --------------------------------------------------------------------------------------------------

    def report_usage(self, usage: Usage) -> None:
        """Reports what the allocator says: at most once a second, at once when it holds a new peak."""
        with self._lock:
            if not self._closed and self._pace.passes(usage, time.monotonic()) and self._session is not None:
                self._session.usage(usage.message())

    def usage_from(self, source: Optional[Callable[[], Optional[Usage]]]) -> None:
        """Asks ``source`` instead of the applier what to report; called in threads that pass a safe point."""
        self._usage_source = source

    def read_usage(self) -> Optional[Usage]:
        """What the source of usage, or the applier, says now; None when nothing is known."""
        return (self._usage_source or self._applier.usage)()

    def _poll_usage(self, now: float) -> None:
        if self._closed:
            return
        try:
            usage = self.read_usage()
        except Exception:  # a broken report must not end a training
            LOG.warning("ullage: usage could not be read; not reported any more", exc_info=True)
            self._usage_source = lambda: None
            return
        if usage is not None:
            self.report_usage(usage)
        else:
            self._pace.nothing(now)

    # ---- registration -------------------------------------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """Whether the worker knows this process at this moment."""
        return self._connected

    @property
    def device(self) -> Optional[Device]:
        """The device the worker counts this rank on; None until it was reached."""
        return self._device

    @property
    def socket_path(self) -> str:
        """Where the worker's socket is, or would be looked for first."""
        return self._path()

    @property
    def closed(self) -> bool:
        """Whether this rank is inert: closed, never registered, or a forked child's copy."""
        return self._closed

    def start(self, require: bool, timeout: float) -> None:
        """For ``connect``: registers; waits for the worker, at most ``timeout`` seconds, if there seems to be one.

        With ``require`` it keeps trying that long, then raises UllageError.
        """
        if self._session is None:
            return
        self._session.start()
        with self._lock:
            self._changed.wait_for(
                lambda: self._connected or self._error is not None or (self._attempted and not require), timeout)
            if self._connected or not require:
                return
            reason = self._reason or "no answer to hello"
            error = self._error or UllageError(f"no worker within {timeout:g} s: {reason}")
        self.close()
        raise error

    def close(self) -> None:
        """Says bye to the worker and becomes inert. May be called again."""
        self.leave(bye=True)

    def leave(self, bye: bool) -> Optional[InForce]:
        """Becomes inert, with or without a bye, and returns what stays in force in this process.

        Without a bye the worker keeps the grant for as long as the process lives: for an exec, which keeps the pid.
        """
        if bye:
            self._pace.last()
            self.watch.account.last(self._state.phase)
            self._poll_usage(time.monotonic())
        with self._lock:
            if self._closed:
                return self._state.in_force
            if self._state.turn_bytes > 0:
                self._state.enter(IDLE)
                self._settle()
            self._closed = True
            self._connected = False
            self._changed.notify_all()
        if self._session is not None:
            self._session.stop(1.0, bye)
        return self._state.in_force

    def flush(self, timeout: float) -> bool:
        """Waits at most ``timeout`` seconds until the last confirmation is on its way; returns whether it is."""
        if self._session is None or self._state.in_force is None:
            return True
        return self._session.flush(timeout)

    def forked(self) -> None:
        """In a forked child: becomes inert; the parent's sockets are let go of without a word to the worker."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._closed = True
        self._connected = False
        self._applier = AdvisoryApplier()
        self._usage_source = None
        if self._session is not None:
            self._session.abandon()

    def __enter__(self) -> "Rank":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[types.TracebackType]) -> None:
        self.close()

    # ---- applying -----------------------------------------------------------------------------------------------

    @property
    def _due(self) -> bool:
        """Whether the next safe point has anything to do."""
        return self._overhead_due or self._state.needs_settling

    @counted_as_limit
    def _settle(self, confirm: bool = False) -> None:
        """Brings the newest order and the phase's limit in force; the caller holds the lock at a safe point."""
        applier = self._applier
        try:
            held = applier.held_bytes()
            target = self._state.target_bytes
            if held is not None and target is not None and held > target:
                applier.release_cache()
                held = applier.held_bytes()
            for _ in range(_SETTLE_ATTEMPTS):
                plan = self._state.plan(held, fixed_bytes_of(applier))
                if plan is None:
                    return
                applier.apply(plan.phase_limit_bytes, plan.phase)
                after = applier.held_bytes()
                if after is None or held is None or after <= max(held, plan.phase_limit_bytes):
                    break
                held = after  # another thread took more between the reading and the limit
        except Exception:
            self._say("ullage: the limit could not be applied; the last one stays", exc_info=True)
            return
        self._held_bytes = held
        self._overhead_due = False
        if plan is not None and (self._state.commit(plan) or confirm):
            self._confirm()
            self._changed.notify_all()
        if self._state.end_turn(after):
            self.turns.ended()
        elif self._state.lingers:
            self.watch.lingering(after)

    def _confirm(self) -> None:
        now = self._state.in_force
        if now is None or self._closed or self._session is None:
            return
        self._session.confirm({"type": "confirm", "sequence": now.sequence, "limitBytes": now.limit_bytes,
                               "heldBytes": self._held_bytes, "enforcedBy": self._applier.enforced_by,
                               **restart_fields(self._applier, self._state.ordered_bytes)})

    def _await_order(self, sequence: int, deadline: float) -> None:
        """Waits for the order an answer spoke of, then applies it: the end of a waiting call is a safe point too."""
        with self._lock:
            self._changed.wait_for(lambda: self._state.newest_sequence >= sequence or self._closed,
                                   max(0.0, deadline - time.monotonic()))
            if self._due:
                self._settle()

    def _notify(self, limit: Optional[int]) -> None:
        with self._lock:
            if limit == self._notified or limit is None:
                return
            self._notified = limit
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback(limit)

    def _say(self, text: str, exc_info: bool = False) -> None:
        """Warns, once until something else is said."""
        if text != self._said:
            self._said = text
            LOG.warning(text, exc_info=exc_info)

    # ---- what the session tells (SessionOwner), from its thread -----------------------------------------------

    def hello(self) -> Dict[str, Any]:
        """The first line of a connection."""
        with self._lock:
            self._state.forget_pending()
            applier = self._applier
            if applier.thread_safe:
                try:
                    self._held_bytes = applier.held_bytes()
                except Exception:  # a broken allocator must not end the session
                    self._held_bytes = None
            now = self._state.in_force
            in_force = None if now is None else {"sequence": now.sequence, "limitBytes": now.limit_bytes}
            turn = self.turns.hello()
            enforces = [] if applier.enforced_by in ("advisory", "env") else [applier.enforced_by]
            return dict({"type": "hello", "version": VERSION}, **dict(
                self._hello, canEnforce=enforces, inForce=in_force, heldBytes=self._held_bytes,
                framework=framework_loaded(self._hello.get("framework")), **turn, **self.mail.hello()))

    def welcomed(self, message: Mapping[str, Any]) -> None:
        """The worker knows this process now."""
        device = device_of(message)
        local_rank = optional_integer(message, "localRank")
        with self._lock:
            self.watch.welcomed(message)
            self._device = device
            if local_rank is not None:
                # The worker's number is soft state of the worker's: from now on this process names its device itself.
                self._local_rank = local_rank
                self._hello["device"] = device.uuid
            self._connected = True
            self._changed.notify_all()
            if self._said is not None:
                self._said = None
                LOG.warning("ullage: the worker was reached (device %s)", device.uuid)

    def attached(self) -> None:
        """A new call connection: the worker hears what phase this process is in."""
        self._calls.tell(self._state.phase, self._step)
        with self._lock:
            self.turns.pay()

    def ordered(self, message: Mapping[str, Any]) -> None:
        """Takes an order in; applies it here when nothing in the process enforces it, else at the next safe point."""
        order = order_of(message)
        overhead = overhead_of(message)
        with self._lock:
            receipt = self._state.receive(order)
            if receipt is not Receipt.STALE and overhead is not None:
                self._overhead_bytes = overhead
                self._overhead_due |= takes_overhead(self._applier, overhead)
            if receipt is Receipt.STALE:
                LOG.debug("ullage: order %d is older than %d; ignored", order.sequence, self._state.newest_sequence)
            elif self._due and self._may_settle_here():
                self._settle(confirm=receipt is Receipt.REPEATED)
            elif receipt is Receipt.REPEATED and not self._state.pending:
                self._confirm()
            self._changed.notify_all()

    def release_asked(self) -> None:
        """The worker asks for the cache."""
        self.watch.want_release()

    def offered(self, message: Mapping[str, Any]) -> None:
        """Takes in what this rank takes turns at."""
        with self._lock:
            self.turns.offered(message)

    def ticked(self) -> None:
        """Applies what waits when the training passes no safe point, if the allocator allows that from here."""
        if (self._state.pending or self._overhead_due) and not self._closed:
            with self._lock:
                if (self._state.pending or self._overhead_due) and self._may_settle_here():
                    self._settle()

    def lost(self, reason: str) -> None:
        """Warns, once until the worker is reached again."""
        with self._lock:
            self._attempted = True
            self._reason = reason
            was_connected, self._connected = self._connected, False
            if not self._closed and (was_connected or self._said is None):
                limit = self._state.limit_bytes
                stays = "no limit was granted" if limit is None else f"the limit stays at {limit} bytes"
                self._say(f"ullage: worker not reached ({reason}); training goes on, {stays}; trying again")
            self._changed.notify_all()

    def refused(self, error: UllageError) -> None:
        """The worker will not have this process: says so once, and gives up."""
        with self._lock:
            self._error = error
            self._connected = False
            self._closed = True
            self._say(f"ullage: {error}; training goes on without")
            self._changed.notify_all()

    def _may_settle_here(self) -> bool:
        applier = self._applier
        if applier.thread_safe and (applier.enforced_by == "advisory" or fixed_bytes_of(applier) is not None):
            return True
        return applier.thread_safe and time.monotonic() - self._safe_at >= QUIET_SECONDS
