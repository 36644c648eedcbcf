"""What the programs share: JSON lines out, a line in to go on, GPUs for TensorFlow that do not exist."""

import json
import os
import sys


def say(**what):
    print(json.dumps(what), flush=True)


def read_line():
    """A line from standard input, read without a buffer: what a fork does not read is its parent's to read."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(0, 1)
        if not more:
            break
        line += more
    return line.decode("utf-8")


def wait():
    """Until the test says so, or is gone."""
    if not read_line():
        sys.exit(3)


def add_gpus(count):
    """Puts GPUs into TensorFlow's list of devices before its runtime starts.

    All checks of ``tf.config``, and the configuration that goes to the runtime, are then TensorFlow's own. The runtime
    of a CPU build leaves GPU options aside, so the training itself runs on the CPU.
    """
    from tensorflow.python.eager import context

    eager = context.context()
    eager._initialize_physical_devices()
    for index in range(count):
        gpu = context.PhysicalDevice(f"/physical_device:GPU:{index}", "GPU")
        eager._physical_devices.append(gpu)
        eager._visible_device_list.append(gpu)
        eager._memory_growth_map[gpu] = None


def gpu_options():
    """What TensorFlow's runtime is, or will be, started with."""
    from tensorflow.python.eager import context

    options = context.context().config.gpu_options
    return {"growth": options.allow_growth,
            "limits": [list(device.memory_limit_mb) for device in options.experimental.virtual_devices]}
