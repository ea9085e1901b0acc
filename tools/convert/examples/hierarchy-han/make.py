"""Hierarchical attention network: at words and at sentences a GRU in both directions and additive pooling by a learned
context vector."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Level(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(width, 8, bidirectional=True, batch_first=True)
        self.hidden = nn.Linear(16, 12)
        self.context = nn.Parameter(torch.zeros(12))

    def forward(self, rows):
        states = self.gru(rows[None])[0][0]
        weights = (torch.tanh(self.hidden(states)) @ self.context).softmax(0)
        return (weights @ states)[None], weights[None, None]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 12)
        self.of_words, self.of_sentences, self.classifier = Level(12), Level(16), nn.Linear(16, 4)

    def forward(self, sentences):
        vectors, word_weights = zip(*(self.of_words(self.embedding(ids)) for ids in sentences))
        document, sentence_weights = self.of_sentences(torch.cat(vectors))
        return {"sentence_vectors": torch.cat(vectors), "document_vectors": document,
                "logits": self.classifier(document), "of_words.weights": golden.concatenate(word_weights),
                "of_sentences.weights": sentence_weights}


golden.make(__file__, Model, {
    "one": {"sentences": [1], "words": [1]},
    "ragged": {"sentences": [2, 1, 4], "words": [5, 9, 3, 1, 6, 2, 7]},
}, {"input_ids": 30})
