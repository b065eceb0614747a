"""Where something moves in a film: differences of its frames, and a convolutional net."""

import torch
from torch import nn
from torch.nn import functional


def make_film(length=5, size=16):
    """A bright square that wanders over a grey ground."""
    film = torch.full((length, 1, size, size), 90, dtype=torch.uint8)
    for time in range(length):
        left = 2 + 2 * time
        film[time, 0, 5:9, left : left + 4] = 200
    return film


def motion_of(film):
    before, after = film[:-1], film[1:]
    motion = after.float() - before.float()
    strength = motion.abs() / 255
    return strength


class Finder(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, strength):
        x = self.norm(self.first(strength)).relu()
        x = functional.avg_pool2d(x, 2)
        heat = self.second(x)
        return heat.flatten(1).softmax(dim=-1)


def main():
    torch.manual_seed(0)
    finder = Finder().eval()
    film = make_film()
    with torch.no_grad():
        strength = motion_of(film)
        heat = finder(strength)
    print("hottest places", heat.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
