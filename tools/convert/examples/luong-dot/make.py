"""Luong's attention with the score s^T h."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import luong  # noqa: E402


class Model(luong.Attention):
    def weigh(self, s, h):
        return (s @ h.T).softmax(-1)


luong.make(__file__, Model)
