# Spy names.
import torch

class Attention(torch.nn.Module):
    def forward(self, x):
        q, k, v = self.split(x)
        q = q * self.scale
        weights = q @ k
        return weights @ v
