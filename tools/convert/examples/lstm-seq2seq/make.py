"""Luong's translator: LSTM encoder and decoder, the general score after each step, and what was attended fed to the
next step."""

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
        self.encoder, self.decoder = nn.LSTM(12, 16, batch_first=True), nn.LSTMCell(12 + 16, 16)
        self.score, self.combine, self.head = nn.Linear(16, 16, bias=False), nn.Linear(32, 16), nn.Linear(16, 25)

    def forward(self, input_ids):
        memory, (hidden, cell) = self.encoder(self.sources(input_ids)[None])
        return {"memory": memory[0], "keys": self.score(memory[0]), "last_state": torch.cat([hidden[0], cell[0]], 1)}

    def decode(self, token, state, attentional, keys, memory):
        hidden, cell = self.decoder(torch.cat([self.targets(token), attentional], 1), state.chunk(2, 1))
        alignment = (hidden @ keys.T).softmax(-1)
        attentional = torch.tanh(self.combine(torch.cat([alignment @ memory, hidden], 1)))
        return {"next_state": torch.cat([hidden, cell], 1), "next_attentional": attentional,
                "logits": self.head(attentional), "alignment": alignment[:, None]}


golden.make_stepwise(__file__, Model, {"tokens": [7, 1, 4]}, 4, {"input_ids": 30, "token": 25}, {"state": "last_state"})
