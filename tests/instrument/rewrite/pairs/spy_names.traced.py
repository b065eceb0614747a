# Spy names.
from monitorch.spy import spy_save; import torch

class Attention(torch.nn.Module):
    def forward(self, x):
        q, k, v = self.split(x); spy_save("q", q, self); spy_save("k", k, self); spy_save("v", v, self)
        q = q * self.scale; spy_save("q", q, self)
        weights = q @ k
        return weights @ v
