"""Hard selection: tokens whose relevance MLP(x) is at most 0.1 are dropped as keys before the attention."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.relevance = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        relevance = self.relevance(x)
        dropped = relevance[:, 0] <= 0.1
        output, weights = golden.attend(self.attention, x, x, dropped.expand(len(x), -1))
        return {"relevance": relevance, "output": output, "weights": weights[:, :, ~dropped]}


golden.make(__file__, Model, {"one": {"tokens": [15]}, "ragged": {"tokens": [7, 23, 13]}})
