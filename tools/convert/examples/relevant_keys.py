"""What the attentions that look at a relevance MLP(x) of their keys share."""

import golden
from torch import nn


class Attention(nn.Module):
    """A subclass has attend(x, relevance): rows and weights."""

    def __init__(self):
        super().__init__()
        self.relevance = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        relevance = self.relevance(x)
        output, weights = self.attend(x, relevance)
        return {"relevance": relevance, "output": output, "weights": weights}

    def attend_to(self, x, kept):
        """With these rows alone as keys: true for each that is kept."""
        output, weights = golden.attend(self.attention, x, x, ~kept.expand(len(x), -1))
        return output, weights[:, :, kept]


def make(script, model, one=1, ragged=(7, 2, 13)):
    golden.make(script, model, {"one": {"tokens": [one]}, "ragged": {"tokens": list(ragged)}})
