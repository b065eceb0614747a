"""A decoder with rotary embeddings: pairs of neighbours as complex numbers, and halves that are rotated."""

from tests.verdicts.ports.bugs import Bug

WEIGHTS = """
import torch

g = torch.Generator().manual_seed(1)


def draw(*shape, scale=0.2):
    return torch.randn(*shape, generator=g) * scale


def weights():
    w = {"tok_embeddings.weight": draw(40, 32, scale=0.05)}
    for i in range(2):
        p = f"layers.{i}."
        w[p + "attention.wq.weight"] = draw(32, 32)
        w[p + "attention.wk.weight"] = draw(16, 32)
        w[p + "attention.wv.weight"] = draw(16, 32)
        w[p + "attention.wo.weight"] = draw(32, 32)
        w[p + "feed_forward.w1.weight"] = draw(48, 32)
        w[p + "feed_forward.w2.weight"] = draw(32, 48)
        w[p + "feed_forward.w3.weight"] = draw(48, 32)
        w[p + "attention_norm.weight"] = 1 + draw(32)
        w[p + "ffn_norm.weight"] = 1 + draw(32)
    w["norm.weight"] = 1 + draw(32)
    w["output.weight"] = draw(40, 32)
    return w, torch.randint(40, (2, 7), generator=g)
"""

REFERENCE = """
import torch
from torch import nn
import torch.nn.functional as F


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end)
    freqs = torch.outer(t, freqs).float()
    freqs_cis = torch.polar(torch.ones_like(freqs), freqs)
    return freqs_cis


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float()).type_as(x)
        return output * self.weight


class Attention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)

    def forward(self, x, freqs_cis, mask):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        xq = xq.view(bsz, seqlen, self.n_heads, self.head_dim)
        xk = xk.view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xv = xv.view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis)
        keys = xk.repeat_interleave(self.n_heads // self.n_kv_heads, dim=2)
        values = xv.repeat_interleave(self.n_heads // self.n_kv_heads, dim=2)
        xq, keys, values = xq.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / self.head_dim**0.5
        scores = F.softmax((scores + mask).float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values)
        output = output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden_dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, hidden_dim):
        super().__init__()
        self.attention = Attention(dim, n_heads, n_kv_heads)
        self.feed_forward = FeedForward(dim, hidden_dim)
        self.attention_norm = RMSNorm(dim)
        self.ffn_norm = RMSNorm(dim)

    def forward(self, x, freqs_cis, mask):
        h = x + self.attention(self.attention_norm(x), freqs_cis, mask)
        out = h + self.feed_forward(self.ffn_norm(h))
        return out


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(40, 32)
        self.layers = nn.ModuleList([TransformerBlock(32, 4, 2, 48) for _ in range(2)])
        self.norm = RMSNorm(32)
        self.output = nn.Linear(32, 40, bias=False)
        self.freqs_cis = precompute_freqs_cis(8, 64)

    def forward(self, tokens):
        _, seqlen = tokens.shape
        h = self.tok_embeddings(tokens)
        freqs_cis = self.freqs_cis[:seqlen]
        mask = torch.full((seqlen, seqlen), float("-inf"))
        mask = torch.triu(mask, diagonal=1)
        for layer in self.layers:
            h = layer(h, freqs_cis, mask)
        h = self.norm(h)
        return self.output(h).float()


model = Transformer().eval()
state, tokens = torch.load("checkpoint.pt")
model.load_state_dict(state)
weights = model.state_dict()
with torch.no_grad():
    logits = model(tokens)
"""

