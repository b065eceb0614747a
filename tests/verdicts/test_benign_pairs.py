"""Edits that change no result: other attention kernels, batches and padding, a cache, helpers inlined and extracted,
loops vectorised, renamed classes, other orders of lines and threads. `monitorch diff` raises no alarm, in either
direction."""

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

BASE = '''
import torch
from torch import nn


class Config:
    width = 8
    heads = 2
    layers = 2
    eps = 1e-5


def rotate(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.size = config.width // config.heads
        self.q = nn.Linear(config.width, config.width)
        self.k = nn.Linear(config.width, config.width)
        self.v = nn.Linear(config.width, config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x, mask=None):
        n, t, c = x.shape
        q = self.q(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(n, t, self.heads, self.size).transpose(1, 2)
        v = self.v(x).view(n, t, self.heads, self.size).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) * self.size**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1)
        y = weights @ v
        y = y.transpose(1, 2).reshape(n, t, c)
        return self.out(y)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width, eps=config.eps)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.width, eps=config.eps)
        self.up = nn.Linear(config.width, 2 * config.width)
        self.down = nn.Linear(2 * config.width, config.width)

    def forward(self, x, mask=None):
        h = self.norm1(x)
        x = x + self.attention(h, mask)
        h = self.norm2(x)
        h = self.up(h)
        h = h * torch.sigmoid(h)
        x = x + self.down(h)
        return x


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(16, config.width)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.head = nn.Linear(config.width, 16)

    def forward(self, ids):
        t = ids.shape[1]
        mask = torch.ones(t, t).tril()
        x = self.table(ids)
        for block in self.blocks:
            x = block(x, mask)
        logits = self.head(x)
        return logits


def loss_of(logits, ids):
    total = 0.0
    for row in range(logits.shape[0]):
        total = total + nn.functional.cross_entropy(logits[row, :-1], ids[row, 1:])
    return total / logits.shape[0]


def main():
    torch.manual_seed(0)
    model = Model(Config())
    ids = torch.randint(16, (2, 5))
    logits = model(ids)
    loss = loss_of(logits, ids)
    return loss


value = main()
'''
PAIRS = {}


def pair(name, *changes, good=BASE, words=()):
    bad = good
    for old, new in changes:
        assert old in bad, (name, old)
        bad = bad.replace(old, new)
    PAIRS[name] = (good, bad, words)


SDPA = ('''        scores = q @ k.transpose(-2, -1) * self.size**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1)
        y = weights @ v
''', '''        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.bool())
''')
pair("sdpa", SDPA)
pair("sdpa_causal", (SDPA[0], "        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)\n"))
pair("einsum", ("scores = q @ k.transpose(-2, -1) * self.size**-0.5", 'scores = torch.einsum("nhqd,nhkd->nhqk", q, k) * self.size**-0.5'), ("y = weights @ v", 'y = torch.einsum("nhqk,nhkd->nhqd", weights, v)'))
pair("additive_mask", ('''            scores = scores.masked_fill(mask == 0, float("-inf"))
''', '''            bias = torch.zeros_like(mask).masked_fill(mask == 0, float("-inf"))
            scores = scores + bias
'''))
pair("scale_before", ("scores = q @ k.transpose(-2, -1) * self.size**-0.5", "scores = (q * self.size**-0.5) @ k.transpose(-2, -1)"))
pair("packed_qkv", ('''        q = self.q(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(n, t, self.heads, self.size).transpose(1, 2)
        v = self.v(x).view(n, t, self.heads, self.size).transpose(1, 2)
''', '''        weight = torch.cat((self.q.weight, self.k.weight, self.v.weight))
        bias = torch.cat((self.q.bias, self.k.bias, self.v.bias))
        q, k, v = nn.functional.linear(x, weight, bias).view(n, t, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
'''))
pair("helper_extracted", ('''        q = self.q(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(n, t, self.heads, self.size).transpose(1, 2)
        v = self.v(x).view(n, t, self.heads, self.size).transpose(1, 2)
''', '''        q = self.split(self.q(x))
        k = self.split(self.k(x))
        v = self.split(self.v(x))
'''), ("    def forward(self, x, mask=None):\n        n, t, c", '''    def split(self, x):
        n, t, c = x.shape
        return x.view(n, t, self.heads, self.size).transpose(1, 2)

    def forward(self, x, mask=None):
        n, t, c'''))
