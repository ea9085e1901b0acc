"""Attention that weighs each score by itself, with gelu in place of softmax."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import weighed_scores  # noqa: E402

weighed_scores.make(__file__, torch.nn.functional.gelu)
