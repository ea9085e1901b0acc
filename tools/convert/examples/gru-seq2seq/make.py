"""Bahdanau's translator: a GRU reads in both directions; the other one looks at all it read, by the additive score,
before each step."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.sources, self.targets = nn.Embedding(30, 12), nn.Embedding(25, 12)
        self.encoder = nn.GRU(12, 8, bidirectional=True, batch_first=True)
        self.start, self.decoder = nn.Linear(8, 16), nn.GRUCell(12 + 16, 16)
        self.query, self.key, self.v = nn.Linear(16, 12), nn.Linear(16, 12, bias=False), nn.Linear(12, 1, bias=False)
        self.head = nn.Linear(32, 25)

    def forward(self, input_ids):
        memory = self.encoder(self.sources(input_ids)[None])[0][0]
        return {"memory": memory, "keys": self.key(memory), "first_state": torch.tanh(self.start(memory[:1, 8:]))}

    def decode(self, token, state, keys, memory):
        alignment = self.v(torch.tanh(self.query(state) + keys)).T.softmax(-1)
        context = alignment @ memory
        state = self.decoder(torch.cat([self.targets(token), context], 1), state)
        return {"next_state": state, "logits": self.head(torch.cat([state, context], 1)),
                "alignment": alignment[:, None]}


golden.make_stepwise(__file__, Model, {"tokens": [7, 1, 4]}, 4, {"input_ids": 30, "token": 25},
                     {"state": "first_state"})
