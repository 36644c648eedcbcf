"""A training with Keras under the callback: CHECKPOINT-FOLDER or -, GPUS, then the callback's arguments as JSON."""

import json
import sys

import keras
import numpy

from common import add_gpus, gpu_options, say, wait

import ullage.keras

folder, gpus, arguments = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
add_gpus(gpus)
checkpoint = None if folder == "-" else folder
memory = ullage.keras.UllageCallback(checkpoint=checkpoint, **arguments)

random = numpy.random.default_rng(5)
inputs = random.normal(size=(256, 8)).astype("float32")
targets = inputs @ random.normal(size=(8, 1)).astype("float32")
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", steps_per_execution=4)


def sums():
    """The weights and the optimizer's state, as numbers that any change changes."""
    state = [float(numpy.abs(variable.numpy()).sum()) for variable in model.optimizer.variables]
    return {"weights": [float(numpy.abs(weight).sum()) for weight in model.get_weights()], "optimizer": state}


class Seen(keras.callbacks.Callback):
    """What a training sees: with which weights it began, which epochs it ran, and its losses."""

    def __init__(self):
        super().__init__()
        self.began, self.epochs, self.losses, self.validation = None, [], [], []

    def on_epoch_begin(self, epoch, logs=None):
        if self.began is None:
            self.began = sums()
        self.epochs.append(epoch)

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(logs["loss"])
        self.validation.append(logs["val_loss"])
        say(epoch=epoch)


seen = Seen()
model.fit(inputs, targets, batch_size=32, epochs=6, verbose=0, shuffle=False, validation_split=0.25,
          callbacks=[memory, seen])
say(mode=memory.memory.mode, mib=memory.memory.memory_limit_mib, notes=list(memory.memory.notes),
    enforced=memory.memory.enforced, options=gpu_options(), epochs=seen.epochs, losses=seen.losses, began=seen.began,
    ended=sums(), needs_restart=memory.needs_restart, epochs_done=memory.epochs_done)
wait()
memory.exit_for_restart()
