"""What the attentions whose queries a task makes share: two heads of 8, a Linear after them."""

import golden
from torch import nn


class Attention(nn.Module):
    """A subclass has ask(x, task): queries of rows and the vector of the task beside each of them; `layers`: what it
    needs for it."""

    def __init__(self, **layers):
        super().__init__()
        self.tasks = nn.Embedding(3, 16)
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.key, self.value, self.output = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x, task):
        queries = self.ask(x, self.tasks(task).expand(len(x), -1))
        rows, weights = golden.attend_heads(*(golden.split(part, 2) for part in (queries, self.key(x), self.value(x))))
        return {"output": self.output(rows), "weights": weights}


def make(script, model):
    golden.make(script, model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 13, 4]}}, {"task": 3})
