"""Trains the small LSTM behind `predictor = lstm` and writes it as an ONNX file.

    nice /usr/bin/python3 bench/predictor/train.py --series FILE.csv.gz --out FILE.onnx [--epochs N] [--only busy]

Needs torch and numpy (Debian: python3-torch). The same series, seed and torch version give the same weights. It learns
from every other pod in the order of their names, a fifth of which only say when to stop; `ullage predict` checks it on
the others. `--only busy` leaves out the pods whose value changes in less than 38 % of the steps: what such a network
does with the calm ones shows how well it transfers.

One step of the network: the features below, in units of 8 GiB, and the state of its cell go in; the expected change and
the quantiles 0.90 and 0.98 of the change come out, in that unit.
"""
import argparse
import collections
import copy
import csv
import gzip
import io
import math
import sys
import time

import numpy
import torch

GIB = 2.0**30
FEATURES = 7
HIDDEN = 32
WINDOW = 60
UNIT = 8.0
SEQUENCE, STRIDE, BURN_IN = 160, 96, 24
QUANTILES = (0.90, 0.98)
BUSY = 0.38


def read_series(path):
    """Values in GiB by pod, in the order of their times; pods in the order of their names."""
    pods = collections.defaultdict(list)
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            pods[row["container_ip"]].append((float(row["timestamp_anon"]), math.floor(float(row["value"]))))
    return [numpy.array([value / GIB for _, value in sorted(pods[name])]) for name in sorted(pods)]


def features(values):
    """(steps, FEATURES). `LstmFeatures.java` computes the same."""
    rows, age, previous = [], 0, values[0]
    for i, value in enumerate(values):
        recent = values[max(0, i - WINDOW + 1) : i + 1]
        changed = value != previous
        age = 0 if changed or i == 0 else age + 1
        rows.append(
            (
                value / UNIT,
                (value - previous) / UNIT,
                1.0 if changed else 0.0,
                math.log1p(age) / 4,
                recent[-10:].max() / UNIT,
                recent.max() / UNIT,
                recent.mean() / UNIT,
            )
        )
        previous = value
    return numpy.array(rows, dtype=numpy.float32)


class Network(torch.nn.Module):
    """An LSTM and a linear head; the quantiles are in order by construction."""

    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTM(FEATURES, HIDDEN, batch_first=True)
        self.head = torch.nn.Linear(HIDDEN, 1 + len(QUANTILES))

    def forward(self, inputs, state=None):
        hidden, state = self.cell(inputs, state)
        raw = self.head(hidden)
        low = raw[..., 1:2]
        high = low + torch.nn.functional.softplus(raw[..., 2:3])
        return torch.cat([raw[..., 0:1], low, high], -1), state


class Step(torch.nn.Module):
    """One step of a trained network: what the ONNX file holds."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, inputs, hidden, cell):
        output, (hidden, cell) = self.network(inputs, (hidden, cell))
        return output, hidden, cell


def windows(series):
    inputs, changes = [], []
    for values in series:
        rows = features(values)
        change = (values[1:] - values[:-1]).astype(numpy.float32)
        for start in range(0, len(change) - SEQUENCE + 1, STRIDE):
            inputs.append(rows[start : start + SEQUENCE])
            changes.append(change[start : start + SEQUENCE])
    return [torch.from_numpy(numpy.stack(part)) for part in (inputs, changes)]


def loss(output, change):
    """Squared error of the expected change, and the pinball losses of its quantiles, in GiB."""
    output = output[:, BURN_IN:] * UNIT
    change = change[:, BURN_IN:]
    total = ((output[..., 0] - change) ** 2).mean() / 8
    for i, quantile in enumerate(QUANTILES):
        error = change - output[..., 1 + i]
        total = total + 4 * torch.maximum(quantile * error, (quantile - 1) * error).mean()
    return total


def train(learned, stopping, epochs):
    """The network as it was when it did best on the pods that say when to stop."""
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=8e-3, total_steps=epochs)
    inputs, changes = learned
    best, weights = math.inf, network.state_dict()
    for epoch in range(epochs):
        started = time.monotonic()
        order = torch.randperm(len(inputs))
        for part in order.split(64):
            optimizer.zero_grad()
            output, _ = network(inputs[part])
            loss(output, changes[part]).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
        schedule.step()
        with torch.no_grad():
            left = float(loss(network(stopping[0])[0], stopping[1]))
        kept = left < best
        if kept:
            best, weights = left, copy.deepcopy(network.state_dict())
        seconds = time.monotonic() - started
        print(f"epoch {epoch + 1}/{epochs}: {left:.4f}{' kept' if kept else ''} ({seconds:.1f} s)", file=sys.stderr)
    network.load_state_dict(weights)
    return network.eval()


def save_onnx(network, path):
    """The same weights give the same bytes."""
    example = (torch.zeros(1, 1, FEATURES), torch.zeros(1, 1, HIDDEN), torch.zeros(1, 1, HIDDEN))
    content = io.BytesIO()
    torch.onnx.export(
        Step(network),
        example,
        content,
        input_names=["features", "hidden", "cell"],
        output_names=["change", "next_hidden", "next_cell"],
        opset_version=13,
    )
    with open(path, "wb") as file:
        file.write(content.getvalue())


def is_busy(values):
    return float((numpy.diff(values) != 0).mean()) >= BUSY


def main():
    parser = argparse.ArgumentParser(description="Trains the LSTM predictor and writes it as an ONNX file.")
    parser.add_argument("--series", required=True, help="CSV (gzip) with timestamp_anon, value, container_ip")
    parser.add_argument("--out", required=True, help="the ONNX file to write")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["all", "busy"], default="all", help="which pods it learns from")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    pods = read_series(options.series)[::2]
    if options.only == "busy":
        pods = [values for values in pods if is_busy(values)]
    learned = [values for i, values in enumerate(pods) if i % 5 != 4]
    stopping = [values for i, values in enumerate(pods) if i % 5 == 4]
    print(f"learns from {len(learned)} pods, stops by {len(stopping)}", file=sys.stderr)
    save_onnx(train(windows(learned), windows(stopping), options.epochs), options.out)


if __name__ == "__main__":
    main()
