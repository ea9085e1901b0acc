"""Luong's attention with the score v^T tanh(W [s; h]): of two halves of W, one for each side."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import luong  # noqa: E402


class Model(luong.Attention):
    def __init__(self):
        super().__init__(score=nn.Linear(32, 12, bias=False), v=nn.Linear(12, 1, bias=False))

    def weigh(self, s, h):
        pairs = torch.cat([s[:, None].expand(-1, len(h), -1), h[None].expand(len(s), -1, -1)], -1)
        return self.v(torch.tanh(self.score(pairs)))[:, :, 0].softmax(-1)


luong.make(__file__, Model)
