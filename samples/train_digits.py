"""Trains a small convolutional net on made-up digits, for a few seconds.

An ordinary training script that knows nothing of monitorch:

    python samples/train_digits.py
    python -m monitorch run -o digits.mtrace samples/train_digits.py --steps 5
    monitorch graph digits.mtrace -o digits.svg
"""

import argparse

import torch
from torch import nn
from torch.nn import functional

STROKES = (
    "abcdef bc abged abgcd fgbc afgcd afgedc abc abcdefg abcdfg"  # of seven-segment digits
).split()
SEGMENTS = {
    "a": (slice(1, 2), slice(3, 9)),
    "b": (slice(2, 6), slice(9, 10)),
    "c": (slice(6, 10), slice(9, 10)),
    "d": (slice(10, 11), slice(3, 9)),
    "e": (slice(6, 10), slice(2, 3)),
    "f": (slice(2, 6), slice(2, 3)),
    "g": (slice(6, 7), slice(3, 9)),
}


def draw_digits():
    """The ten digits, 12 by 12 pixels."""
    digits = torch.zeros(10, 12, 12)
    for digit, strokes in zip(digits, STROKES):
        for stroke in strokes:
            digit[SEGMENTS[stroke]] = 1
    return digits


def make_batch(digits, size, generator):
    """Digits moved by a pixel at most, with noise."""
    labels = torch.randint(0, 10, (size,), generator=generator)
    moves = torch.randint(-1, 2, (size, 2), generator=generator).tolist()
    images = torch.stack(
        [digits[label].roll(move, (0, 1)) for label, move in zip(labels.tolist(), moves)]
    )
    noise = torch.randn(images.shape, generator=generator)
    return (images + 0.4 * noise).unsqueeze(1), labels


class Reader(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, 2 * channels, 3, padding=1)
        self.head = nn.Linear(2 * channels * 9, 10)

    def forward(self, images):
        x = functional.max_pool2d(self.first(images).relu(), 2)
        x = functional.max_pool2d(self.second(x).relu(), 2)
        return self.head(x.flatten(1))


def train(model, steps, batch_size):
    digits = draw_digits()
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(steps):
        images, labels = make_batch(digits, batch_size, generator)
        scores = model(images)
        loss = functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 24 or step == steps - 1:
            right = (scores.argmax(dim=1) == labels).float().mean()
            print(f"step {step + 1:4}: loss {loss.item():.3f}, {right.item():.0%} right")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch", type=int, default=128)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    train(Reader(), arguments.steps, arguments.batch)


if __name__ == "__main__":
    main()
