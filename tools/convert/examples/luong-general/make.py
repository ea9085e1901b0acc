"""Luong's attention with the score s^T W h."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.combine = nn.Linear(16, 16, bias=False), nn.Linear(32, 16)

    def forward(self, s, h):
        weights = (s @ self.score(h).T).softmax(-1)
        return {"attentional": torch.tanh(self.combine(torch.cat([weights @ h, s], 1))), "weights": weights[:, None]}


golden.make(__file__, Model, {"one": {"sources": [1], "targets": [1]}, "ragged": {"sources": [9, 2, 17], "targets": [5, 8, 1]}})
