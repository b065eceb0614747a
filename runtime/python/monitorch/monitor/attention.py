"""Metrics of scaled dot product attention, head by head."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor

#: The most weights that are computed at once: those of all heads and rows could need more memory
#: than everything else.
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
    """Measures each head of an attention. Call it beside ``F.scaled_dot_product_attention``.

    Tensors have the shape (..., heads, length, size). Each head's query, key, value and part of
    `activation` are measured as activations, ``{module}.head_{i}.query`` and so on.
    ``attention_entropy/{module}.head_{i}`` is the mean over rows of the entropy of
    softmax(query key * scale + bias), in nats: 0 if a row attends to one position, log(n) if it
    attends to n positions equally. Rows that are masked completely do not count.

    Args:
        monitor (ModuleMonitor): the monitor.
        module (Module or str): the module, or a name for the keys.
        query, key, value (Tensor): the inputs of the attention.
        attn_mask (Tensor, optional): as in ``F.scaled_dot_product_attention``.
        dropout_p (float, optional): accepted so that both calls can have the same arguments;
            has no effect. Default: 0.0
        is_causal, scale, enable_gqa (optional): as in ``F.scaled_dot_product_attention``.
        activation (Tensor, optional): the result of the attention.
        is_reference (bool, optional): keeps the tensors for the comparison. Default: ``False``

    Raises:
        ValueError: if both `attn_mask` and `is_causal` are given, or the numbers of heads do not
            fit.
    """
    if not (monitor.is_open if is_reference else monitor.is_monitoring()):
        return
    name = monitor.get_module_name(module, is_reference)
    torch = sys.modules["torch"]
    if is_causal and attn_mask is not None:
        raise ValueError(f"{name}: attn_mask and is_causal cannot be combined.")
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
                f"{name}: {part.size(-3)} heads of keys or values do not fit {heads} heads of queries"
                f"{'' if enable_gqa else ' without enable_gqa'}."
            )


def _pick(tensor: Any, head: int, heads: int) -> Any:
    """One head of the queries, keys or values. Several heads may share keys and values."""
    return tensor.detach()[..., head * tensor.size(-3) // heads, :, :]


def _entropy_of_head(
    query: Any, key: Any, head: int, mask: Any, is_causal: bool, scale: float | None
) -> Any:
    """The entropy of each row, computed a few rows at a time."""
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
    """The entropies of the rows that are not masked completely."""
    torch = sys.modules["torch"]
    entropy = torch.special.entr(torch.softmax(scores, -1)).sum(-1)
    return entropy[scores.amax(-1) != -torch.inf] if scores.size(-1) else scores.new_zeros(0)
