"""Luong's local attention, predictive: a target row sees 2 source rows to each side of p = S sigmoid(v_p^T tanh(W_p s)), less the further away."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.position = nn.Sequential(nn.Linear(16, 8, bias=False), nn.Tanh(), nn.Linear(8, 1, bias=False))
        self.score, self.combine = nn.Linear(16, 16, bias=False), nn.Linear(32, 16)

    def forward(self, s, h):
        center = torch.sigmoid(self.position(s))
        distances = torch.arange(len(h)) - len(h) * center
        scores = (s @ self.score(h).T).masked_fill(distances.abs() > 2, -torch.inf)
        weights = scores.softmax(-1) * torch.exp(-distances ** 2 / (2 * (2 / 2) ** 2))
        attentional = torch.tanh(self.combine(torch.cat([weights @ h, s], 1)))
        return {"center": center, "attentional": attentional, "weights": weights[:, None]}


golden.make(__file__, Model, {"one": {"sources": [1], "targets": [1]}, "ragged": {"sources": [9, 2, 17], "targets": [5, 8, 3]}})
