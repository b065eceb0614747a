"""Another attention kernel in a training: AdamW makes large steps of rounding in the gradient of the keys' bias,
and a softmax brings back what they change."""

MODEL = r"""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(c, 3 * c)
        self.out = nn.Linear(c, c)
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, 2)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
@ATT
        y = y.transpose(1, 2).reshape(b, t, c)
        y = self.out(y)
        return y
class Block(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(c, eps=1e-5)
        self.attention = Attention(c, heads)
        self.norm2 = nn.LayerNorm(c)
        self.up = nn.Linear(c, 4 * c)
        self.down = nn.Linear(4 * c, c)
    def forward(self, x):
        h = self.norm1(x)
        h = self.attention(h)
        x = x + h
        h = self.norm2(x)
        h = F.gelu(self.up(h))
        x = x + self.down(h)
        return x
class GPT(nn.Module):
    def __init__(self, vocab=40, c=32, heads=4, layers=1):
        super().__init__()
        self.table = nn.Embedding(vocab, c)
        self.blocks = nn.ModuleList([Block(c, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(c)
        self.head = nn.Linear(c, vocab)
    def forward(self, ids):
        x = self.table(ids)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        logits = self.head(x)
        return logits
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    g = torch.Generator().manual_seed(step)
    ids = torch.randint(0, 40, (4, 17), generator=g)
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 40), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

EAGER = """\
        t_mask = torch.ones(t, t, dtype=torch.bool).tril()
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5
        scores = scores.masked_fill(~t_mask, float("-inf"))
        w = scores.softmax(-1)
        y = w @ v
"""

GOOD = MODEL.replace("@ATT\n", EAGER)
BAD = MODEL.replace("@ATT", "        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)")
