"""Words -> sentences -> paragraphs -> documents: positions, a Transformer layer and the mean at each level."""

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
        self.positions = nn.ModuleList(nn.Embedding(12, 16) for _ in range(3))
        self.levels = nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, 0, batch_first=True) for _ in range(3))

    def encode(self, level, rows, found):
        if level < 2:
            rows = torch.cat([self.encode(level + 1, part, found) for part in rows])
        else:
            rows = self.embedding(rows)
        i = 2 - level  # from the words up
        mean = self.levels[i]((rows + self.positions[i].weight[:len(rows)])[None])[0].mean(0, keepdim=True)
        found[i].append(mean)
        return mean

    def forward(self, paragraphs):
        found = [[], [], []]
        self.encode(0, paragraphs, found)
        return {f"rows.{i + 1}": torch.cat(found[i]) for i in range(3)}


golden.make(__file__, Model, {
    "one": {"paragraphs": [1], "sentences": [1], "words": [1]},
    "ragged": {"paragraphs": [2, 1], "sentences": [2, 3, 1], "words": [5, 9, 3, 1, 12, 2]},
}, {"input_ids": 30})
