"""ModuleMonitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from monitorch.monitor.backends import Sink
    from monitorch.monitor.storage import StorageManager


class ModuleMonitor:
    """What part 2 uses of it: the rest stands in interfaces.md."""

    storage: StorageManager
    module: Any
    reference_module: Any
    current_step: int | None
    module_names: dict[Any, str]
    reference_module_names: dict[Any, str]
    cpu_offload: bool

    def is_monitoring(self) -> bool:
        raise NotImplementedError

    def has_reference_module(self) -> bool:
        raise NotImplementedError

    def log_tensor(
        self, key: str, tensor: Any, aggregation_fn: Callable[..., Any] | None = None
    ) -> None:
        raise NotImplementedError

    def log_scalar(
        self,
        key: str,
        value: Any,
        aggregation_fn: Callable[..., Any] | None = None,
        force: bool = False,
    ) -> None:
        raise NotImplementedError

    def monitor_activations(self, module: Any, activations: Any, is_reference: bool = False) -> None:
        """`module` is a module or a name, such as "attn.head_0.query"."""
        raise NotImplementedError

    def get_module_name(self, module: Any, is_reference: bool = False) -> str:
        """A module's name; a name as it is."""
        raise NotImplementedError

    def add_forward_hooks(
        self,
        make_hook: Callable[[str, Any], Callable[..., None] | None],
        is_reference: bool = False,
    ) -> None:
        """For each module, `make_hook(name, module)` gives the function that is called with
        (module, args, output) after its forward on monitored steps, or None. On other steps there
        is no hook. Those of the reference module are called in `no_monitor()` too; those of the
        module are not. Not called for what a backward pass computes again."""
        raise NotImplementedError

    def add_step_end(self, function: Callable[[], None]) -> None:
        """Called at the end of each monitored step and at after_micro_batch: to let go of what
        was kept for it."""
        raise NotImplementedError

    # How the functions of backends.py are reached:
    def add_sink(self, sink: Sink) -> None:
        raise NotImplementedError

    def to_wandb(self, run: Any) -> None:
        raise NotImplementedError

    def to_tensorboard(self, writer: Any) -> None:
        raise NotImplementedError

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        raise NotImplementedError

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        raise NotImplementedError

    def to_dataframe(self) -> Any:
        raise NotImplementedError

    def plot(self, pattern: str, filename: str | os.PathLike[str], **options: Any) -> Any:
        raise NotImplementedError
