"""A question vector attends over the rows of a context and returns the extract and its weights."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, question, rows):
        extract, weights = golden.attend(self.attention, self.embedding(question).mean(0, keepdim=True), rows)
        return {"extract": extract, "weights": weights}


golden.make(__file__, Model, {
    "one": {"words": [1], "context": [1]},
    "ragged": {"words": [3, 8, 5], "context": [12, 1, 25]},
}, {"question": 30})
