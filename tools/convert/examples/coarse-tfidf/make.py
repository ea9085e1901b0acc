"""Coarse selection by words: the two sentences with the greatest TF-IDF cosine to the question, with given idf."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import coarse_to_fine  # noqa: E402


class Model(coarse_to_fine.CoarseToFine):
    def __init__(self):
        super().__init__()
        self.idf = nn.Parameter(torch.zeros(12))

    def scores(self, question, sentences):
        counts = torch.stack([torch.bincount(ids, minlength=12) for ids in sentences]) * self.idf
        asked = torch.bincount(question, minlength=12) * self.idf
        return nn.functional.cosine_similarity(counts, asked[None])


coarse_to_fine.make(__file__, Model)
