"""Learned selection: log sigmoid of the relevance MLP(x) of a key is added to its scores."""

import pathlib
import sys

from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402
import relevant_keys  # noqa: E402


class Model(relevant_keys.Attention):
    def attend(self, x, relevance):
        return golden.attend(self.attention, x, x, nn.functional.logsigmoid(relevance).T.expand(len(x), -1))


relevant_keys.make(__file__, Model)
