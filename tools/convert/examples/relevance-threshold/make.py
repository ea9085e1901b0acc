"""Hard selection: tokens whose relevance MLP(x) is at most 0.1 are dropped as keys before the attention."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import relevant_keys  # noqa: E402


class Model(relevant_keys.Attention):
    def attend(self, x, relevance):
        return self.attend_to(x, relevance[:, 0] > 0.1)


relevant_keys.make(__file__, Model, 15, [7, 23, 13])
