"""Hard selection: tokens whose relevance MLP(x) is at most 0.1 are dropped as keys before the attention. Where none is
left, nothing is seen."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402
import relevant_keys  # noqa: E402


class Model(relevant_keys.Attention):
    def attend(self, x, relevance):
        kept = relevance[:, 0] > 0.1
        if kept.any():
            return self.attend_to(x, kept)
        return self.attention.out_proj(torch.zeros_like(x)), torch.zeros(len(x), 2, 0).double()


files = golden.Files(__file__, Model)
files.run("one", {"tokens": [15]}, {})
files.run("ragged", {"tokens": [7, 23, 13]}, {})
x = torch.randn(200, 16).double()
with torch.no_grad():
    dropped = x[files.model.relevance(x)[:, 0] <= 0.1]
files.run("none", {"tokens": [4, 5, 3]}, {}, {"x": torch.cat([x[:4], dropped[:5], x[4:7]])})
files.run("none_at_all", {"tokens": [1, 2]}, {}, {"x": dropped[5:8]})
files.write()
