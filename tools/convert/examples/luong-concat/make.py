"""Luong's attention with the score v^T tanh(W [s; h]): of two halves of W, one for each side."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.v, self.combine = nn.Linear(32, 12, bias=False), nn.Linear(12, 1, bias=False), nn.Linear(32, 16)

    def scores(self, s, h):
        pairs = torch.cat([s[:, None].expand(-1, len(h), -1), h[None].expand(len(s), -1, -1)], -1)
        return self.v(torch.tanh(self.score(pairs)))[:, :, 0]

    def forward(self, s, h):
        weights = self.scores(s, h).softmax(-1)
        return {"attentional": torch.tanh(self.combine(torch.cat([weights @ h, s], 1))), "weights": weights[:, None]}


golden.make(__file__, Model, {"one": {"sources": [1], "targets": [1]}, "ragged": {"sources": [9, 2, 17], "targets": [5, 8, 1]}})
