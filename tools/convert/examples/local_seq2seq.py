"""What Luong's translators with local attention share: GRUs, a window of 2 rows to each side of a center, the general
score."""

import golden
import torch
from torch import nn


class Translator(nn.Module):
    """A subclass has decode(), which may call step(). `layers`: what it needs for that."""

    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.sources, self.targets = nn.Embedding(30, 12), nn.Embedding(25, 12)
        self.encoder, self.decoder = nn.GRU(12, 16, batch_first=True), nn.GRUCell(12, 16)
        self.score, self.combine, self.head = nn.Linear(16, 16, bias=False), nn.Linear(32, 16), nn.Linear(16, 25)

    def forward(self, input_ids):
        memory = self.encoder(self.sources(input_ids)[None])[0][0]
        return {"memory": memory, "keys": self.score(memory), "last_state": memory[-1:]}

    def next_state(self, token, state):
        return self.decoder(self.targets(token), state)

    def weights(self, state, keys, center):
        """[1, rows] and the rows' distances from the center. A window beyond the source has no rows: nothing of it is
        seen."""
        distances = torch.arange(len(keys)) - center
        near = distances.abs() <= 2
        weights = (state @ keys.T).masked_fill(~near, -torch.inf).softmax(-1)
        return weights.masked_fill(~near, 0), distances

    def logits(self, state, weights, memory):
        return self.head(torch.tanh(self.combine(torch.cat([weights @ memory, state], 1))))


def make(script, model):
    golden.make_stepwise(script, model, {"tokens": [7, 1, 4]}, 7, {"input_ids": 30, "token": 25},
                         {"state": "last_state"})
