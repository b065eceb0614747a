"""What happens inside scaled dot product attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitorch.monitor._monitor import ModuleMonitor


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
    """Calls monitor.monitor_activations for each head, and logs the entropy."""
    raise NotImplementedError
