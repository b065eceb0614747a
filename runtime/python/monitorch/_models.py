"""Models of torch: tensors, modules, the modules of a model, and wrappers.

torch is never imported here. A program that has not imported it has none of these.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Attributes under which wrappers (torch.compile, DDP, DataParallel, FSDP) hold the module.
_WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
}
#: Attributes of torch's wrappers that no model uses for a module of its own, and DeepSpeed's
#: attribute.
_SEGMENTS = ("_forward_module.", "_orig_mod.", "_fsdp_wrapped_module.")


def find_torch() -> Any:
    """The module torch, or None if the program has not imported it."""
    return sys.modules.get("torch")


def is_tensor(value: object) -> bool:
    """Whether it is a tensor of torch. `_recorder.is_tensor` is true for arrays too."""
    torch = find_torch()
    return torch is not None and isinstance(value, torch.Tensor)


def is_module(value: object) -> bool:
    torch = find_torch()
    return torch is not None and isinstance(value, torch.nn.Module)


def find_version(tensor: Any) -> int:
    """The number of writes in place; 0 for a tensor that was made in inference mode."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return 0


# ---- modules and what wraps them ----


def list_modules(model: Any, *, unwrap: bool = False) -> Iterator[tuple[str, Any]]:
    """All (path, module) in the model's order, first the model itself with the path "".

    With `unwrap`, paths begin in the wrapped model.
    """
    if unwrap:
        model = unwrap_model(model)
    for name, module in model.named_modules():
        yield _cut_wrappers(model, name) if unwrap else name, module


def cut_segments(name: str) -> str:
    """A module's or parameter's name without the parts that torch.compile, FSDP and DeepSpeed
    add."""
    for segment in _SEGMENTS:
        name = name.replace(segment, "")
    return "" if name + "." in _SEGMENTS else name


def unwrap_model(model: Any) -> Any:
    """The model inside torch.compile, DistributedDataParallel, DataParallel and FSDP."""
    while (name := _inner_name(model)) is not None:
        model = getattr(model, name)
    return model


def _inner_name(module: Any) -> str | None:
    """The attribute that holds the wrapped module; None if the module is no wrapper."""
    for kind in type(module).__mro__:
        if kind.__module__.startswith("torch.") and kind.__name__ in _WRAPPERS:
            return _WRAPPERS[kind.__name__]
    return None


def _cut_wrappers(model: Any, path: str) -> str:
    """The path without the parts that wrappers add."""
    kept = []
    module = model
    for part in path.split(".") if path else ():
        if _inner_name(module) != part:
            kept.append(part)
        module = getattr(module, part)
    return ".".join(kept)
