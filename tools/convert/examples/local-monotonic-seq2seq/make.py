"""Luong's translator with local attention, monotonic: step t sees 2 rows to each side of row t. The last steps of short
sources have windows beyond them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import local_seq2seq  # noqa: E402


class Model(local_seq2seq.Translator):
    def decode(self, token, state, place, keys, memory):
        state = self.next_state(token, state)
        weights, _ = self.weights(state, keys, place)
        return {"next_state": state, "next_place": place + 1, "logits": self.logits(state, weights, memory),
                "alignment": weights[:, None]}


local_seq2seq.make(__file__, Model)
