"""Queries made by the task: q = x + e_task."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import task_queries  # noqa: E402


class Model(task_queries.Attention):
    def ask(self, x, task):
        return x + task


task_queries.make(__file__, Model)
