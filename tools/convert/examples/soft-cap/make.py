"""Scores that cannot leave a range: cap * tanh(score / cap) before the softmax."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import weighed_scores  # noqa: E402

weighed_scores.make(__file__, lambda scores: (1.5 * torch.tanh(scores / 1.5)).softmax(-1))
