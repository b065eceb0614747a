"""Models of torch: what is a tensor or a module, which modules a model has, and what wraps it.

torch is never imported here: where the program has not imported it, there are none.
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
#: Those of them that no model uses for a module of its own, and DeepSpeed's.
_SEGMENTS = ("_forward_module.", "_orig_mod.", "_fsdp_wrapped_module.")


def find_torch() -> Any:
    """The module, or None where the program does not use it."""
    return sys.modules.get("torch")


def is_tensor(value: object) -> bool:
    """Whether it is one of torch's: `_recorder.is_tensor` is true of arrays too."""
    torch = find_torch()
    return torch is not None and isinstance(value, torch.Tensor)


def is_module(value: object) -> bool:
    torch = find_torch()
    return torch is not None and isinstance(value, torch.nn.Module)


def find_version(tensor: Any) -> int:
    """How often the tensor was written in place; 0 where it was made in inference mode."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return 0


# ---- modules and what wraps them ----


def list_modules(model: Any, *, unwrap: bool = False) -> Iterator[tuple[str, Any]]:
    """(path, module) in the model's order, the model itself with the path "". With `unwrap`, paths
    begin in what wrappers hold."""
    if unwrap:
        model = unwrap_model(model)
    for name, module in model.named_modules():
        yield _cut_wrappers(model, name) if unwrap else name, module


def cut_segments(name: str) -> str:
    """A module's or parameter's name without what torch.compile, FSDP and DeepSpeed put into it."""
    for segment in _SEGMENTS:
        name = name.replace(segment, "")
    return "" if name + "." in _SEGMENTS else name


def unwrap_model(model: Any) -> Any:
    """The model that torch.compile, DistributedDataParallel, DataParallel or FSDP wraps."""
    while (name := _inner_name(model)) is not None:
        model = getattr(model, name)
    return model


def _inner_name(module: Any) -> str | None:
    """The attribute that holds the wrapped module; None if the module wraps none."""
    for kind in type(module).__mro__:
        if kind.__module__.startswith("torch.") and kind.__name__ in _WRAPPERS:
            return _WRAPPERS[kind.__name__]
    return None


def _cut_wrappers(model: Any, path: str) -> str:
    """The path without the parts that a wrapper adds."""
    kept = []
    module = model
    for part in path.split(".") if path else ():
        if _inner_name(module) != part:
            kept.append(part)
        module = getattr(module, part)
    return ".".join(kept)
