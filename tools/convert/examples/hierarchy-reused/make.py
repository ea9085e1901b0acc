"""A hierarchy whose finished sentences are reused: a document grows by one sentence and another one changes; only
these two are read, and the document is made of them and of the results of the rest."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Level(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, rows):
        mixed, weights = golden.attend(self.attention, rows, rows)
        return mixed[:1], weights


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.of_tokens, self.of_sentences = nn.Embedding(30, 16), Level(), Level()
        self.classifier = nn.Linear(16, 4)

    def forward(self, sentences):
        read = self.encode_sentences(sentences)
        return {**read, **self.encode_document(read["sentence_rows"])}

    def encode_sentences(self, sentences):
        rows, weights = zip(*(self.of_tokens(self.embedding(ids)) for ids in sentences))
        return {"sentence_rows": torch.cat(rows), "of_tokens.weights": golden.concatenate(weights)}

    def encode_document(self, rows):
        first, weights = self.of_sentences(rows)
        return {"logits": self.classifier(first), "of_sentences.weights": weights}


files = golden.Files(__file__, Model)
lengths = {"sentences": [3], "tokens": [5, 9, 3]}
ids = torch.randint(0, 30, (17,))
before = files.run("before", lengths, {}, {"input_ids": ids})
# The second sentence is another one of 4 tokens, and a fourth one of 6 is new.
new = torch.randint(0, 30, (10,))
read = files.run("encode_sentences/new", {"sentences": [2], "tokens": [4, 6]}, {}, {"input_ids": new})
rows, made = before["sentence_rows"], read["sentence_rows"]
after = files.run("encode_document/after", {"sentences": [4]}, {},
                  {"sentence_rows": torch.stack([rows[0], made[0], rows[2], made[1]])}, begins_in="sentences")
whole = files.run("after", {"sentences": [4], "tokens": [5, 4, 3, 6]}, {},
                  {"input_ids": torch.cat([ids[:5], new[:4], ids[14:], new[4:]])})
assert torch.equal(after["logits"], whole["logits"])
files.write()
