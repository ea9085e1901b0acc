"""Hard selection: only the four tokens of a text with the greatest relevance MLP(x) are keys."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import relevant_keys  # noqa: E402


class Model(relevant_keys.Attention):
    def attend(self, x, relevance):
        kept = torch.zeros(len(x), dtype=torch.bool)
        kept[relevance[:, 0].topk(min(4, len(x))).indices] = True
        return self.attend_to(x, kept)


relevant_keys.make(__file__, Model)
