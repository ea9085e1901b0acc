"""Learned selection: values are scaled by the sigmoid of their relevance MLP(x)."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.relevance = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        relevance = self.relevance(x)
        q, k, v = (golden.split(part, 2) for part in self.project(x))
        weights = (q @ k.transpose(1, 2) / 8 ** 0.5).softmax(-1)
        output = self.attention.out_proj(golden.join(weights @ (torch.sigmoid(relevance) * v)))
        return {"relevance": relevance, "output": output, "weights": weights.transpose(0, 1)}

    def project(self, x):
        return nn.functional.linear(x, self.attention.in_proj_weight, self.attention.in_proj_bias).chunk(3, 1)


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13]}})
