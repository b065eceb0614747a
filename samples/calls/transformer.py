"""A transformer that writes, and which of its modules are called, in which order.

The blocks are alike: `blocks x 4` is one box in the picture of the calls, whichever of them ran.

    python samples/calls/transformer.py       # writes monitorch_outputs/transformer.txt and .png
    monitorch calls monitorch_outputs/transformer.txt
"""

import torch
from monitorch.spy import CallTracer, build_tree, construct_graph, render_graph
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Writer(nn.Module):
    def __init__(self, letters=60, width=32, heads=4, depth=4, longest=64):
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters)

    def forward(self, text):
        x = self.letters(text) + self.places(torch.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def main():
    torch.manual_seed(0)
    model = Writer()
    tracer = CallTracer("monitorch_outputs")
    tracer.register_hooks(model, shapes=True)
    with tracer, torch.no_grad():
        model(torch.randint(0, 60, (2, 16)))
    tracer.save_trace("transformer.txt")
    graph = construct_graph(build_tree(tracer.get_trace()), prune_leaves_flag=False)
    print(render_graph(graph, "monitorch_outputs/transformer.png"))


if __name__ == "__main__":
    main()
