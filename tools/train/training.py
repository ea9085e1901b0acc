"""What the scripts that train share: a run that can be repeated, batches, the optimization, files."""

import json
import os
import time

import numpy as np
import torch
from torch import nn

SEED = 20250607


def set_up(out):
    """Makes the directory and the run repeatable: the time it starts, random numbers, and a function that prints beside
    the time."""
    start = time.time()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    np.finfo(np.float32), np.finfo(np.float64)  # numpy looks at subnormals once; let it do so before they are flushed
    torch.set_flush_denormal(True)
    os.makedirs(out, exist_ok=True)

    def log(*values):
        print(f"[{time.time() - start:6.0f} s]", *values, flush=True)

    return start, np.random.default_rng(SEED), log


def alike(lengths, size, rng=None):
    """The numbers of examples of similar length, `size` at a time; with `rng` in random order."""
    order = np.argsort(lengths, kind="stable")
    chunks = [order[i:i + size] for i in range(0, len(order), size)]
    if rng:
        rng.shuffle(chunks)
    return chunks


def fit(model, parameters, rate, batches, loss_of, steps, warm_up, every, report, seconds=float("inf")):
    """AdamW with warm-up for this share of the steps and linear decay, which comes to its end early when the time does.

    `parameters`: of the model, in groups by what AdamW does with them. `batches` yields what the model takes and what
    is expected then, which `loss_of` takes. `report` gets the step and the mean loss since the last report, after
    `every` steps and at the end.
    """
    optimizer, begin = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.98)), time.time()
    total, seen = 0.0, 0
    model.train()
    for step, (arguments, expected) in zip(range(steps), batches):
        done = max(step / steps, (time.time() - begin) / seconds)
        if done >= 1:
            return report(step, total / max(seen, 1))
        for group in optimizer.param_groups:
            group["lr"] = rate * min((done + 0.001) / warm_up, (1 - done) / (1 - warm_up))
        loss = loss_of(arguments, expected)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(expected)
        seen += len(expected)
        if (step + 1) % every == 0 or step + 1 == steps:
            report(step + 1, total / seen)
            total, seen = 0.0, 0
            model.train()


def write_json(path, value):
    with open(path, "w") as f:
        json.dump(value, f, indent=2, sort_keys=True, ensure_ascii=False)
        f.write("\n")


def measured(out, results):
    """What was measured when the model in this directory was trained, and what is new of it."""
    with open(f"{out}/metrics.json") as f:
        return {**json.load(f), **results}
