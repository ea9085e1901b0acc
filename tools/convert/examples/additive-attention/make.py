"""Bahdanau's attention: v^T tanh(W_q q + W_k k)."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.v = nn.Linear(16, 12), nn.Linear(16, 12, bias=False), nn.Linear(12, 1, bias=False)

    def forward(self, s, h):
        weights = self.v(torch.tanh(self.query(s)[:, None] + self.key(h)[None]))[:, :, 0].softmax(-1)
        return {"context": weights @ h, "weights": weights[:, None]}


golden.make(__file__, Model, {
    "one": {"sources": [1], "targets": [1]},
    "ragged": {"sources": [9, 2, 17], "targets": [5, 8, 1]},
})
