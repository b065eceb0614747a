"""NumPy and torch mixed, as in the document's samples: what changes, and how it is told."""

import numpy as np
import torch
from monitorch.tracker import auto_diff, var_tracker


@auto_diff
def load(frames):
    return np.arange(frames * 4 * 6 * 3, dtype=np.uint8).reshape(frames, 4, 6, 3)


@var_tracker("video", "mean", "tail", "h*")
def transform(frames, flip):
    video = load(frames)
    video = torch.from_numpy(video)
    video = video.permute(0, 3, 1, 2)
    video = video.float() / 255
    tail = video[-1]  # noqa: F841
    mean = video.mean()
    video -= mean
    if flip:
        video = video.flip(-1)
    video = video.to(torch.float16)
    half = video[:1, :1, :2, :2]
    half[0, 0, 0, 0] = float("nan")
    hidden = half.new_zeros(0, 3)
    hidden = torch.ones(5, 6) > 0
    hidden = hidden.to(torch.complex64)
    hidden = torch.empty(7, 8, device="meta")
    return video, mean


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(30, 2)
        torch.nn.init.constant_(self.linear.weight, 0.5)
        torch.nn.init.zeros_(self.linear.bias)

    @var_tracker("x", "self.cache")
    def forward(self, x):
        x = self.linear(x)
        self.cache = x.detach()
        x = x.relu()
        return x


transform(2, True)
Model()(torch.ones(1, 30)).sum().backward()
