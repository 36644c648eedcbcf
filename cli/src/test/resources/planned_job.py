"""A transformer in two pipeline stages of three layers and one, trained over gloo on the CPU.

What a device would hold is counted from torch's own tensors: parameters, gradients, optimizer state, and each tensor
that autograd saves for the backward pass. ``python3 planned_job.py SAMPLES-FILE END-FILE``: the samples of a
micro-batch are read from the first file before each step, and the second one ends the training.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

import ullage
import ullage.torch

VOCABULARY, WIDTH, HEADS, INNER, TOKENS = 16384, 256, 4, 1024, 64
LAYERS = (3, 1)


class Stage(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH) if number == 0 else None
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout=0.0, batch_first=True)
            for _ in range(LAYERS[number]))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False) if number == 1 else None

    def forward(self, x):
        x = x if self.embedding is None else self.embedding(x)
        for layer in self.layers:
            x = layer(x)
        return x if self.head is None else self.head(x)


class Counted:
    """Saved tensors, each storage once, until the backward pass is over."""

    def __init__(self, allocator, model):
        self.allocator = allocator
        self.known = {parameter.data_ptr() for parameter in model.parameters()}
        self.seen = set()
        self.saved = 0

    def pack(self, tensor):
        # A parameter, or a view of it, is counted as such; a storage that several operations save is there once.
        address = tensor.storage().data_ptr()
        if address not in self.known and address not in self.seen:
            self.seen.add(address)
            nbytes = tensor.storage().nbytes()
            self.allocator.reserve(nbytes)
            self.saved += nbytes
        return tensor

    def drop(self):
        self.allocator.release(self.saved)
        saved, self.saved, self.seen = self.saved, 0, set()
        return saved


def main():
    samples_file, end_file = sys.argv[1:]
    allocator = ullage.LimitedAllocator()
    rank = ullage.connect(applier=allocator, require=True)
    rank.wait_for_limit(60)
    dist.init_process_group("gloo")
    me = dist.get_rank()
    torch.manual_seed(me)
    model = Stage(me)
    allocator.reserve(ullage.torch.tensor_bytes(model))
    optimizer = torch.optim.Adam(model.parameters())
    ullage.torch.attach(model, optimizer, rank)
    counted, held, saved, losses = Counted(allocator, model), ullage.torch.tensor_bytes(model), {}, []
    stop = torch.zeros(1)
    while not stop:
        with open(samples_file) as file:
            samples = int(file.read())
        size = torch.tensor([float(samples)])
        dist.broadcast(size, 0)
        samples = int(size)
        rank.micro_batch(samples)
        tokens = torch.randint(VOCABULARY, (samples, TOKENS), generator=torch.Generator().manual_seed(rank.step))
        optimizer.zero_grad(set_to_none=False)
        with torch.autograd.graph.saved_tensors_hooks(counted.pack, lambda tensor: tensor):
            if me == 0:
                output = model(tokens)
                dist.send(output.detach(), 1)
                gradient = torch.empty_like(output)
                dist.recv(gradient, 1)
                output.backward(gradient)
            else:
                given = torch.empty(samples, TOKENS, WIDTH)
                dist.recv(given, 0)
                given.requires_grad_()
                loss = torch.nn.functional.cross_entropy(model(given).flatten(0, 1), tokens.flatten())
                loss.backward()
                losses.append(float(loss))
                dist.send(given.grad, 0)
        saved[samples] = counted.drop()
        held = account(allocator, held, ullage.torch.tensor_bytes(model, optimizer))
        optimizer.step()
        held = account(allocator, held, ullage.torch.tensor_bytes(model, optimizer))
        rank.enter_phase("idle")
        stop += float(os.path.exists(end_file))
        dist.all_reduce(stop)
        time.sleep(0.02)
    print(json.dumps({"me": me, "state": held, "saved": saved, "refusals": allocator.refusals, "steps": rank.step,
                      "losses": losses[:1] + losses[-1:]}), flush=True)
    rank.close()


def account(allocator, before, now):
    allocator.reserve(now - before)
    return now


if __name__ == "__main__":
    main()
