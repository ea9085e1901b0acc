"""Luong's local attention, monotonic: target row t sees the source rows from t - 2 to t + 2."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import luong  # noqa: E402


class Model(luong.General):
    def weigh(self, s, h):
        distances = torch.arange(len(h)) - torch.arange(len(s))[:, None]
        return self.scores(s, h).masked_fill(distances.abs() > 2, -torch.inf).softmax(-1)


luong.make(__file__, Model, [9, 6, 17], [9, 8, 4])
