"""Queries made by the task, then a separate projection: q = W_q (sigmoid(W [x; e_task]) * x) + b_q."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import task_queries  # noqa: E402


class Model(task_queries.Attention):
    def __init__(self):
        super().__init__(gate=nn.Linear(32, 16), query=nn.Linear(16, 16))

    def ask(self, x, task):
        return self.query(torch.sigmoid(self.gate(torch.cat([x, task], 1))) * x)


task_queries.make(__file__, Model)
