"""Nadaraya and Watson's kernel regression with a learned width: softmax(-((x - x_i) w)^2 / 2) y."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = nn.Parameter(torch.ones(1, 1))

    def forward(self, x, samples_x, samples_y):
        weights = (-((x - samples_x.T) * self.width) ** 2 / 2).softmax(-1)
        return {"y": weights @ samples_y, "weights": weights[:, None]}


golden.make(__file__, Model, {"a": {"samples": [20, 3, 9], "queries": [5, 11, 1]}})
