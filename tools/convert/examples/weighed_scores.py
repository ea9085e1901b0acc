"""What the attentions that differ only in how scores become weights share: two heads of 8, a Linear after them."""

import golden
from torch import nn


def make(script, weigh):
    """`weigh`: scores [heads, queries, keys] -> weights."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.output = (nn.Linear(16, 16) for _ in range(4))

        def forward(self, x):
            parts = (golden.split(linear(x), 2) for linear in (self.query, self.key, self.value))
            rows, weights = golden.attend_heads(*parts, weigh)
            return {"output": self.output(rows), "weights": weights}

    golden.make(script, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13]}})
