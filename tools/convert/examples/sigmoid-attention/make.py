"""Attention that weighs each score by itself, with sigmoid in place of softmax."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (golden.split(linear(x), 2) for linear in (self.query, self.key, self.value))
        weights = torch.sigmoid(q @ k.transpose(1, 2) / 8 ** 0.5)
        return {"output": self.output(golden.join(weights @ v)), "weights": weights.transpose(0, 1)}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13]}})
