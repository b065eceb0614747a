"""The loss of a variational autoencoder, in two steps of training."""

import torch
from torch import nn
from torch.nn import functional


class Autoencoder(nn.Module):
    def __init__(self, pixels=36, hidden=24, latent=4):
        super().__init__()
        self.latent = latent
        self.read = nn.Linear(pixels, hidden)
        self.code = nn.Linear(hidden, 2 * latent)
        self.write = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels)
        )

    def forward(self, images):
        hidden = self.read(images).relu()
        code = self.code(hidden)
        mean = code[:, : self.latent]
        deviation = (0.5 * code[:, self.latent :]).exp()
        noise = torch.randn_like(mean)
        sample = mean.add_(deviation * noise)
        image = self.write(sample).sigmoid()
        return image, code


def loss_of(images, image, code):
    mean, log_variance = code.chunk(2, dim=-1)
    missed = functional.binary_cross_entropy(image, images, reduction="sum")
    divergence = 0.5 * (mean.pow(2) + log_variance.exp() - 1 - log_variance).sum()
    return (missed + divergence) / len(images)


def main():
    torch.manual_seed(0)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = (torch.rand(8, 36) > 0.7).float()
    for step in range(2):
        image, code = model(images)
        loss = loss_of(images, image, code)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
