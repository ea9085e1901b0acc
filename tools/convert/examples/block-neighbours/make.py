"""Blocks of 4 rows: each sees itself and its neighbours on both sides."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        block = torch.arange(len(x)) // 4
        output, weights = golden.attend(self.attention, x, x, (block[:, None] - block).abs() > 1)
        return {"output": output, "weights": weights}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 4, 23, 16]}})