PORT = """
import math
import torch
from torch import nn


class Config:
    hidden_size = 32
    num_heads = 4
    num_kv_heads = 2
    intermediate_size = 48
    vocab_size = 40
    rope_theta = 10000.0
    rms_norm_eps = 1e-6


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, position_ids):
        angles = position_ids[:, None].float() * self.inv_freq[None, :]
        emb = torch.cat((angles, angles), dim=-1)
        return emb.cos(), emb.sin()


class LlamaRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states


class LlamaMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        gate = self.act_fn(self.gate_proj(x))
        up = self.up_proj(x)
        return self.down_proj(gate * up)


class LlamaAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_heads
        self.groups = config.num_heads // config.num_kv_heads
        self.head_dim = config.hidden_size // config.num_heads
        kv_size = config.num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, kv_size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, kv_size, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def heads(self, x):
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

    def forward(self, hidden_states, cos, sin):
        query_states = self.heads(self.q_proj(hidden_states))
        key_states = self.heads(self.k_proj(hidden_states))
        value_states = self.heads(self.v_proj(hidden_states))
        query_states = query_states * cos + rotate_half(query_states) * sin
        key_states = key_states * cos + rotate_half(key_states) * sin
        key_states = key_states[:, :, None].expand(-1, -1, self.groups, -1, -1).flatten(1, 2)
        value_states = value_states[:, :, None].expand(-1, -1, self.groups, -1, -1).flatten(1, 2)
        attn_weights = query_states @ key_states.mT
        attn_weights = attn_weights * (1 / math.sqrt(self.head_dim))
        length = hidden_states.shape[1]
        allowed = torch.ones(length, length, dtype=torch.bool).tril()
        attn_weights = attn_weights.masked_fill(~allowed, float("-inf"))
        attn_weights = nn.functional.softmax(attn_weights, dim=-1)
        attn_output = attn_weights @ value_states
        attn_output = attn_output.transpose(1, 2).flatten(2)
        return self.o_proj(attn_output)


class LlamaDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = LlamaAttention(config)
        self.mlp = LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, hidden_states, cos, sin):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states = self.self_attn(hidden_states, cos, sin)
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        hidden_states = self.mlp(hidden_states)
        hidden_states = residual + hidden_states
        return hidden_states


class LlamaForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.rotary_emb = RotaryEmbedding(config.hidden_size // config.num_heads, config.rope_theta)
        self.layers = nn.ModuleList(LlamaDecoderLayer(config) for _ in range(2))
        self.norm = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        position_ids = torch.arange(input_ids.shape[1])
        cos, sin = self.rotary_emb(position_ids)
        for decoder_layer in self.layers:
            hidden_states = decoder_layer(hidden_states, cos, sin)
        hidden_states = self.norm(hidden_states)
        return self.lm_head(hidden_states)


def permute(weight, heads):
    rows, columns = weight.shape
    pairs = weight.view(heads, rows // heads // 2, 2, columns)
    return pairs.transpose(1, 2).reshape(rows, columns)


def convert(state, config):
    new = {"embed_tokens.weight": state["tok_embeddings.weight"]}
    new["norm.weight"] = state["norm.weight"]
    new["lm_head.weight"] = state["output.weight"]
    for i in range(2):
        old, layer = f"layers.{i}.", f"layers.{i}."
        new[layer + "self_attn.q_proj.weight"] = permute(state[old + "attention.wq.weight"], config.num_heads)
        new[layer + "self_attn.k_proj.weight"] = permute(state[old + "attention.wk.weight"], config.num_kv_heads)
        new[layer + "self_attn.v_proj.weight"] = state[old + "attention.wv.weight"]
        new[layer + "self_attn.o_proj.weight"] = state[old + "attention.wo.weight"]
        new[layer + "mlp.gate_proj.weight"] = state[old + "feed_forward.w1.weight"]
        new[layer + "mlp.down_proj.weight"] = state[old + "feed_forward.w2.weight"]
        new[layer + "mlp.up_proj.weight"] = state[old + "feed_forward.w3.weight"]
        new[layer + "input_layernorm.weight"] = state[old + "attention_norm.weight"]
        new[layer + "post_attention_layernorm.weight"] = state[old + "ffn_norm.weight"]
    return new


config = Config()
port = LlamaForCausalLM(config).eval()
checkpoint, input_ids = torch.load("checkpoint.pt")
port.load_state_dict(convert(checkpoint, config), strict=False)
loaded = port.state_dict()
with torch.inference_mode():
    result = port(input_ids)
"""

BUGS = [
    Bug("eps", "rms_norm_eps = 1e-6", "rms_norm_eps = 1e-3"),
    Bug("theta", "rope_theta = 10000.0", "rope_theta = 1000.0"),
    Bug("rotation_sign", "torch.cat((-x2, x1), dim=-1)", "torch.cat((x2, -x1), dim=-1)"),
    Bug(
        "frequencies",
        "torch.arange(0, dim, 2).float() / dim)",
        "torch.arange(0, dim, 2).float() / (dim - 2))",
    ),
    Bug(
        "positions_from_1",
        "torch.arange(input_ids.shape[1])",
        "torch.arange(1, input_ids.shape[1] + 1) * 2",
    ),
    Bug(
        "q_not_permuted",
        'permute(state[old + "attention.wq.weight"], config.num_heads)',
        'state[old + "attention.wq.weight"]',
        weight="self_attn.q_proj.weight",
    ),
    Bug(
        "k_permuted_by_other_heads",
        'permute(state[old + "attention.wk.weight"], config.num_kv_heads)',
        'permute(state[old + "attention.wk.weight"], config.num_heads)',
        weight="self_attn.k_proj.weight",
    ),
    Bug(
        "k_and_v_swapped",
        'state[old + "attention.wv.weight"]',
        'state[old + "attention.wk.weight"]',
        weight="self_attn.v_proj.weight",
    ),
    Bug(
        "o_transposed",
        'state[old + "attention.wo.weight"]',
        'state[old + "attention.wo.weight"].T',
        weight="self_attn.o_proj.weight",
    ),
    Bug(
        "scale_missing",
        "        attn_weights = attn_weights * (1 / math.sqrt(self.head_dim))\n",
        "",
        at="attn_weights = query_states @ key_states.mT",
    ),
    Bug(
        "scale_of_hidden",
        "(1 / math.sqrt(self.head_dim))",
        "(1 / math.sqrt(self.num_heads * self.head_dim))",
    ),
    Bug("mask_diagonal", "dtype=torch.bool).tril()", "dtype=torch.bool).tril(1)"),
    Bug("activation", "self.act_fn = nn.SiLU()", "self.act_fn = nn.GELU()"),
    Bug(
        "gate_and_up_swapped",
        'state[old + "feed_forward.w1.weight"]',
        'state[old + "feed_forward.w3.weight"]',
        weight="mlp.gate_proj.weight",
    ),
    Bug(
        "residual_after_norm",
        "        residual = hidden_states\n        hidden_states = self.post_attention_layernorm(hidden_states)",
        "        hidden_states = self.post_attention_layernorm(hidden_states)\n        residual = hidden_states",
        at="residual = hidden_states",
        also="hidden_states = self.post_attention_layernorm(hidden_states)",
    ),
    Bug(
        "norm_weight_missing",
        "return self.weight * hidden_states",
        "return hidden_states",
        also="hidden_states = hidden_states * torch.rsqrt(",
    ),
    Bug(
        "norm_not_loaded",
        '        new[layer + "post_attention_layernorm.weight"] = state[old + "ffn_norm.weight"]\n',
        "",
        weight="post_attention_layernorm.weight",
    ),
]
