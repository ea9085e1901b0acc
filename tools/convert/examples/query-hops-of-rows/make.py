"""Two hops in which the selected sentences ask: the question chooses rows of the context, each of these attends over
the context for itself, and what they found together chooses the rows of the next hop."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


KEPT = (4, 3)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.relevance = nn.ModuleList(nn.Linear(16, 16, bias=False) for _ in KEPT)
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in KEPT)
        self.norm = nn.ModuleList(nn.LayerNorm(16) for _ in KEPT)

    def forward(self, question, rows):
        outputs, asked = {}, self.embedding(question).mean(0, keepdim=True)
        for i, most in enumerate(KEPT):
            scores = self.relevance[i](rows) @ asked.T
            chosen = rows[scores[:, 0].topk(min(most, len(rows))).indices.sort().values]
            found, outputs[f"weights.{i}"] = golden.attend(self.attention[i], chosen, rows)
            extract = self.norm[i](chosen + found)
            outputs[f"scores.{i}"], asked = scores, extract.mean(0, keepdim=True)
        return {**outputs, "extract.1": extract, "asked.2": asked}


golden.make(__file__, Model, {
    "one": {"words": [1], "context": [1]},
    "ragged": {"words": [3, 8, 5], "context": [12, 2, 25]},
}, {"question": 30})
