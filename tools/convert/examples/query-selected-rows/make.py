"""Two hops: the question chooses rows of the context, attends over these, and what it extracts chooses other rows."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


KEPT = (5, 3)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.relevance = nn.ModuleList(nn.Linear(16, 16, bias=False) for _ in range(2))
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(2))
        self.norm = nn.ModuleList(nn.LayerNorm(16) for _ in range(2))

    def forward(self, question, rows):
        outputs, asked = {}, self.embedding(question).mean(0, keepdim=True)
        for i in range(2):
            scores = self.relevance[i](rows) @ asked.T
            chosen = scores[:, 0].topk(min(KEPT[i], len(rows))).indices.sort().values
            extract, outputs[f"weights.{i}"] = golden.attend(self.attention[i], asked, rows[chosen])
            outputs[f"scores.{i}"] = scores
            asked = self.norm[i](asked + extract)
        return {**outputs, "asked.2": asked}


golden.make(__file__, Model, {
    "one": {"words": [1], "context": [1]},
    "ragged": {"words": [3, 8, 5], "context": [12, 4, 25]},
}, {"question": 30})
