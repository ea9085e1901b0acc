"""Queries made by the task: q = sigmoid(W [x; e_task]) * x."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tasks = nn.Embedding(3, 16)
        self.gate = nn.Linear(32, 16)
        self.key, self.value, self.output = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x, task):
        of_task = self.tasks(task).expand(len(x), -1)
        q = golden.split(torch.sigmoid(self.gate(torch.cat([x, of_task], 1))) * x, 2)
        k, v = golden.split(self.key(x), 2), golden.split(self.value(x), 2)
        weights = (q @ k.transpose(1, 2) / 8 ** 0.5).softmax(-1)
        return {"output": self.output(golden.join(weights @ v)), "weights": weights.transpose(0, 1)}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13, 4]}}, {"task": 3})
