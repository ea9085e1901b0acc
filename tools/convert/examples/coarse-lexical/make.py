"""Coarse selection by words: only the two sentences of a document that fit the question best by BM25 enter the fine
model."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import coarse_to_fine  # noqa: E402


class Model(coarse_to_fine.CoarseToFine):
    def scores(self, question, sentences, k1=1.5, b=0.6):
        counts = torch.stack([torch.bincount(ids, minlength=12) for ids in sentences]).double()
        lengths, holding = counts.sum(1, keepdim=True), (counts > 0).sum(0)
        idf = torch.log(1 + (len(sentences) - holding + 0.5) / (holding + 0.5))
        terms = idf * counts * (k1 + 1) / (counts + k1 * (1 - b + b * lengths / lengths.mean()))
        return (torch.bincount(question, minlength=12) * terms).sum(1)


coarse_to_fine.make(__file__, Model)
