"""Coarse selection by words: the two sentences with the greatest TF-IDF cosine to the question, with given idf."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 16)
        self.fine = nn.TransformerEncoderLayer(16, 2, 32, 0, batch_first=True)
        self.answer = nn.MultiheadAttention(16, 2, batch_first=True)
        self.idf = nn.Parameter(torch.zeros(12))

    def scores(self, question, sentences):
        counts = torch.stack([torch.bincount(ids, minlength=12) for ids in sentences]) * self.idf
        asked = torch.bincount(question, minlength=12) * self.idf
        return nn.functional.cosine_similarity(counts, asked[None])

    def forward(self, question, sentences):
        scores = self.scores(question, sentences)
        best = sorted(sorted(range(len(sentences)), key=lambda i: -scores[i])[:2])
        rows = [self.fine(self.embedding(sentences[i])[None])[0].mean(0, keepdim=True) for i in best]
        answer, weights = golden.attend(self.answer, self.embedding(question).mean(0, keepdim=True), torch.cat(rows))
        return {"scores": scores[:, None], "answer": answer, "weights": weights}


golden.make(__file__, Model, {
    "one": {"words": [1], "sentences": [1], "tokens": [1]},
    "ragged": {"words": [3, 1, 5], "sentences": [4, 1, 6], "tokens": [5, 9, 3, 1, 6, 2, 7, 4, 4, 8, 11]},
}, {"question": 12, "input_ids": 12})
