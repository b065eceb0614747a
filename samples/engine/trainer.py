"""A small GPT as it is trained, in evaluation mode: all tokens at once, dropout off."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_out = nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.c_attn(self.ln_1(x)).chunk(3, dim=-1)
        y = F.scaled_dot_product_attention(
            self.split(q), self.split(k), self.split(v), is_causal=True
        )
        y = y.transpose(1, 2).reshape(x.shape)
        x = x + self.drop(self.c_proj(y))
        h = F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
        return x + self.drop(self.c_out(h))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(50, 32)
        self.wpe = nn.Embedding(16, 32)
        self.h = nn.ModuleList(Block(32, 4) for _ in range(2))
        self.ln_f = nn.LayerNorm(32)

    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        layers = []
        for block in self.h:
            x = block(x)
            layers.append(x)
        return layers, self.ln_f(x) @ self.wte.weight.T


torch.manual_seed(0)
model = GPT().eval()
weights = model.state_dict()
idx = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    layers, logits = model(idx)
if __name__ == "__main__":
    torch.save((weights, idx), "checkpoint.pt")
