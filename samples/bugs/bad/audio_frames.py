"""Sound of two channels, cut into frames that overlap, their spectra, a convolutional net."""

import math

import torch
from torch import nn


def make_sound(length=480):
    """One row for each moment, as sound files have it; one column for each channel."""
    time = torch.arange(length) / 8000
    left = torch.sin(2 * math.pi * 440 * time)
    right = torch.sin(2 * math.pi * 660 * time)
    return torch.stack([left, right], dim=1)


def cut(channels, size=64, step=32):
    """The frames of each channel: views, nothing is copied."""
    count = (channels.shape[1] - size) // step + 1
    shape = (channels.shape[0], count, size)
    return channels.as_strided(shape, (channels.shape[1], step, 1))


def spectra_of(sound):
    channels = sound.t()
    frames = cut(channels)
    window = torch.hann_window(frames.shape[-1])
    spectra = torch.fft.rfft(frames * window).abs()
    return torch.log1p(spectra)


class Listener(nn.Module):
    def __init__(self, bands=33, classes=4):
        super().__init__()
        self.conv = nn.Conv1d(2 * bands, 16, 3)
        self.head = nn.Linear(16, classes)

    def forward(self, spectra):
        x = spectra.transpose(1, 2).flatten(0, 1)
        x = self.conv(x.unsqueeze(0)).relu()
        return self.head(x.mean(dim=-1))


def main():
    torch.manual_seed(0)
    listener = Listener().eval()
    sound = make_sound()
    with torch.no_grad():
        spectra = spectra_of(sound)
        scores = listener(spectra)
    print("class", scores.argmax().item())


if __name__ == "__main__":
    main()
