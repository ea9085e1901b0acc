"""Blocks of 4 rows: first each with the block before it, then with the blocks that a list names; up to 8 rows see
all."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


NAMED = [[2], [4, 5], [0], [], [1, 3]]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(2))

    def forward(self, x):
        block = torch.arange(len(x)) // 4
        steps = block[:, None] - block
        inner, weights = golden.attend(self.attention[0], x, x, (steps != 0) & (steps != 1))
        seen = steps == 0
        for query, keys in enumerate(NAMED):
            for key in keys:
                seen |= (block[:, None] == query) & (block == key)
        output, named_weights = golden.attend(self.attention[1], inner, inner, None if len(x) <= 8 else ~seen)
        return {"inner": inner, "output": output, "weights.0": weights, "weights.1": named_weights}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 9, 23]}})
