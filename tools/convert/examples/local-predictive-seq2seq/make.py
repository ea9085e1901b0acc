"""Luong's translator with local attention, predictive: a step sees 2 rows to each side of p = S sigmoid(v^T tanh(W s)),
less the further away."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import local_seq2seq  # noqa: E402


class Model(local_seq2seq.Translator):
    def __init__(self):
        super().__init__(position=nn.Sequential(nn.Linear(16, 8, bias=False), nn.Tanh(), nn.Linear(8, 1, bias=False)))

    def decode(self, token, state, keys, memory):
        state = self.next_state(token, state)
        center = torch.sigmoid(self.position(state))
        weights, distances = self.weights(state, keys, len(keys) * center)
        weights = weights * torch.exp(-distances ** 2 / (2 * (2 / 2) ** 2))
        return {"next_state": state, "center": center, "logits": self.logits(state, weights, memory),
                "alignment": weights[:, None]}


local_seq2seq.make(__file__, Model)
