"""What the three coarse selections share: of a document's sentences the best two enter the fine model, which answers a
question."""

import golden
import torch
from torch import nn


class CoarseToFine(nn.Module):
    """A subclass has scores(question, sentences)."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 16)
        self.fine = nn.TransformerEncoderLayer(16, 2, 32, 0, batch_first=True)
        self.answer = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, question, sentences):
        scores = self.scores(question, sentences)
        best = sorted(sorted(range(len(sentences)), key=lambda i: -scores[i])[:2])
        rows = [self.fine(self.embedding(sentences[i])[None])[0].mean(0, keepdim=True) for i in best]
        answer, weights = golden.attend(self.answer, self.embedding(question).mean(0, keepdim=True), torch.cat(rows))
        return {"scores": scores[:, None], "answer": answer, "weights": weights}


def make(script, model):
    golden.make(script, model, {
        "one": {"words": [1], "sentences": [1], "tokens": [1]},
        "ragged": {"words": [3, 1, 5], "sentences": [4, 1, 6], "tokens": [5, 9, 3, 1, 6, 2, 7, 4, 4, 8, 11]},
    }, {"question": 12, "input_ids": 12})
