"""Windows by head: the first head sees every second key of 4 to each side, the other one 2 to the left and 1 to the
right."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import golden  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        distances = torch.arange(len(x)) - torch.arange(len(x))[:, None]
        seen = torch.stack([(distances.abs() <= 4) & (distances % 2 == 0), (distances >= -2) & (distances <= 1)])
        output, weights = golden.attend(self.attention, x, x, ~seen)
        return {"output": output, "weights": weights}


golden.make(__file__, Model, {"one": {"tokens": [1]}, "ragged": {"tokens": [7, 2, 23]}})
