"""What Luong's attentions share: rows and what they found go through a Linear and tanh."""

import golden
import torch
from torch import nn


class Attention(nn.Module):
    """A subclass has weigh(s, h): weights [targets, sources]; `layers`: what it needs for it."""

    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.combine = nn.Linear(32, 16)

    def forward(self, s, h):
        weights = self.weigh(s, h)
        return {"attentional": torch.tanh(self.combine(torch.cat([weights @ h, s], 1))), "weights": weights[:, None]}


class General(Attention):
    """Scores are s^T W h."""

    def __init__(self, **layers):
        super().__init__(**layers, score=nn.Linear(16, 16, bias=False))

    def scores(self, s, h):
        return s @ self.score(h).T


def make(script, model, sources=(9, 2, 17), targets=(5, 8, 1)):
    golden.make(script, model, {
        "one": {"sources": [1], "targets": [1]},
        "ragged": {"sources": list(sources), "targets": list(targets)},
    })
