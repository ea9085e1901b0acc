"""Luong's local attention, predictive: a target row sees 2 source rows to each side of
p = S sigmoid(v_p^T tanh(W_p s)), less the further away."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import luong  # noqa: E402


class Model(luong.General):
    def __init__(self):
        super().__init__(position=nn.Sequential(nn.Linear(16, 8, bias=False), nn.Tanh(), nn.Linear(8, 1, bias=False)))

    def center(self, s):
        return torch.sigmoid(self.position(s))

    def weigh(self, s, h):
        distances = torch.arange(len(h)) - len(h) * self.center(s)
        weights = self.scores(s, h).masked_fill(distances.abs() > 2, -torch.inf).softmax(-1)
        return weights * torch.exp(-distances ** 2 / (2 * (2 / 2) ** 2))

    def forward(self, s, h):
        return {"center": self.center(s), **super().forward(s, h)}


luong.make(__file__, Model, targets=[5, 8, 3])
