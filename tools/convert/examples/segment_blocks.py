"""What the three hierarchical transformers share: blocks within a segment and blocks across the first rows of a
document's segments."""

import golden
import torch
from torch import nn


def make(script, kinds):
    """`kinds`: "within" or "across", block by block."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.positions = nn.Embedding(30, 16), nn.Embedding(16, 16)
            self.segment_positions = nn.Embedding(8, 16)
            self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, 0, batch_first=True) for _ in kinds)

        def forward(self, segments):
            rows = [self.embedding(ids) + self.positions.weight[:len(ids)] for ids in segments]
            for block, kind in zip(self.blocks, kinds):
                if kind == "within":
                    rows = [block(part[None])[0] for part in rows]
                else:
                    firsts = torch.cat([part[:1] for part in rows]) + self.segment_positions.weight[:len(rows)]
                    rows = [torch.cat([first[None], part[1:]]) for first, part in zip(block(firsts[None])[0], rows)]
            vectors = torch.cat([part[:1] for part in rows])
            return {"rows.4": torch.cat(rows), "segment_vectors": vectors,
                    "document": vectors.max(0, keepdim=True).values}

    golden.make(script, Model, {
        "one": {"segments": [1], "tokens": [1]},
        "ragged": {"segments": [2, 1, 4], "tokens": [5, 9, 3, 1, 6, 2, 7]},
    }, {"input_ids": 30})
