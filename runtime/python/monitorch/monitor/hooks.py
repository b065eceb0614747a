"""HooksManager: forward hooks that are removed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class HooksManager:
    """Forward hooks, at most one for each module, that are removed together.

    They are removed by `remove_all_hooks`, at the end of a ``with`` block, or when the manager is
    freed.
    """

    def __init__(self) -> None:
        self._handles: dict[Any, Any] = {}

    def register_forward_hook(self, module: Any, hook_fn: Callable[..., Any]) -> None:
        """Registers a forward hook. It replaces the module's earlier hook of this manager.

        Args:
            module (Module): the module.
            hook_fn (callable): called as ``hook_fn(module, args, output)`` after each forward.
        """
        self.remove_hook(module)
        self._handles[module] = module.register_forward_hook(hook_fn)

    def remove_hook(self, module: Any) -> None:
        """Removes the module's hook, if it has one."""
        handle = self._handles.pop(module, None)
        if handle is not None:
            handle.remove()

    def remove_all_hooks(self) -> None:
        """Removes all hooks."""
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
