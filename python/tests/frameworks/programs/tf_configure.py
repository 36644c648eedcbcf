"""Runs ``ullage.tensorflow.configure`` as often as it is told to, each time in a fresh fork: one import for all.

A line in (JSON) says what is to be done; the fork says what came of it, and its parent {"ended": code}.
"""

import json
import os
import sys
import traceback

import tensorflow as tf

from common import add_gpus, gpu_options, read_line, say, wait

import ullage
import ullage.tensorflow


def run(wish):
    os.environ.update(wish.get("env", {}))
    rank = ullage.connect(wish["socket"], job=wish["job"], framework=f"tensorflow {tf.__version__}", timeout=5.0)
    add_gpus(wish["gpus"])
    if wish.get("user_growth"):
        for gpu in tf.config.get_visible_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    if "first" in wish:
        say(first=ullage.tensorflow.configure(rank, **wish["first"]).mode)
    if wish.get("after_first_op"):
        tf.add(1, 1).numpy()
    if wish.get("wait"):
        wait()
    memory = ullage.tensorflow.configure(rank, timeout=2.0, **wish["configure"])
    tf.add(1, 1).numpy()
    say(mode=memory.mode, gpus=list(memory.gpus), mib=memory.memory_limit_mib, enforced=memory.enforced,
        notes=list(memory.notes), options=gpu_options(), usage=str(ullage.tensorflow.gpu_usage()))
    wait()
    rank.safe_point()
    say(limit=rank.limit_bytes, in_force=rank.in_force.limit_bytes if rank.in_force else None)
    rank.close()


def in_fork(wish):
    """The fork's whole life; ends it with 0, or with 1 and what went wrong."""
    code = 0
    try:
        run(wish)
    except ullage.UllageError as error:
        say(error=str(error))
        code = 1
    except BaseException:
        traceback.print_exc()
        code = 2
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


for line in iter(read_line, ""):
    if line.strip():
        child = os.fork()
        if child == 0:
            in_fork(json.loads(line))
        say(ended=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
