"""A sentence of six words whose numbers are known: one head, three heads, and queries to another sequence of eight
rows."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(123)
        self.embedding = nn.Embedding(6, 16)
        torch.manual_seed(123)
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(width, 16)) for width in (24, 24, 28))
        self.W_queries, self.W_keys, self.W_values = (nn.Parameter(torch.rand(3, width, 16)) for width in (24, 24, 28))

    def attend(self, ids):
        x = self.embedding(ids)
        return {"query": x @ self.W_query.T, "key": x @ self.W_key.T, **self.context(x, x)}

    forward = attend

    def cross(self, ids, other):
        return self.context(self.embedding(ids), other)

    def context(self, x, other):
        weights = (x @ self.W_query.T @ (other @ self.W_key.T).T / 24 ** 0.5).softmax(-1)
        return {"context": weights @ (other @ self.W_value.T), "weights": weights[:, None]}

    def heads(self, ids):
        x = self.embedding(ids)
        q, k, v = (x @ weight.transpose(1, 2) for weight in (self.W_queries, self.W_keys, self.W_values))
        context, weights = golden.attend_heads(q, k, v)
        return {"context": context, "weights": weights}


IDS = torch.tensor([0, 4, 5, 2, 1, 3])  # Life is short, eat dessert first
golden.make(__file__, Model, {
    "attend/sentence": {"words": [6]},
    "heads/sentence": {"words": [6]},
    "cross/sentence": {"words": [6], "others": [8]},
}, given={"ids": IDS}, own_weights=True)
