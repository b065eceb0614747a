"""What happens inside scaled dot product attention."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor

#: How many weights are computed at once: those of all heads and rows could be more than all else.
_WEIGHTS_AT_ONCE = 1 << 24


def monitor_scaled_dot_product_attention(
    monitor: ModuleMonitor,
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    activation: Any = None,
    is_reference: bool = False,
) -> None:
    """To be called beside F.scaled_dot_product_attention, with the same arguments.

    The tensors are (…, heads, length, size). Each head's query, key and value, and its part of
    `activation`, which is the result, are monitored like the outputs of modules, as
    `{module}.head_{i}.query` and so on. `attention_entropy/{module}.head_{i}` is the mean over all
    rows of the entropy of the weights softmax(query key scale + bias), in nats: 0 where a row looks
    at one place alone, log(n) where it looks at n alike. `dropout_p` changes none of that: it is
    taken so that the calls can be alike. Rows whose places are all masked have no entropy and do not
    count.
    """
    if not (monitor.is_open if is_reference else monitor.is_monitoring()):
        return
    name = monitor.get_module_name(module, is_reference)
    torch = sys.modules["torch"]
    if is_causal and attn_mask is not None:
        raise ValueError(f"{name}: attn_mask and is_causal do not go together.")
    heads = query.size(-3)
    _check_heads(name, heads, (key, value), enable_gqa)
    parts = {"query": query, "key": key, "value": value, "activation": activation}
    with torch.no_grad():
        for head in range(heads):
            for part, tensor in parts.items():
                if tensor is not None:
                    monitor.monitor_activations(
                        f"{name}.head_{head}.{part}", _pick(tensor, head, heads), is_reference
                    )
            if not is_reference:
                entropy = _entropy_of_head(query, key, head, attn_mask, is_causal, scale)
                monitor.log_tensor(f"attention_entropy/{name}.head_{head}", entropy)


def _check_heads(name: str, heads: int, parts: tuple[Any, ...], enable_gqa: bool) -> None:
    for part in parts:
        if part.size(-3) != heads and not (enable_gqa and heads % part.size(-3) == 0):
            raise ValueError(
                f"{name}: {part.size(-3)} heads of keys or values do not fit {heads} of queries"
                f"{'' if enable_gqa else ' without enable_gqa'}."
            )


def _pick(tensor: Any, head: int, heads: int) -> Any:
    """What belongs to a head of the queries; of keys and values some share one."""
    return tensor.detach()[..., head * tensor.size(-3) // heads, :, :]


def _entropy_of_head(
    query: Any, key: Any, head: int, mask: Any, is_causal: bool, scale: float | None
) -> Any:
    """Of each row, computed a few rows at a time."""
    torch = sys.modules["torch"]
    heads, rows, places = query.size(-3), query.size(-2), key.size(-2)
    if mask is not None:
        mask = mask.detach().broadcast_to((*query.shape[:-1], places))[..., head, :, :]
    query, key = _widen(_pick(query, head, heads)), _widen(_pick(key, head, heads))
    query = query * (query.size(-1) ** -0.5 if scale is None else scale)
    step = max(1, _WEIGHTS_AT_ONCE * rows // max(1, places * query[..., 0].numel()))
    found = []
    for start in range(0, rows, step):
        scores = query[..., start : start + step, :] @ key.mT
        if mask is not None:
            scores = _add_mask(scores, mask[..., start : start + step, :])
        if is_causal:
            last = torch.arange(start, start + scores.size(-2), device=scores.device)
            later = torch.arange(places, device=scores.device) > last[:, None]
            scores = scores.masked_fill(later, -torch.inf)
        found.append(_entropy(scores).flatten())
    return torch.cat(found) if found else query.new_zeros(0)


def _widen(tensor: Any) -> Any:
    return tensor.float() if tensor.dtype.itemsize < 4 else tensor


def _add_mask(scores: Any, mask: Any) -> Any:
    torch = sys.modules["torch"]
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, -torch.inf)
    return scores + mask


def _entropy(scores: Any) -> Any:
    """Of those rows that look anywhere."""
    torch = sys.modules["torch"]
    entropy = torch.special.entr(torch.softmax(scores, -1)).sum(-1)
    return entropy[scores.amax(-1) != -torch.inf] if scores.size(-1) else scores.new_zeros(0)
