"""A training step that survives running out of memory: all ranks of the job make one move, or none does.

::

    handle = ullage.torch.attach(model, optimizer)
    steps = handle.steps(micro_batch=32)
    for batch in loader:
        loss = steps.run(lambda part: criterion(model(part["x"]), part["y"]), batch)

``run`` is the whole step: it cuts the batch, runs forward and backward passes, and **agrees with all ranks that each
of them got through, before anyone's gradients or parameters meet**. So no rank is ever inside a collective of the
step while another one is out of memory, and no parameter has changed: the step can be run again, with what the job's
one directive says. Gradients are averaged over the ranks, each sample weighs the same, whatever the cut.

What is not covered, and what happens then: docs/oom.md.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import torch
import torch.distributed as dist

from ullage.aborting import abort_groups, can_abort
from ullage.agreement import Agreement, GroupAgreement, LoneAgreement
from ullage.batches import cut, rows
from ullage.cleanup import State, drop_frames, give_back
from ullage.client import Rank
from ullage.errors import OutOfMemoryStop, RestartForMemory, StepAgain, StepFailed
from ullage.interrupt import Interrupter, goes_on
from ullage.mailbox import Directive
from ullage.oom import OutOfMemory, of_error
from ullage.oomreport import can_set_allocator, report, set_allocator
from ullage.shares import ShareBatches
from ullage.sharing import Sharing

LOG = logging.getLogger("ullage")
#: What a rank brings to the agreement: it got through, it ran out of memory, it failed otherwise.
THROUGH, RAN_OUT, FAILED = 0, 1, 2
_ROUNDS = 5


class Steps:
    """Runs training steps; made by ``Attachment.steps``. One thread's, the one that trains.

    ``level`` callbacks are called at most once in a process, on every rank at the same step.
    """

    def __init__(self, rank: Rank, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer],
                 options: "Options") -> None:
        _refuse_synced_buffers(model)
        self._rank = rank
        self._model = model
        self._optimizers = list(optimizers)
        self._options = options
        self._levels = options.levels()
        self._micro_batch = options.micro_batch
        self._applied = 0
        self._called: List[str] = []
        self._started = False
        self._error: Optional[BaseException] = None
        self._agreement: Agreement = _agreement()
        if options.batches is not None and options.batches.ranks != self._agreement.ranks:
            raise ValueError(f"batches are for a world of {options.batches.ranks} and there are"
                             f" {self._agreement.ranks}: make them after torch.distributed.init_process_group")
        self._sharing = Sharing(rank, options.batches, self._agreement)
        may_abort = options.rebuild is not None and can_abort()
        self._interrupter = Interrupter(options.interrupt_after, abort=abort_groups if may_abort else None)
        self._may_abort = may_abort
        rank.mail.on_directive(self._interrupter.ordered)

    @property
    def micro_batch(self) -> Optional[int]:
        """Most samples in a micro-batch now; None: the whole batch at once."""
        return self._micro_batch

    @property
    def applied(self) -> int:
        """The sequence of the newest directive this process follows; 0: none."""
        return self._applied

    def run(self, loss_of: Callable[[Any], torch.Tensor], batch: Any) -> torch.Tensor:
        """One step on this rank's ``batch``, again with each directive until it gets through; returns its mean loss.

        ``loss_of(part)`` returns the mean loss over the samples of a part of the batch, and does nothing that may not
        be done twice. ``batch``: a tensor, or tensors of equal length in a tuple, list or mapping; parts are alike.

        Raises OutOfMemoryStop when the job's last level is reached, RestartForMemory (a SystemExit of code 83) when
        the processes are to be started again, StepFailed where another rank failed, and this rank's own error as it
        is, where it failed or where no decision was to be had in time.
        """
        with self._interrupter.inside(restartable=False):
            self._resume()
            return self._run(loss_of, batch)

    def _run(self, loss_of: Callable[[Any], torch.Tensor], batch: Any) -> torch.Tensor:
        state = State.of(self._model)
        while True:
            base = self._used()
            count = _rows_or_none(batch)
            self._sharing.began(count, self._part(count), self._micro_batch, self._applied, self._parameters(), base)
            code, loss = self._attempt(loss_of, batch, base)
            worst, urgent, held = self._agree(code, count)
            if worst == THROUGH and loss is not None:
                break
            if worst == FAILED:
                raise self._own_error(StepFailed("another rank failed in this step"))
            self._drop_gradients()
            self._follow(self._applied + 1)
            state.restore(self._model)
        self._error = None
        self._finish()
        if urgent > self._applied:
            self._follow(urgent)
        elif held > self._applied:
            self._follow_order()
        return loss

    @contextlib.contextmanager
    def watched(self, batch: Any = None) -> Iterator[float]:
        """For a step that cannot be run again, because collectives are part of it (FSDP, tensor parallel, DDP's own).

        An out-of-memory error in it is reported, the job's directive is waited for, and the processes of all ranks
        end with code 83, to be started again by the launcher: those inside a collective by the client's own thread.
        The restarted ones take the directive up. Without a directive in time the error is raised as it is.

        With ``rebuild``, and a torch that can abort groups, the processes stay: groups are aborted, ``rebuild`` forms
        them anew, the directive is applied on all ranks, and this raises StepAgain.

        Gives what to multiply this rank's mean loss by, where someone else averages gradients over the ranks: its
        part of all samples, times the ranks; 1.0 where all have as many. For a job that shares its batch out, ``batch``
        is this rank's part; without ``batches`` it is not looked at.
        """
        if batch is None and self._options.batches is not None:
            raise ValueError("steps with batches need the batch: with steps.watched(batch) as weight")
        with self._interrupter.inside(restartable=True):
            self._take_up()
            weight = self._weight(batch)
            try:
                yield weight
            except Exception as error:
                self._raise_after_report(error)
                raise
        newest = self._rank.mail.newest
        if newest is not None and newest.sequence > self._applied and not newest.resumed and not newest.is_share_order:
            self._leave(newest, None)

    def _weight(self, batch: Any) -> float:
        if self._options.batches is not None:
            count = _rows_or_none(batch)
            self._sharing.began(count, count, None, self._applied, self._parameters(), self._used())
            self._sharing.counted(self._agreement.highest(self._sharing.counts(count)))
        return self._sharing.weight

    # ---- one attempt --------------------------------------------------------------------------------------------

    def _attempt(self, loss_of: Callable[[Any], torch.Tensor], batch: Any,
                 base: Optional[int]) -> Tuple[int, Optional[torch.Tensor]]:
        self._drop_gradients()
        try:
            return THROUGH, self._accumulate(loss_of, batch)
        except Exception as error:
            found = of_error(error)
            if found is None:
                self._error = error
                return FAILED, None
            self._report(found, batch, base, retry=True)
            self._error = drop_frames(error)
            return RAN_OUT, None

    def _accumulate(self, loss_of: Callable[[Any], torch.Tensor], batch: Any) -> torch.Tensor:
        count = rows(batch)
        total: Optional[torch.Tensor] = None
        for size, part in cut(batch, self._part(count)):
            self._rank.micro_batch(size)
            with self._alone():
                weighted = loss_of(part) * (size / count)
                weighted.backward()
            total = weighted.detach() if total is None else total + weighted.detach()
        if total is None:
            raise ValueError("the batch is empty")
        return total

    def _part(self, count: int) -> int:
        """Most samples at once of so many."""
        part = max(1, self._sharing.part(count))
        return part if self._micro_batch is None else min(part, self._micro_batch)

    def _alone(self) -> ContextManager[Any]:
        """Without DDP's own averaging: it would be a collective inside the step."""
        no_sync = getattr(self._model, "no_sync", None)
        return contextlib.nullcontext() if no_sync is None else no_sync()

    def _finish(self) -> None:
        """Averages the gradients and steps. From here on parameters change: what fails here cannot be run again."""
        try:
            self._agreement.average(self._parameters(), self._sharing.weight)
            if self._options.before_step is not None:
                self._options.before_step()
            for optimizer in self._optimizers:
                optimizer.step()
        except Exception as error:
            self._raise_after_report(error)
            raise

    def _raise_after_report(self, error: Exception) -> None:
        """Reports an error that no retry can follow; raises RestartForMemory once the job's directive says so."""
        found = of_error(error)
        if found is not None and not self._interrupter.aborted:
            self._report(found, None, None, retry=False)
        elif not isinstance(error, RuntimeError) and not self._interrupter.aborted:
            return
        # A collective that broke because a peer ended may be the peer's out-of-memory error.
        patience = self._options.decide_within if found is not None else 1.0
        directive = self._rank.mail.wait(self._applied, patience)
        while directive is not None and directive.is_share_order:
            # Ordered before anyone knew of this error: under its number the report counts.
            self._applied = directive.sequence
            if found is not None:
                self._report(found, None, None, retry=False)
            directive = self._rank.mail.wait(self._applied, patience)
        if directive is not None and (directive.restart or directive.level == "STOP"):
            self._leave(directive, error)

    def _leave(self, directive: Directive, error: Optional[Exception]) -> None:
        """Raises what ends this process; its parameters may not be those of the other ranks, so nothing is saved."""
        self._interrupter.applied(directive.sequence)
        if directive.level == "STOP":
            raise OutOfMemoryStop(directive.reason) from error
        if self._may_abort and goes_on(directive):
            self._reform(directive, error)
        raise RestartForMemory(directive.reason) from error

    def _reform(self, directive: Directive, error: Optional[Exception]) -> None:
        """Forms the job's groups anew with what the user registered, and applies the directive; raises StepAgain.

        The rank that ran out aborts its groups too: it is in no collective, but the others may wait for it in one.
        """
        if not self._interrupter.aborted and not abort_groups():
            return
        reason = directive.reason
        if error is not None:
            drop_frames(error)
        self._drop_gradients()
        give_back()
        try:
            if self._options.rebuild is not None:
                self._options.rebuild(directive.sequence)
        except Exception as failure:
            raise RestartForMemory(f"{reason}; the groups could not be formed anew: {failure}") from failure
        self._agreement = _agreement()
        self._follow(directive.sequence, reformed=True)
        raise StepAgain(reason)

    # ---- directives ---------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Once: all ranks take up the directive their job was given before they were started, if any knows it yet."""
        if not self._started:
            self._started = True
            self._take_up()

    def _take_up(self) -> None:
        """Follows what any rank was told and not all have done: a collective call."""
        newest = self._rank.mail.newest
        if newest is not None and newest.sequence > self._applied and newest.restart and not newest.resumed:
            self._leave(newest, None)
        urgent, least = self._agreement.highest(_held(newest))
        if urgent > self._applied:
            self._follow(urgent)
        elif -least > self._applied:
            self._follow_order()

    def _follow_order(self) -> None:
        """Follows the newest directive where all ranks hold the same and it only shares the batch out; else later."""
        newest = self._rank.mail.newest
        sequence, is_move = (0, 1) if newest is None else (newest.sequence, int(not newest.is_share_order))
        is_new = int(newest is not None and not newest.resumed)
        most, least, any_move, any_new = self._agreement.highest([sequence, -sequence, is_move, is_new])
        if newest is not None and most == -least and not any_move:
            self._apply(newest, resumed=not any_new, reformed=False)

    def _follow(self, sequence: int, reformed: bool = False) -> None:
        """Waits for a directive of at least ``sequence``, sees to it that all ranks have the same one, applies it.

        ``reformed``: the groups were formed anew, in the place of a restart of the processes.
        """
        for _ in range(_ROUNDS):
            directive = self._rank.mail.wait(sequence - 1, self._options.decide_within)
            held = 0 if directive is None else directive.sequence
            is_new = int(directive is not None and not directive.resumed)
            missing, most, least, any_new = self._agreement.highest([int(directive is None), held, -held, is_new])
            if missing or directive is None:
                raise self._own_error(StepFailed(
                    f"no decision of the coordinator within {self._options.decide_within:g} s"))
            if most == -least:
                self._apply(directive, resumed=not any_new, reformed=reformed)
                return
            sequence = most
        raise StepFailed("the ranks did not come to hold the same directive")

    def _apply(self, directive: Directive, resumed: bool, reformed: bool) -> None:
        self._rank.mail.drop("oom")
        self._applied = directive.sequence
        self._interrupter.applied(directive.sequence)
        LOG.warning("ullage: %s %d: %s", "resumed at directive" if resumed else "directive", directive.sequence,
                    directive.reason)
        self._sharing.follow(directive.shares)
        failure: Optional[Exception] = None
        try:
            self._do(directive, resumed)
        except Exception as error:
            failure = error
        self._drop_gradients()
        give_back()
        self._rank.mail.keep({"type": "directive-applied", "sequence": directive.sequence, "usedBytes": self._used(),
                              "directive": directive.line})
        if self._agreement.highest([int(failure is not None)])[0]:
            raise failure or StepFailed(f"another rank could not apply: {directive.reason}")
        ends = not goes_on(directive) or (directive.restart and not reformed)
        if not resumed and ends:
            self._end(directive)

    def _do(self, directive: Directive, resumed: bool) -> None:
        if directive.micro_batch is not None:
            now = self._micro_batch
            self._micro_batch = directive.micro_batch if now is None else min(now, directive.micro_batch)
        for level in directive.done if resumed else (directive.level,):
            self._call(level)
        self._rank.safe_point()

    def _call(self, level: str) -> None:
        action = self._levels.get(level)
        if action is not None and level not in self._called:
            self._called.append(level)
            action()

    def _end(self, directive: Directive) -> None:
        if self._options.checkpoint is not None:
            self._options.checkpoint()
        if directive.level == "STOP":
            raise OutOfMemoryStop(directive.reason)
        raise RestartForMemory(directive.reason)

    # ---- small parts --------------------------------------------------------------------------------------------

    def _agree(self, code: int, count: int) -> Tuple[int, int, int]:
        """The worst of what the ranks come with, the newest directive of any that is a move, the oldest newest one."""
        numbers = [code] + _held(self._rank.mail.newest) + self._sharing.counts(count)
        try:
            worst, urgent, least, *counts = self._agreement.highest(numbers)
        except RuntimeError as error:
            self._raise_after_report(error)
            raise self._own_error(StepFailed(f"the ranks could not agree: {error}")) from error
        self._sharing.counted(counts)
        return worst, urgent, -least

    def _report(self, found: OutOfMemory, batch: Any, base: Optional[int], retry: bool) -> None:
        count = None if batch is None else rows(batch)
        levels = [level for level in self._levels if level not in self._called]
        self._rank.mail.keep(report(
            self._rank, found, sequence=self._applied, base=base, used=self._used(),
            means={"microBatch": self._micro_batch if count is None else self._part(count), "batch": count,
                   "levels": levels, "retry": retry}))

    def _own_error(self, other: Exception) -> BaseException:
        error, self._error = self._error, None
        return other if error is None else error

    def _drop_gradients(self) -> None:
        for optimizer in self._optimizers:
            optimizer.zero_grad(set_to_none=True)

    def _parameters(self) -> List[torch.nn.Parameter]:
        return [parameter for parameter in self._model.parameters() if parameter.requires_grad]

    def _used(self) -> Optional[int]:
        """What torch has handed out now, or what the rank's source of usage says; None when neither knows."""
        usage = self._rank.read_usage()
        return None if usage is None else usage.allocated_bytes


@dataclasses.dataclass
class Options:
    """What ``Attachment.steps`` takes; see there."""

    micro_batch: Optional[int] = None
    simplify: Optional[Callable[[], None]] = None
    cpu: Optional[Callable[[], None]] = None
    checkpoint: Optional[Callable[[], None]] = None
    before_step: Optional[Callable[[], None]] = None
    rebuild: Optional[Callable[[int], None]] = None
    decide_within: float = 30.0
    interrupt_after: float = 60.0
    batches: Optional[ShareBatches] = None

    def __post_init__(self) -> None:
        if self.micro_batch is not None and self.micro_batch < 1:
            raise ValueError(f"micro_batch must be 1 or more: {self.micro_batch}")

    def levels(self) -> Dict[str, Callable[[], None]]:
        """What may be ordered beside the micro-batch, by the protocol's names."""
        known: Mapping[str, Optional[Callable[[], None]]] = {
            "ALLOCATOR": set_allocator if can_set_allocator() else None, "SIMPLIFY": self.simplify, "CPU": self.cpu}
        return {level: action for level, action in known.items() if action is not None}


def _agreement() -> Agreement:
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        return GroupAgreement()
    return LoneAgreement()


def _rows_or_none(batch: Any) -> int:
    """The samples of a batch; 0 of one that is none, which the attempt finds out, and then all ranks know."""
    try:
        return rows(batch)
    except (TypeError, ValueError):
        return 0


def _held(newest: Optional[Directive]) -> List[int]:
    """For the agreement: the newest directive where it is a move, and of any kind, so that the oldest of all wins."""
    if newest is None:
        return [0, 0]
    return [0 if newest.is_share_order else newest.sequence, -newest.sequence]


def _refuse_synced_buffers(model: torch.nn.Module) -> None:
    """DDP sends buffers around in the forward pass; a rank that ran out would leave the others in there."""
    if getattr(model, "broadcast_buffers", False) and any(True for _ in model.buffers()):
        raise ValueError("this DistributedDataParallel sends its buffers around in each forward pass, so a rank that"
                         " runs out of memory leaves the others waiting; make it with broadcast_buffers=False")


__all__ = ["Options", "Steps"]
