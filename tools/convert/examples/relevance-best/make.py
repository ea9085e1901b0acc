"""Hard selection: only the four tokens of a text with the greatest relevance MLP(x) are keys."""

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
        kept = relevance[:, 0].topk(min(4, len(x))).indices.sort().values
        dropped = torch.ones(len(x), dtype=torch.bool)
        dropped[kept] = False
        output, weights = golden.attend(self.attention, x, x, dropped.expand(len(x), -1))
        return {"relevance": relevance, "output": output, "weights": weights[:, :, kept]}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13]}})
