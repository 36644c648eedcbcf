"""One of two ranks over gloo, for tests.test_two_ranks: ``two_ranks.py equal``, ``collective`` or ``rebuild``."""

import datetime
import json
import os
import sys
import threading

import torch
import torch.distributed as dist

import ullage
import ullage.torch


def model_of(wrap):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    return torch.nn.parallel.DistributedDataParallel(layers) if wrap else layers


def train(me, wrap, guarded):
    """Ten steps; returns the losses and the weights at the end."""
    model = model_of(wrap)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    steps = ullage.torch.attach(model, optimizer).steps(micro_batch=3) if guarded else None
    losses = []
    for step in range(10):
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(100 * step + me)).double()
        batch = (x, x.sum(1, keepdim=True))

        def loss_of(part):
            return torch.nn.functional.mse_loss(model(part[0]), part[1])

        if steps is not None:
            loss = steps.run(loss_of, batch)
        else:
            optimizer.zero_grad()
            loss = loss_of(batch)
            loss.backward()
            optimizer.step()
        losses.append(float(loss))
    return losses + [float(value) for parameter in model.parameters() for value in parameter.flatten()]


def equal(me):
    """DDP as it is, and the guarded step with DDP and without it."""
    print(json.dumps([train(me, True, False), train(me, True, True), train(me, False, True)]), flush=True)


def collective(me):
    """Rank 1 runs out of memory while rank 0 waits for it in an all-reduce."""
    model = model_of(False)
    steps = ullage.torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1)).steps()
    with steps.watched():
        if me == 1:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        dist.all_reduce(torch.ones(1))


def rebuild(me):
    """As ``collective``, with groups that can be aborted: both stay, form their group anew and go on.

    This torch has no abort. What stands in for it: a rank that is in no collective destroys its group, which breaks the
    connections that the other one waits on; called beside a collective it does nothing, for that would wait for it.
    """
    def abort(group=None):
        if threading.current_thread() is threading.main_thread():
            dist.destroy_process_group()

    dist.distributed_c10d._abort_process_group = abort
    model = model_of(False)
    attempts = []

    def form_anew(number):
        attempts.append(number)
        store = dist.FileStore(os.path.join(os.environ["FOLDER"], f"again-{number}"), 2)
        dist.init_process_group("gloo", store=store, rank=me, world_size=2)

    steps = ullage.torch.attach(model, torch.optim.SGD(model.parameters(), lr=0.1)).steps(rebuild=form_anew)
    again, total = 0, torch.zeros(1)
    while not attempts or total.item() != 2:
        try:
            with steps.watched():
                if me == 1 and not attempts:
                    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
                total = torch.ones(1)
                dist.all_reduce(total)
        except ullage.StepAgain:
            again += 1
    print(json.dumps([again, attempts, steps.micro_batch, steps.applied]), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=600))
    ullage.connect()
    {"equal": equal, "collective": collective, "rebuild": rebuild}[sys.argv[1]](dist.get_rank())
