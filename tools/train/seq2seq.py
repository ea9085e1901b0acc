"""A bidirectional GRU encoder and a GRU decoder that attends to it with additive scores (Bahdanau)."""

import torch
from torch import nn


class Normaliser(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, h, a = c["embedding"], c["encoder"], c["attention"]
        state = c["decoder"]
        self.characters = nn.Embedding(c["vocabulary"], d)
        self.encoder = nn.GRU(d, h, batch_first=True, bidirectional=True)
        self.keys = nn.Linear(2 * h, a, bias=False)
        self.initial = nn.Linear(h, state)
        self.query = nn.Linear(state, a)
        self.score = nn.Parameter(torch.randn(1, a) * 0.3)
        self.decoder = nn.GRUCell(d + 2 * h, state)
        self.head = nn.Linear(state, c["vocabulary"])

    def encode(self, ids):
        """Annotations, their keys, and the decoder's first state: all from texts of one length."""
        annotations, _ = self.encoder(self.characters(ids))
        h = self.encoder.hidden_size
        return annotations, self.keys(annotations), torch.tanh(self.initial(annotations[:, 0, h:]))

    def step(self, previous, state, annotations, keys):
        """Scores of the next character, the next state, and where in the text the step looked."""
        scores = torch.tanh(self.query(state).unsqueeze(1) + keys) @ self.score[0]
        weights = torch.softmax(scores, -1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        state = self.decoder(torch.cat([self.characters(previous), context], -1), state)
        return self.head(state), state, weights

    def forward(self, ids, outputs):
        """Scores of every output, the right ones before it given. `outputs` begin with the start symbol."""
        annotations, keys, state = self.encode(ids)
        scores = []
        for t in range(outputs.shape[1]):
            s, state, _ = self.step(outputs[:, t], state, annotations, keys)
            scores.append(s)
        return torch.stack(scores, 1)

    @torch.no_grad()
    def greedy(self, ids, start, steps):
        """Ids, scores and alignments of greedy decoding for the given number of steps."""
        annotations, keys, state = self.encode(ids)
        previous = torch.full((len(ids),), start)
        found, scores, alignments = [], [], []
        for _ in range(steps):
            s, state, weights = self.step(previous, state, annotations, keys)
            previous = s.argmax(-1)
            found.append(previous)
            scores.append(s)
            alignments.append(weights)
        return torch.stack(found, 1), torch.stack(scores, 1), torch.stack(alignments, 1)
