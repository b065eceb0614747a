"""Two encoders in one space: a module as in the paper, with packed attention; functions over a flat dict, with names of their own. Held back."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(21)


def draw(*shape, scale=0.25):
    return torch.randn(*shape, generator=g) * scale


def block(w, name, width):
    w[name + ".ln_1.weight"], w[name + ".ln_1.bias"] = 1 + draw(width), draw(width)
    w[name + ".attn.in_proj_weight"], w[name + ".attn.in_proj_bias"] = draw(3 * width, width), draw(3 * width)
    w[name + ".attn.out_proj.weight"], w[name + ".attn.out_proj.bias"] = draw(width, width), draw(width)
    w[name + ".ln_2.weight"], w[name + ".ln_2.bias"] = 1 + draw(width), draw(width)
    w[name + ".mlp.c_fc.weight"], w[name + ".mlp.c_fc.bias"] = draw(2 * width, width), draw(2 * width)
    w[name + ".mlp.c_proj.weight"], w[name + ".mlp.c_proj.bias"] = draw(width, 2 * width), draw(width)


def weights():
    w = {"visual.conv1.weight": draw(16, 3, 4, 4), "visual.class_embedding": draw(16)}
    w["visual.positional_embedding"] = draw(10, 16)
    w["visual.ln_pre.weight"], w["visual.ln_pre.bias"] = 1 + draw(16), draw(16)
    block(w, "visual.block", 16)
    w["visual.ln_post.weight"], w["visual.ln_post.bias"] = 1 + draw(16), draw(16)
    w["visual.proj"] = draw(16, 12)
    w["token_embedding.weight"], w["positional_embedding"] = draw(40, 20), draw(7, 20)
    block(w, "text", 20)
    w["ln_final.weight"], w["ln_final.bias"] = 1 + draw(20), draw(20)
    w["text_projection"], w["logit_scale"] = draw(20, 12), torch.tensor([1.3])
    tokens = torch.randint(1, 38, (3, 7), generator=g)
    tokens[0, 4], tokens[1, 6], tokens[2, 5] = 39, 39, 39
    return w, (torch.randn(3, 3, 12, 12, generator=g), tokens)
"""

REFERENCE = """
import torch
from torch import nn


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.zeros(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        qkv = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = qkv.chunk(3, dim=-1)
        q = q.view(b, n, self.heads, -1).transpose(1, 2)
        k = k.view(b, n, self.heads, -1).transpose(1, 2)
        v = v.view(b, n, self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5
        if mask is not None:
            scores = scores + mask
        weights = scores.softmax(dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, n, d)
        return self.out_proj(out)


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 2 * width)
        self.gelu = QuickGELU()
        self.c_proj = nn.Linear(2 * width, width)

    def forward(self, x):
        h = self.c_fc(x)
        h = self.gelu(h)
        return self.c_proj(h)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = SelfAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = MLP(width)

    def forward(self, x, mask=None):
        normed = self.ln_1(x)
        x = x + self.attn(normed, mask)
        normed = self.ln_2(x)
        x = x + self.mlp(normed)
        return x


class Visual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 4, stride=4, bias=False)
        self.class_embedding = nn.Parameter(torch.zeros(16))
        self.positional_embedding = nn.Parameter(torch.zeros(10, 16))
        self.ln_pre = nn.LayerNorm(16)
        self.block = Block(16, 2)
        self.ln_post = nn.LayerNorm(16)
        self.proj = nn.Parameter(torch.zeros(16, 12))

    def forward(self, x):
        x = self.conv1(x)
        x = x.flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(x.shape[0], 1, -1), x], dim=1)
        x = x + self.positional_embedding
        x = self.ln_pre(x)
        x = self.block(x)
        x = self.ln_post(x[:, 0])
        return x @ self.proj


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = Visual()
        self.token_embedding = nn.Embedding(40, 20)
        self.positional_embedding = nn.Parameter(torch.zeros(7, 20))
        self.text = Block(20, 4)
        self.ln_final = nn.LayerNorm(20)
        self.text_projection = nn.Parameter(torch.zeros(20, 12))
        self.logit_scale = nn.Parameter(torch.zeros(1))

    def encode_text(self, text):
        x = self.token_embedding(text)
        x = x + self.positional_embedding
        mask = torch.full((7, 7), float("-inf")).triu(1)
        x = self.text(x, mask)
        x = self.ln_final(x)
        x = x[torch.arange(x.shape[0]), text.argmax(dim=-1)]
        return x @ self.text_projection

    def forward(self, image, text):
        image_features = self.visual(image)
        text_features = self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        scale = self.logit_scale.exp()
        logits = scale * image_features @ text_features.t()
        return logits


clip = CLIP().eval()
state, (image, text) = torch.load("checkpoint.pt")
clip.load_state_dict(state)
weights = clip.state_dict()
with torch.no_grad():
    logits_per_image = clip(image, text)
"""

