"""Tokens -> sentences -> documents: multi-head attention at each level, its first row goes through a Linear to the next
level."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.attention = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(2))
        self.between = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))
        self.classifier = nn.Linear(16, 5)

    def level(self, i, rows):
        mixed, weights = golden.attend(self.attention[i], rows, rows)
        return self.between[i](mixed[:1]), weights

    def forward(self, sentences):
        encoded, weights = zip(*(self.level(0, self.embedding(ids)) for ids in sentences))
        rows = torch.cat(encoded)
        document, over_sentences = self.level(1, rows)
        return {"rows.1": rows, "rows.2": document, "logits": self.classifier(document),
                "weights.0": golden.concatenate(weights), "weights.1": over_sentences}


golden.make(__file__, Model, {
    "one": {"sentences": [1], "tokens": [1]},
    "ragged": {"sentences": [2, 1, 4], "tokens": [5, 9, 3, 1, 6, 2, 7]},
}, {"input_ids": 30})
