"""Three hops over a context: what one hop extracts, added to the question, asks the next."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(3))
        self.norm = nn.ModuleList(nn.LayerNorm(16) for _ in range(3))

    def forward(self, question, rows):
        outputs, asked = {}, self.embedding(question).mean(0, keepdim=True)
        for i in range(3):
            extract, outputs[f"weights.{i}"] = golden.attend(self.attention[i], asked, rows)
            asked = self.norm[i](asked + extract)
        return {**outputs, "extract.2": extract, "asked.3": asked}


golden.make(__file__, Model, {
    "one": {"words": [1], "context": [1]},
    "ragged": {"words": [3, 8, 5], "context": [12, 1, 25]},
}, {"question": 30})
