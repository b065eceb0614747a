"""A small Llama that generates greedily with a cache, written as transformers writes it."""

import torch
from torch import nn


class Cache:
    """Keys and values of each layer."""

    def __init__(self):
        self.keys, self.values = {}, {}

    def update(self, key, value, layer):
        if layer in self.keys:
            key = torch.cat([self.keys[layer], key], dim=-2)
            value = torch.cat([self.values[layer], value], dim=-2)
        self.keys[layer] = key
        self.values[layer] = value
        return key, value

    def length(self):
        return self.keys[0].shape[-2] if self.keys else 0


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.eps)
        return self.weight * hidden_states.to(input_dtype)


class RotaryEmbedding(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, size, 2) / size)))

    def forward(self, x, position_ids):
        inv_freq = self.inv_freq[None, :, None].float()
        position_ids = position_ids[:, None, :].float()
        freqs = (inv_freq @ position_ids).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos = emb.cos()
        sin = emb.sin()
        return cos.to(dtype=x.dtype), sin.to(dtype=x.dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(query, key, cos, sin):
    cos = cos.unsqueeze(1)
    sin = sin.unsqueeze(1)
    query = (query * cos) + (rotate_half(query) * sin)
    key = (key * cos) + (rotate_half(key) * sin)
    return query, key


def attend(query, key, value, is_causal):
    output = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    output = output.transpose(1, 2).contiguous()
    return output, None


class Attention(nn.Module):
    def __init__(self, width, heads, layer):
        super().__init__()
        self.heads, self.layer = heads, layer
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, hidden_states, position_embeddings, cache):
        input_shape = hidden_states.shape[:-1]
        hidden_shape = (*input_shape, self.heads, -1)
        query_states = self.q_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        key_states = self.k_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        cos, sin = position_embeddings
        query_states, key_states = apply_rotary(query_states, key_states, cos, sin)
        key_states, value_states = cache.update(key_states, value_states, self.layer)
        is_causal = query_states.shape[2] > 1
        attn_output, attn_weights = attend(query_states, key_states, value_states, is_causal)
        attn_output = attn_output.reshape(*input_shape, -1).contiguous()
        attn_output = self.o_proj(attn_output)
        return attn_output, attn_weights


class MLP(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        down_proj = self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return down_proj


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, layer):
        super().__init__()
        self.self_attn = Attention(width, heads, layer)
        self.mlp = MLP(width, 8 * width // 3)
        self.input_layernorm = RMSNorm(width)
        self.post_attention_layernorm = RMSNorm(width)

    def forward(self, hidden_states, position_embeddings, cache):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states, _ = self.self_attn(hidden_states, position_embeddings, cache)
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        hidden_states = self.mlp(hidden_states)
        hidden_states = residual + hidden_states
        return hidden_states


class Llama(nn.Module):
    def __init__(self, vocabulary, width, heads, depth):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([DecoderLayer(width, heads, i) for i in range(depth)])
        self.norm = RMSNorm(width)
        self.rotary_emb = RotaryEmbedding(width // heads)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids, cache):
        hidden_states = self.embed_tokens(input_ids)
        past = cache.length()
        position_ids = torch.arange(past, past + input_ids.shape[1]).unsqueeze(0)
        position_embeddings = self.rotary_emb(hidden_states, position_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states, position_embeddings, cache)
        hidden_states = self.norm(hidden_states)
        logits = self.lm_head(hidden_states[:, -1:, :])
        return logits

    @torch.no_grad()
    def generate(self, input_ids, count):
        cache = Cache()
        next_tokens = input_ids
        for _ in range(count):
            logits = self(next_tokens, cache)
            next_tokens = logits[:, -1].argmax(dim=-1, keepdim=True)
            input_ids = torch.cat([input_ids, next_tokens], dim=-1)
        return input_ids
