"""Multi-head attention with queries from one sequence, keys and values from another of another length."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, s, h):
        output, weights = golden.attend(self.attention, s, h)
        return {"output": output, "weights": weights}


golden.make(__file__, Model, {
    "one": {"sources": [1], "targets": [1]},
    "ragged": {"sources": [9, 2, 17], "targets": [5, 8, 1]},
})
