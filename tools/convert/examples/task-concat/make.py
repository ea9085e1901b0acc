"""Queries made by the task: q = Linear([x; e_task])."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import task_queries  # noqa: E402


class Model(task_queries.Attention):
    def __init__(self):
        super().__init__(query=nn.Linear(32, 16))

    def ask(self, x, task):
        return self.query(torch.cat([x, task], 1))


task_queries.make(__file__, Model)