PORT = """
import torch
import torch.nn.functional as F


def standardise(x, p, name):
    return F.layer_norm(x, x.shape[-1:], p[f"{name}.gain"], p[f"{name}.shift"], eps=1e-5)


def project(x, p, name):
    return x @ p[f"{name}.kernel"] + p[f"{name}.bias"]


def mix(x, p, name, heads, causal):
    query = project(x, p, f"{name}.query").unflatten(-1, (heads, -1)).transpose(1, 2)
    key = project(x, p, f"{name}.key").unflatten(-1, (heads, -1)).transpose(1, 2)
    value = project(x, p, f"{name}.value").unflatten(-1, (heads, -1)).transpose(1, 2)
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
    mixed = mixed.transpose(1, 2).flatten(2)
    return project(mixed, p, f"{name}.merge")


def transform(x, p, name, heads, causal=False):
    inner = standardise(x, p, f"{name}.first")
    x = x + mix(inner, p, name, heads, causal)
    inner = standardise(x, p, f"{name}.second")
    inner = project(inner, p, f"{name}.up")
    inner = inner * torch.sigmoid(inner * 1.702)
    inner = project(inner, p, f"{name}.down")
    return x + inner


def see(p, pixels):
    patches = pixels.unfold(2, 4, 4).unfold(3, 4, 4)
    patches = patches.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
    tokens = patches @ p["eye.patch"]
    first = p["eye.class"].repeat(len(tokens), 1, 1)
    tokens = torch.cat((first, tokens), 1) + p["eye.places"]
    tokens = standardise(tokens, p, "eye.before")
    tokens = transform(tokens, p, "eye.layer", 2)
    summary = standardise(tokens[:, 0], p, "eye.after")
    return summary @ p["eye.space"]


def read(p, words):
    tokens = p["ear.table"][words] + p["ear.places"]
    tokens = transform(tokens, p, "ear.layer", 4, causal=True)
    tokens = standardise(tokens, p, "ear.after")
    last = words.argmax(-1)
    summary = tokens.gather(1, last[:, None, None].expand(-1, 1, 20))[:, 0]
    return summary @ p["ear.space"]


def compare(p, pixels, words):
    seen = see(p, pixels)
    said = read(p, words)
    seen = F.normalize(seen, dim=-1)
    said = F.normalize(said, dim=-1)
    alike = torch.einsum("id,td->it", seen, said)
    return alike * p["warmth"].exp()


def convert_layer(old, at, to, new):
    q, k, v = old[at + ".attn.in_proj_weight"].chunk(3)
    bq, bk, bv = old[at + ".attn.in_proj_bias"].chunk(3)
    for name, kernel, bias in (("query", q, bq), ("key", k, bk), ("value", v, bv)):
        new[f"{to}.{name}.kernel"], new[f"{to}.{name}.bias"] = kernel.T, bias
    for name, part in (("merge", "attn.out_proj"), ("up", "mlp.c_fc"), ("down", "mlp.c_proj")):
        new[f"{to}.{name}.kernel"] = old[f"{at}.{part}.weight"].T
        new[f"{to}.{name}.bias"] = old[f"{at}.{part}.bias"]
    convert_norm(old, at + ".ln_1", to + ".first", new)
    convert_norm(old, at + ".ln_2", to + ".second", new)


def convert_norm(old, at, to, new):
    new[to + ".gain"] = old[at + ".weight"]
    new[to + ".shift"] = old[at + ".bias"]


def convert(old):
    new = {"eye.patch": old["visual.conv1.weight"].flatten(1).T}
    new["eye.class"] = old["visual.class_embedding"]
    new["eye.places"] = old["visual.positional_embedding"]
    convert_norm(old, "visual.ln_pre", "eye.before", new)
    convert_layer(old, "visual.block", "eye.layer", new)
    convert_norm(old, "visual.ln_post", "eye.after", new)
    new["eye.space"] = old["visual.proj"]
    new["ear.table"] = old["token_embedding.weight"]
    new["ear.places"] = old["positional_embedding"]
    convert_layer(old, "text", "ear.layer", new)
    convert_norm(old, "ln_final", "ear.after", new)
    new["ear.space"] = old["text_projection"]
    new["warmth"] = old["logit_scale"]
    return new


old, (pixels, words) = torch.load("checkpoint.pt")
params = convert(old)
with torch.no_grad():
    answer = compare(params, pixels, words)
"""

BUGS = [
    Bug("eps", "eps=1e-5)", "eps=1e-2)"),
    Bug(
        "query_and_key_swapped",
        '(("query", q, bq), ("key", k, bk)',
        '(("query", k, bq), ("key", q, bk)',
        weight="eye.layer.query.kernel",
    ),
    Bug(
        "kernel_not_transposed",
        "= kernel.T, bias",
        "= kernel, bias",
        weight="eye.layer.query.kernel",
    ),
    Bug(
        "not_causal",
        'transform(tokens, p, "ear.layer", 4, causal=True)',
        'transform(tokens, p, "ear.layer", 4)',
    ),
    Bug("sigmoid_without_factor", "torch.sigmoid(inner * 1.702)", "torch.sigmoid(inner)"),
    Bug("heads_of_the_eye", '"eye.layer", 2)', '"eye.layer", 4)'),
    Bug(
        "norm_before_left_out",
        '    tokens = standardise(tokens, p, "eye.before")\n',
        "",
        at='tokens = transform(tokens, p, "eye.layer"',
        also="tokens = torch.cat((first",
    ),
    Bug("summary_of_the_last", "standardise(tokens[:, 0]", "standardise(tokens[:, -1]"),
    Bug("class_behind", "torch.cat((first, tokens), 1)", "torch.cat((tokens, first), 1)"),
    Bug("places_left_out", 'p["ear.table"][words] + p["ear.places"]', 'p["ear.table"][words]'),
    Bug(
        "not_normalised",
        "    said = F.normalize(said, dim=-1)\n",
        "",
        at="alike = torch.einsum",
        also="said = read(p, words)",
    ),
    Bug("scale_not_exp", 'p["warmth"].exp()', 'p["warmth"]'),
    Bug(
        "spaces_permuted",
        'new["ear.space"] = old["text_projection"]',
        'new["ear.space"] = old["text_projection"].flip(0)',
        weight="ear.space",
    ),
    Bug(
        "merge_bias_of_up",
        'old[f"{at}.{part}.bias"]',
        'old[f"{at}.mlp.c_proj.bias"] if name == "merge" else old[f"{at}.{part}.bias"]',
        weight="eye.layer.merge.bias",
    ),
]
