"""HooksManager: forward hooks that are taken away together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class HooksManager:
    """Forward hooks, at most one for each module, that are taken away together: when
    `remove_all_hooks` is called, when the `with` block is left, or with the manager."""

    def __init__(self) -> None:
        self._handles: dict[Any, Any] = {}

    def register_forward_hook(self, module: Any, hook_fn: Callable[..., Any]) -> None:
        """`hook_fn(module, args, output)` is called after the module's forward; it takes the
        place of the hook that the module had here."""
        self.remove_hook(module)
        self._handles[module] = module.register_forward_hook(hook_fn)

    def remove_hook(self, module: Any) -> None:
        """Takes the module's hook away, if it has one."""
        handle = self._handles.pop(module, None)
        if handle is not None:
            handle.remove()

    def remove_all_hooks(self) -> None:
        """Takes all of them away."""
        while self._handles:
            self._handles.popitem()[1].remove()

    def __len__(self) -> int:
        return len(self._handles)

    def __enter__(self) -> HooksManager:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove_all_hooks()

    def __del__(self) -> None:
        self.remove_all_hooks()
