"""Trains a small model; one rank runs out of memory in its backward pass at given steps. One JSON line a rank.

``oom_job.py MICRO_BATCH RANK STEP[,STEP...]``; a rank of -1 never runs out.
"""

import datetime
import json
import sys
import time

import torch
import torch.distributed as dist

import ullage
import ullage.torch

TEXT = ("CUDA out of memory. Tried to allocate 258.00 MiB (GPU 0; 15.90 GiB total capacity; 14.88 GiB already"
        " allocated; 193.56 MiB free; 137.33 MiB cached)")
STEPS, SAMPLES = 24, 32

micro_batch, victim, failing = int(sys.argv[1]), int(sys.argv[2]), [int(step) for step in sys.argv[3].split(",")]
torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=600))
me = dist.get_rank()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
rank = ullage.connect(require=True)
rank.wait_for_limit(30)
handle = ullage.torch.attach(model, optimizer, rank, usage=lambda: ullage.torch.tensor_bytes(model, optimizer))
steps = handle.steps(micro_batch=micro_batch)
raised, held = [], []
rank.mail.on_directive(lambda directive: held.append(time.time()))
failed = set()


def fail(gradient):
    failed.add(rank.step)
    raised.append(time.time())
    raise torch.cuda.OutOfMemoryError(TEXT)


def loss_of(part):
    output = model(part[0])
    if me == victim and rank.step in failing and rank.step not in failed:
        output.register_hook(fail)
    return torch.nn.functional.mse_loss(output, part[1])


losses, sizes = [], []
for step in range(STEPS):
    generator = torch.Generator().manual_seed(1000 * step + me)
    x = torch.randn(SAMPLES, 16, generator=generator).double()
    loss = steps.run(loss_of, (x, x.sum(1, keepdim=True)))
    dist.all_reduce(loss)
    losses.append(float(loss) / dist.get_world_size())
    sizes.append(steps.micro_batch)
weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
print(json.dumps({"me": me, "losses": losses, "sizes": sizes, "applied": steps.applied, "raised": raised, "held": held,
                  "norm": float(weights.norm())}), flush=True)
time.sleep(float(sys.argv[4]) if len(sys.argv) > 4 else 0)
