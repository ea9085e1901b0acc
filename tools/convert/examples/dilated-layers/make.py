"""Dilation that grows from layer to layer and differs by head: (left, right, dilation) of 2 heads in 3 layers."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


WINDOWS = [[(2, 2, 1), (2, 0, 2)], [(4, 4, 2), (3, 3, 3)], [(8, 8, 4), (9, 3, 3)]]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in WINDOWS)

    def forward(self, x):
        distances, outputs = torch.arange(len(x)) - torch.arange(len(x))[:, None], {}
        for i, windows in enumerate(WINDOWS):
            seen = torch.stack([(distances >= -left) & (distances <= right) & (distances % dilation == 0)
                                for left, right, dilation in windows])
            mixed, outputs[f"weights.{i}"] = golden.attend(self.attention[i], x, x, ~seen)
            outputs[f"x.{i + 1}"] = x = x + mixed
        return outputs


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 31]}})
