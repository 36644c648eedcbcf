"""Trains a small model whose activations take 1 GiB a sample of a simulated device; ends some steps after an order.

``even_job.py run|ddp``: with steps of Ullage's, or with DistributedDataParallel's own averaging. One JSON line a rank.
"""

import datetime
import itertools
import json
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import RandomSampler

import ullage
import ullage.torch
from ullage.allocator import LimitedAllocator

GIB, SAMPLES, BATCH, AFTER, MOST_SECONDS = 1 << 30, 400, 80, 60, 150

mode = sys.argv[1]
torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=600))
me = dist.get_rank()
x = torch.randn(SAMPLES, 16, generator=torch.Generator().manual_seed(5)).double()
y = x.sum(1, keepdim=True)


def model_of():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()


def order():
    return RandomSampler(range(SAMPLES), generator=torch.Generator().manual_seed(9))


def unsplit(count):
    """The losses of one process that has the whole of each batch."""
    model, sampler, losses = model_of(), order(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    while len(losses) < count:
        indices = list(sampler)
        for start in range(0, SAMPLES, BATCH):
            part = indices[start:start + BATCH]
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x[part]), y[part])
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
    return losses[:count]


inner = model_of()
model = torch.nn.parallel.DistributedDataParallel(inner) if mode == "ddp" else inner
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
allocator = LimitedAllocator()
rank = ullage.connect(applier=allocator, require=True)
rank.wait_for_limit(30)
allocator.reserve(8 * GIB)
handle = ullage.torch.attach(model, optimizer, rank)
batches = handle.batches(order(), BATCH)
activations = 0


def drop():
    global activations
    allocator.release(activations)
    activations = 0


def loss_of(part):
    global activations
    drop()
    allocator.reserve(len(part[0]) * GIB)
    activations = len(part[0]) * GIB
    return torch.nn.functional.mse_loss(model(part[0]), part[1])


steps = handle.steps(batches=batches, before_step=drop)
losses, counts, refusals = [], [], 0
started, ordered_at = time.monotonic(), None
for indices in itertools.chain.from_iterable(batches for _ in itertools.count()):
    batch = (x[indices], y[indices])
    if mode == "run":
        loss = steps.run(loss_of, batch)
    else:
        with steps.watched(batch) as weight:
            optimizer.zero_grad()
            loss = loss_of(batch)
            (loss * weight).backward()
            drop()
            optimizer.step()
    whole = loss.detach() * len(indices)
    dist.all_reduce(whole)
    losses.append(float(whole) / BATCH)
    counts.append(len(indices))
    if steps.applied and ordered_at is None:
        ordered_at = len(losses)
    late = time.monotonic() - started > MOST_SECONDS
    done = torch.tensor([int(late or (ordered_at is not None and len(losses) >= ordered_at + AFTER))])
    dist.broadcast(done, 0)
    if int(done):
        break
    time.sleep(0.05)
apart = max(abs(one - two) for one, two in zip(losses, unsplit(len(losses))))
print(json.dumps({"me": me, "first": counts[0], "last": counts[-1], "changes": sum(
    1 for one, two in zip(counts, counts[1:]) if one != two), "applied": steps.applied, "apart": apart,
    "steps": len(losses), "firstLoss": losses[0], "lastLoss": losses[-1], "refusals": allocator.refusals}), flush=True)
