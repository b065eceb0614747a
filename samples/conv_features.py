"""Edges of two small pictures found by convolution: tensors of four dimensions.

Shows how values of more than two dimensions are told: slices, labelled by their leading indices.

    python samples/conv_features.py       # writes monitorch_outputs/conv_features.svg
"""

import monitorch
import torch
from torch.nn import functional

KERNELS = torch.tensor(
    [
        [[[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]],  # upright edges
        [[[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]],  # level edges
    ]
)


def make_images():
    """A filled square and a triangle, 8 by 8 pixels, one channel."""
    square = torch.zeros(8, 8)
    square[2:6, 2:6] = 1
    return torch.stack([square, torch.ones(8, 8).tril()]).unsqueeze(1)


def find_features(images):
    edges = functional.conv2d(images, KERNELS, padding=1)
    strength = edges.abs()
    pooled = functional.max_pool2d(strength, 2)
    channels = pooled.mean(dim=(2, 3))
    return channels


if __name__ == "__main__":
    images = make_images()
    monitorch.on(show=False, save=True)
    channels = find_features(images)
    monitorch.off(filename="conv_features.svg")
