"""Keras: a callback that gives TensorFlow its memory, reports what a training does, and plans a restart where needed.

::

    import ullage.keras
    memory = ullage.keras.UllageCallback(warmup_epochs=2, ratio=0.5, checkpoint="backup", restart_after_warmup=True)
    model = ...                                # only now: TensorFlow must not have started before the callback
    model.fit(data, epochs=10, callbacks=[memory])
    memory.exit_for_restart()                  # exit code 85 if the warm-up is over and a limit wants a new process

TensorFlow cannot go from growth to a limit within one process. So after the warm-up the callback reports *needs
restart*; with ``restart_after_warmup`` it also ends the training, and the next process starts with the limit and goes
on from the checkpoint.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Mapping, Optional

import keras
import tensorflow as tf

from ullage.client import Rank
from ullage.fixed import DEFAULT_OVERHEAD_BYTES, EXIT_RESTART, LOG, Ratio, Unlimited, exact_ratio, the_rank
from ullage.phases import CHECKPOINT, EVALUATION, FORWARD, IDLE, INIT
from ullage.tensorflow import Memory, configure

#: Beside Keras's own backup: how many epochs are done, to be known before TensorFlow may be touched.
PROGRESS_FILE = "ullage.json"
WARMUP_OVER = "the warm-up is over; TensorFlow cannot go from growth to a limit while it runs"


class UllageCallback(keras.callbacks.Callback):
    """Memory before the runtime starts; phases, steps and usage while it trains.

    A training step is reported as FORWARD as a whole: Keras does not tell the backward pass from it. With
    ``warmup_epochs`` the first epochs run with memory growth and no limit, so the rank is shown as advisory; from the
    process that starts after them on, ``ratio`` of the rank's limit is TensorFlow's, which is shown as ``env``.

    ``checkpoint``: a folder, seen by all ranks; written by rank 0 after each epoch through Keras's BackupAndRestore
    and deleted when the training has ended, restored by every rank. ``memory`` says what was configured,
    ``needs_restart`` whether the training stopped in order to be started again.
    """

    def __init__(self, rank: Optional[Rank] = None, *, warmup_epochs: int = 0, ratio: Ratio = 1,
                 checkpoint: Optional[str] = None, restart_after_warmup: bool = False,
                 overhead_bytes: int = DEFAULT_OVERHEAD_BYTES, timeout: float = 30.0) -> None:
        """Configures TensorFlow at once; see ``ullage.tensorflow.configure`` for the other parameters and errors.

        Raises ValueError with every bad argument, and for a Keras that runs on another backend.
        """
        super().__init__()
        problems = _problems(warmup_epochs, ratio, checkpoint, restart_after_warmup)
        if problems:
            raise ValueError("; ".join(problems))
        self.needs_restart = False
        self.epochs_done = epochs_done(checkpoint)
        self._warmup_epochs = warmup_epochs
        self._stops_after_warmup = restart_after_warmup
        self._checkpoint = checkpoint
        self._rank = the_rank(rank, f"tensorflow {tf.__version__}")
        self._is_first = self._rank.info is None or self._rank.info.rank == 0
        self._steps_of_epoch = 0
        self._outer = IDLE
        self._is_warm = self.epochs_done < warmup_epochs
        self.memory: Memory = configure(self._rank, limit=not self._is_warm, growth=self._is_warm, ratio=ratio,
                                        overhead_bytes=overhead_bytes, timeout=timeout)
        self._backup = None
        if checkpoint is not None:
            self._backup = keras.callbacks.BackupAndRestore(checkpoint, delete_checkpoint=False)

    def exit_for_restart(self) -> None:
        """Ends the process with exit code 85 when ``needs_restart``; else returns."""
        if self.needs_restart:
            self._rank.close()
            sys.exit(EXIT_RESTART)

    # ---- what Keras calls ---------------------------------------------------------------------------------------

    def set_model(self, model: keras.Model) -> None:
        """The model that is trained; its backup is of the same one."""
        super().set_model(model)
        if self._backup is not None:
            self._backup.set_model(model)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """What ``fit`` was called with."""
        super().set_params(params)
        if self._backup is not None:
            self._backup.set_params(params)

    def on_train_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """Restores the checkpoint, if there is one; ``fit`` goes on from its epoch."""
        self._rank.enter_phase(INIT)
        if self._backup is not None:
            self._backup.on_train_begin(logs)

    def on_epoch_begin(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        """Batches are counted anew in each epoch."""
        self._steps_of_epoch = 0

    def on_train_batch_begin(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        """A training step: FORWARD until it is done."""
        self._rank.enter_phase(FORWARD)

    def on_train_batch_end(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        """Counts the steps done: several at once with ``steps_per_execution``, of which the last may lack some."""
        steps = (self.params or {}).get("steps")
        done = batch + 1 if steps is None else min(batch + 1, steps)
        for _ in range(done - self._steps_of_epoch):
            self._rank.step_done()
        self._steps_of_epoch = done
        self._rank.enter_phase(IDLE)

    def on_test_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """An evaluation, within ``fit`` or alone."""
        self._outer = self._rank.current_phase
        self._rank.enter_phase(EVALUATION)

    def on_test_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """Back to what was before."""
        self._rank.enter_phase(self._outer)

    def on_predict_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """A prediction needs the memory of an evaluation."""
        self.on_test_begin(logs)

    def on_predict_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """Back to what was before."""
        self.on_test_end(logs)

    def on_epoch_end(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        """Saves, and looks whether the warm-up is over."""
        self.epochs_done = epoch + 1
        if self._backup is not None and self._is_first:
            with self._rank.phase(CHECKPOINT):
                self._backup.on_epoch_end(epoch, logs)
                self._write_progress()
        self._rank.enter_phase(IDLE)
        if self._is_warm and self.memory.mode == "growth" and self.epochs_done >= self._warmup_epochs:
            self._is_warm = False
            self._end_warmup()

    def on_train_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        """Deletes the checkpoint of a training that is done; one that is to be restarted needs it."""
        if self._backup is not None and self._is_first:
            self._backup.delete_checkpoint = not self.needs_restart
            self._backup.on_train_end(logs)
        self._rank.enter_phase(IDLE)

    # -------------------------------------------------------------------------------------------------------------

    def _end_warmup(self) -> None:
        applier = self._rank.applier
        if isinstance(applier, Unlimited):
            applier.needs_restart(WARMUP_OVER)
            self._rank.use(applier)
        LOG.warning("ullage: %s: needs restart; epochs done: %d", WARMUP_OVER, self.epochs_done)
        if self._stops_after_warmup and not self._is_last_epoch():
            self.needs_restart = True
            self.model.stop_training = True

    def _is_last_epoch(self) -> bool:
        epochs = (self.params or {}).get("epochs")
        return epochs is not None and self.epochs_done >= epochs

    def _write_progress(self) -> None:
        path = os.path.join(self._checkpoint or "", PROGRESS_FILE)
        with open(path + ".next", "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "epochsDone": self.epochs_done}, file)
        os.replace(path + ".next", path)


def epochs_done(checkpoint: Optional[str]) -> int:
    """The epochs that a checkpoint holds, 0 without one. Raises ValueError for a damaged file: path and content."""
    if checkpoint is None:
        return 0
    path = os.path.join(checkpoint, PROGRESS_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return 0
    try:
        done = json.loads(text)["epochsDone"]
    except (ValueError, TypeError, KeyError):
        done = None
    if isinstance(done, bool) or not isinstance(done, int) or done < 0:
        raise ValueError(f"{path}: must say epochsDone as a whole number of 0 or more, is {text[:80]!r}")
    return done


def _problems(warmup_epochs: Any, ratio: Ratio, checkpoint: Optional[str], restart: bool) -> List[str]:
    problems = []
    backend = keras.backend.backend()
    if backend != "tensorflow":
        problems.append(f"Keras runs on {backend}: this callback configures TensorFlow; use ullage.{backend} there")
    if isinstance(warmup_epochs, bool) or not isinstance(warmup_epochs, int) or warmup_epochs < 0:
        problems.append(f"warmup_epochs={warmup_epochs!r}: must be a whole number of 0 or more")
    try:
        exact_ratio(ratio)
    except ValueError as error:
        problems.append(str(error))
    if restart and checkpoint is None:
        problems.append("restart_after_warmup=True: needs a checkpoint to go on from")
    if restart and warmup_epochs == 0:
        problems.append("restart_after_warmup=True: needs warmup_epochs of 1 or more")
    return problems


__all__ = ["PROGRESS_FILE", "UllageCallback", "epochs_done"]
