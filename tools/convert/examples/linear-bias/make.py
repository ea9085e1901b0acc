"""Causal attention with ALiBi: scores fall linearly with the distance, by a slope of each head."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


REACH = 31


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        slopes = torch.tensor([[2.0 ** -4], [2.0 ** -8]])
        self.register_buffer("distances", -slopes * torch.arange(-REACH, REACH + 1).abs())

    def forward(self, x):
        distances = torch.arange(len(x)) - torch.arange(len(x))[:, None]
        bias = self.distances[:, distances + REACH].masked_fill(distances > 0, -torch.inf)
        output, weights = golden.attend(self.attention, x, x, bias)
        return {"output": output, "weights": weights}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 30]}})
