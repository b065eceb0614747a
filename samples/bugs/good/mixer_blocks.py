"""An MLP mixer: patches of an image, mixed over places and over channels in turns."""

import torch
from torch import nn
from torch.nn import functional


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.grow = nn.Linear(width, hidden)
        self.shrink = nn.Linear(hidden, width)

    def forward(self, x):
        return self.shrink(functional.gelu(self.grow(x)))


class MixerBlock(nn.Module):
    def __init__(self, places, channels):
        super().__init__()
        self.norm_places = nn.LayerNorm(channels)
        self.mix_places = Mlp(places, 2 * places)
        self.norm_channels = nn.LayerNorm(channels)
        self.mix_channels = Mlp(channels, 2 * channels)

    def forward(self, x):
        normed = self.norm_places(x)
        mixed = self.mix_places(normed.transpose(1, 2)).transpose(1, 2)
        x = x + mixed
        normed = self.norm_channels(x)
        mixed = self.mix_channels(normed)
        x = x + mixed
        return x


class Mixer(nn.Module):
    def __init__(self, channels=16, patch=4, size=16, depth=3, classes=4):
        super().__init__()
        self.patches = nn.Conv2d(3, channels, patch, stride=patch)
        places = (size // patch) ** 2
        self.blocks = nn.ModuleList(MixerBlock(places, channels) for _ in range(depth))
        self.head = nn.Linear(channels, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1))


def main():
    torch.manual_seed(0)
    model = Mixer().eval()
    images = torch.rand(2, 3, 16, 16)
    with torch.no_grad():
        scores = model(images)
    print("classes", scores.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
