"""Learned selection: values are scaled by the sigmoid of their relevance MLP(x)."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402
import relevant_keys  # noqa: E402


class Model(relevant_keys.Attention):
    def attend(self, x, relevance):
        q, k, v = (golden.split(part, 2) for part in self.project(x))
        rows, weights = golden.attend_heads(q, k, torch.sigmoid(relevance) * v)
        return self.attention.out_proj(rows), weights

    def project(self, x):
        return nn.functional.linear(x, self.attention.in_proj_weight, self.attention.in_proj_bias).chunk(3, 1)


relevant_keys.make(__file__, Model)
