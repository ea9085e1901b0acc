"""BM25 with the usual k1 = 1.2 and b = 0.75, and the cosine of TF-IDF vectors, of each sentence of a document to a
question: idf is the document's own, words of the question may be repeated or be in no sentence."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def forward(self, question, sentences):
        counts = torch.stack([torch.bincount(ids, minlength=12) for ids in sentences]).double()
        asked, holding = torch.bincount(question, minlength=12).double(), (counts > 0).sum(0)
        lengths = counts.sum(1, keepdim=True)
        idf = torch.log(1 + (len(sentences) - holding + 0.5) / (holding + 0.5))
        terms = idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths / lengths.mean()))
        smooth = torch.log((1 + len(sentences)) / (1 + holding)) + 1
        cosine = nn.functional.cosine_similarity(counts * smooth, (asked * smooth)[None])
        return {"bm25": (terms @ asked)[:, None], "tfidf": cosine[:, None]}


lengths = {"words": [5, 1, 3], "sentences": [4, 1, 3], "tokens": [5, 9, 3, 1, 6, 2, 7, 4]}
files = golden.Files(__file__, Model)
files.run("one", {"words": [1], "sentences": [1], "tokens": [1]}, {"question": 12, "input_ids": 12})
files.run("ragged", lengths, {"question": 12, "input_ids": 12})
files.run("repeated", lengths, {"input_ids": 4}, {"question": torch.tensor([1, 1, 3, 1, 3, 2, 0, 0, 0])})
files.run("elsewhere", lengths, {"input_ids": 6}, {"question": torch.tensor([11, 10, 10, 2, 9, 8, 1, 1, 11])})
files.write()
