"""A small GPT, trained as a script does it: batches, evaluations, two micro-batches a step. The words are the number
of steps and, perhaps, the step before which a weight becomes NaN."""

import math
import sys

import torch
from torch import nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class CausalSelfAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.c_attn = nn.Linear(size, 3 * size)
        self.c_proj = nn.Linear(size, size)
        self.heads = heads
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        y = self.c_proj(y)
        return y


class MLP(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.c_fc = nn.Linear(size, 4 * size)
        self.c_proj = nn.Linear(4 * size, size)

    def forward(self, x):
        x = self.c_fc(x)
        x = F.gelu(x)
        x = self.c_proj(x)
        return x


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.ln_1 = LayerNorm(size)
        self.attn = CausalSelfAttention(size, heads)
        self.ln_2 = LayerNorm(size)
        self.mlp = MLP(size)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab=65, size=32, layers=4, heads=4, length=32):
        super().__init__()
        self.wte = nn.Embedding(vocab, size)
        self.wpe = nn.Embedding(length, size)
        self.h = nn.ModuleList([Block(size, heads) for _ in range(layers)])
        self.ln_f = LayerNorm(size)
        self.lm_head = nn.Linear(size, vocab, bias=False)
        self.wte.weight = self.lm_head.weight
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        pos = torch.arange(0, t, dtype=torch.long)
        tok_emb = self.wte(idx)
        pos_emb = self.wpe(pos)
        x = tok_emb + pos_emb
        for block in self.h:
            x = block(x)
        x = self.ln_f(x)
        if targets is not None:
            logits = self.lm_head(x)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        else:
            logits = self.lm_head(x[:, [-1], :])
            loss = None
        return logits, loss

    def configure_optimizers(self, weight_decay, lr):
        decay = [p for p in self.parameters() if p.dim() >= 2]
        rest = [p for p in self.parameters() if p.dim() < 2]
        groups = [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=lr)


def get_batch(data, batch=4, length=16):
    ix = torch.randint(len(data) - length, (batch,))
    x = torch.stack([data[i : i + length] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + length] for i in ix])
    return x, y


@torch.no_grad()
def estimate_loss(model, data):
    model.eval()
    losses = torch.zeros(2)
    for k in range(2):
        X, Y = get_batch(data)
        logits, loss = model(X, Y)
        losses[k] = loss.item()
    model.train()
    return losses.mean()


def get_lr(it):
    if it < 5:
        return 1e-3 * (it + 1) / 5
    return 1e-3 * 0.5 * (1 + math.cos(math.pi * it / 20))


def main(steps, broken):
    torch.manual_seed(0)
    data = torch.randint(0, 65, (1000,))
    model = GPT()
    optimizer = model.configure_optimizers(0.1, 1e-3)
    X, Y = get_batch(data)
    for it in range(steps):
        if it == broken:
            model.h[2].mlp.c_fc.weight.data[0, 0] = math.nan
        lr = get_lr(it)
        for group in optimizer.param_groups:
            group["lr"] = lr
        if it % 10 == 0:
            val = estimate_loss(model, data)
            print(it, val)
        for micro in range(2):
            logits, loss = model(X, Y)
            loss = loss / 2
            X, Y = get_batch(data)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return model


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else -1)
