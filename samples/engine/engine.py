"""The engine that serves trainer.py's model: functions, a cache of keys and values, one token a step."""

import math

import torch


def norm(x, gain, shift):
    mean = x.mean(-1, keepdim=True)
    spread = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(spread + 1e-5) * gain + shift


def attend(p, x, cache):
    query = x @ p["query"] + p["query_bias"]
    cache["keys"].append(x @ p["key"] + p["key_bias"])
    cache["values"].append(x @ p["value"] + p["value_bias"])
    query = query.unflatten(-1, (4, 8))
    keys = torch.stack(cache["keys"], 1).unflatten(-1, (4, 8))
    values = torch.stack(cache["values"], 1).unflatten(-1, (4, 8))
    share = torch.softmax(torch.einsum("bhd,bthd->bht", query, keys) / math.sqrt(8), -1)
    mixed = torch.einsum("bht,bthd->bhd", share, values)
    return mixed.flatten(1) @ p["out"] + p["out_bias"]


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def step(params, token, place, caches):
    x = params["tokens"][token] + params["places"][place]
    outputs = []
    for p, cache in zip(params["layers"], caches):
        x = x + attend(p, norm(x, p["gain_1"], p["shift_1"]), cache)
        inner = norm(x, p["gain_2"], p["shift_2"]) @ p["up"] + p["up_bias"]
        x = x + gelu(inner) @ p["down"] + p["down_bias"]
        outputs.append(x)
    return outputs, norm(x, params["gain"], params["shift"]) @ params["tokens"].T


def load(state):
    layers = []
    for i in range(2):
        w = {k.removeprefix(f"h.{i}."): v for k, v in state.items()}
        p = {"gain_1": w["ln_1.weight"], "shift_1": w["ln_1.bias"]}
        for n, name in enumerate(("query", "key", "value")):
            p[name] = w["c_attn.weight"].chunk(3)[n].T
            p[name + "_bias"] = w["c_attn.bias"].chunk(3)[n]
        p["out"], p["out_bias"] = w["c_proj.weight"].T, w["c_proj.bias"]
        p["gain_2"], p["shift_2"] = w["ln_2.weight"], w["ln_2.bias"]
        p["up"], p["up_bias"] = w["c_fc.weight"].T, w["c_fc.bias"]
        p["down"], p["down_bias"] = w["c_out.weight"].T, w["c_out.bias"]
        layers.append(p)
    return {
        "tokens": state["wte.weight"],
        "places": state["wpe.weight"],
        "layers": layers,
        "gain": state["ln_f.weight"],
        "shift": state["ln_f.bias"],
    }


state, prompt = torch.load("checkpoint.pt")
params = load(state)
caches = [{"keys": [], "values": []} for _ in range(2)]
steps, firsts, seconds = [], [], []
with torch.no_grad():
    for place in range(prompt.shape[1]):
        (first, second), scores = step(params, prompt[:, place], place, caches)
        firsts.append(first)
        seconds.append(second)
        steps.append(scores)
first_layer = torch.stack(firsts, 1)
second_layer = torch.stack(seconds, 1)
answer = torch.stack(steps, 1)
