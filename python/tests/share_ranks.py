"""One of some ranks over gloo that share a batch unevenly, for tests.test_share_ranks.

``share_ranks.py run|ddp SECONDS``: how long to wait for a directive after the third step.
"""

import collections
import datetime
import itertools
import json
import sys

import torch
import torch.distributed as dist
from torch.utils.data import RandomSampler

import ullage
import ullage.torch

SAMPLES, BATCH, PASSES = 60, 12, 4


def data():
    x = torch.randn(SAMPLES, 4, generator=torch.Generator().manual_seed(5)).double()
    return x, x.sum(1, keepdim=True)


def model_of():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()


def order():
    return RandomSampler(range(SAMPLES), generator=torch.Generator().manual_seed(9))


def ahead(batches, count):
    """As a loader does that draws so many batches before they are used."""
    drawn, source = collections.deque(), iter(batches)
    for batch in source:
        drawn.append(batch)
        if len(drawn) > count:
            yield drawn.popleft()
    yield from drawn


def unsplit():
    """The losses and weights of one process that has the whole of each batch."""
    model, (x, y) = model_of(), data()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses, sampler = [], order()
    for _ in range(PASSES):
        indices = list(sampler)
        for start in range(0, SAMPLES, BATCH):
            part = indices[start:start + BATCH]
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x[part]), y[part])
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
    return losses, [float(value) for parameter in model.parameters() for value in parameter.flatten()]


def main(mode, patience):
    me, ranks = dist.get_rank(), dist.get_world_size()
    inner, (x, y) = model_of(), data()
    model = torch.nn.parallel.DistributedDataParallel(inner) if mode == "ddp" else inner
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    rank = ullage.connect()
    handle = ullage.torch.attach(model, optimizer, rank, usage=lambda: 1000)
    batches = handle.batches(order(), BATCH)
    steps = handle.steps(batches=batches, micro_batch=5 if mode == "run" else None)
    losses, counts, parts = [], [], []

    def loss_of(part):
        parts.append(len(part[0]))
        return torch.nn.functional.mse_loss(model(part[0]), part[1])

    for indices in itertools.chain.from_iterable(ahead(batches, me) for _ in range(PASSES)):
        batch = (x[indices], y[indices])
        if mode == "run":
            loss = steps.run(loss_of, batch)
        else:
            with steps.watched(batch) as weight:
                optimizer.zero_grad()
                loss = loss_of(batch)
                (loss * weight).backward()
                optimizer.step()
        whole = loss.detach() * len(indices)
        dist.all_reduce(whole)
        losses.append(float(whole) / BATCH)
        counts.append(len(indices))
        if len(losses) == 3:
            rank.mail.wait(0, patience)
    weights = [float(value) for one in model.parameters() for value in one.flatten()]
    print(json.dumps({"losses": losses, "counts": counts, "parts": parts, "applied": steps.applied,
                      "weights": weights}), flush=True)
    rank.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=600))
    main(sys.argv[1], float(sys.argv[2]))
