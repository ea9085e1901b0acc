"""Four query heads of 6 numbers share two key and value heads; values are 5 wide."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(16, 4 * 6), nn.Linear(16, 2 * 6, bias=False)
        self.value, self.output = nn.Linear(16, 2 * 5, bias=False), nn.Linear(4 * 5, 16)

    def forward(self, x):
        q, k, v = golden.split(self.query(x), 4), golden.split(self.key(x), 2), golden.split(self.value(x), 2)
        rows, weights = golden.attend_heads(q, k.repeat_interleave(2, 0), v.repeat_interleave(2, 0))
        return {"output": self.output(rows), "weights": weights}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13]}})