pair("helper_inlined", ('''    loss = loss_of(logits, ids)
''', '''    total = 0.0
    for row in range(logits.shape[0]):
        total = total + nn.functional.cross_entropy(logits[row, :-1], ids[row, 1:])
    loss = total / logits.shape[0]
'''))
pair("loop_vectorised", ('''    total = 0.0
    for row in range(logits.shape[0]):
        total = total + nn.functional.cross_entropy(logits[row, :-1], ids[row, 1:])
    return total / logits.shape[0]
''', '''    return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
'''))
pair("renamed_classes", ("Attention", "SelfAttention"), ("class Block", "class DecoderLayer"), ("[Block(", "[DecoderLayer("))
pair("renamed_variables", ("weights", "probabilities"), ("scores", "logits_of_keys"))
pair("independent_lines_swapped", ('''        k = self.k(x).view(n, t, self.heads, self.size).transpose(1, 2)
        v = self.v(x).view(n, t, self.heads, self.size).transpose(1, 2)
''', '''        v = self.v(x).view(n, t, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(n, t, self.heads, self.size).transpose(1, 2)
'''))
pair("silu", ("        h = h * torch.sigmoid(h)\n", "        h = nn.functional.silu(h)\n"))
pair("one_line", ('''        h = self.norm2(x)
        h = self.up(h)
        h = h * torch.sigmoid(h)
        x = x + self.down(h)
        return x
''', '''        h = nn.functional.silu(self.up(self.norm2(x)))
        return x + self.down(h)
'''))
pair("condition_turned", ('''        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1)
''', '''        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(mask == 0, float("-inf")).softmax(-1)
'''))
pair("checks_added", ("        t = ids.shape[1]\n", '''        t = ids.shape[1]
        assert ids.max() < 16, "unknown token"
        largest = ids.max().item()
        print(f"largest id {largest}")
'''))
pair("norm_by_hand", ("        h = self.norm2(x)\n", '''        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).pow(2).mean(-1, keepdim=True)
        h = (x - mean) * torch.rsqrt(variance + self.norm2.eps) * self.norm2.weight + self.norm2.bias
'''))
pair("batch_row_by_row", ("    logits = model(ids)\n", '''    logits = torch.cat([model(row[None]) for row in ids])
'''))
pair("padded", ("    logits = model(ids)\n", '''    padded = nn.functional.pad(ids, (0, 2))
    logits = model(padded)[:, :5]
'''))
pair("checkpoint", ("            x = block(x, mask)\n", '''            x = torch.utils.checkpoint.checkpoint(block, x, mask, use_reentrant=False)
'''), ("from torch import nn\n", "import torch.utils.checkpoint\nfrom torch import nn\n"))
pair("in_place", ("        x = x + self.down(h)\n", "        x += self.down(h)\n"))
pair("positional_keyword", ("block(x, mask)", "block(x=x, mask=mask)"))
pair("moved_functions", (BASE[BASE.index("def loss_of"):BASE.index("def main")], ""), ("def rotate", BASE[BASE.index("def loss_of"):BASE.index("def main")] + "def rotate"))
pair("enumerate_loop", ("        for block in self.blocks:\n            x = block(x, mask)\n", "        for number in range(len(self.blocks)):\n            x = self.blocks[number](x, mask)\n"))
pair("timed", ("    logits = model(ids)\n", '''    begin = time.perf_counter()
    logits = model(ids)
    spent = time.perf_counter() - begin
'''), ("import torch\n", "import time\n\nimport torch\n"))
CACHE = '''
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, cache=None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if cache is not None:
            k = torch.cat((cache[0], k), 1)
            v = torch.cat((cache[1], v), 1)
        weights = (q @ k.transpose(1, 2)).softmax(-1)
        return weights @ v, (k, v)


def generate(net, x, steps):
    for step in range(steps):
        y, _ = net(x)
        last = y[:, -1:]
        x = torch.cat((x, last), 1)
    return x


torch.manual_seed(0)
net = Attention()
out = generate(net, torch.randn(1, 3, 8), 3)
'''
pair("cache", ('''    for step in range(steps):
        y, _ = net(x)
        last = y[:, -1:]
        x = torch.cat((x, last), 1)
''', '''    cache, new = None, x
    for step in range(steps):
        y, cache = net(new, cache)
        last = y[:, -1:]
        x = torch.cat((x, last), 1)
        new = last
'''), good=CACHE)
pair("bf16", ("    model = Model(Config())\n", "    model = Model(Config()).bfloat16()\n"), words=["--across-precisions"])
THREADS = '''
import threading

import torch


def work(number, results):
    x = torch.full((3,), float(number))
    y = x * 2
    results[number] = y.sum()


results = [None, None, None]
threads = [threading.Thread(target=work, args=(n, results)) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
total = sum(results[n] for n in range(3))
'''
pair("threads", ("for thread in threads:\n    thread.start()", "for thread in reversed(threads):\n    thread.start()"), good=THREADS)

# One of each kind is quick enough for every run.
QUICK = ["sdpa", "cache", "threads", "helper_inlined", "loop_vectorised", "one_line"]


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """Gives the trace of a text."""
    known = {}

    def of(text):
        if text not in known:
            folder = tmp_path_factory.mktemp("benign")
            (folder / "prog.py").write_text(text.lstrip("\n"))
            done = forked_runs.run(folder, ["monitorch", "run", "-q", "prog.py"])
            assert done.code == 0, done.output
            known[text] = folder / "run.mtrace"
        return known[text]

    return of


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PAIRS]
)
def test_no_alarm(record, name):
    good, bad, words = PAIRS[name]
    for traces in ((good, bad), (bad, good)):
        done = viewer.run("diff", *map(record, traces), *words)
        assert done.returncode == 0 and done.stdout.startswith("equal: "), done.stdout
