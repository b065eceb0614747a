"""`run --seed N` and `--deterministic`.

Each source of random numbers is seeded right after the program has imported it, and torch is set to
deterministic algorithms. A program that seeds by itself does so later, which replaces this seed.
"""

import os
import sys

from monitorch._record import settings as _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LARGEST = (1 << 32) - 1  # all sources accept it

seed: "int | None" = None
mode: "str | None" = None
"""None, "yes", or "warn": operations without a deterministic algorithm only warn."""


def read_seed(text: str) -> int:
    """Reads the seed. Raises ValueError, which says what is wrong."""
    if not text.isascii() or not text.isdigit() or int(text) > _LARGEST:
        raise ValueError(f"--seed {text}: expected a whole number from 0 to {_LARGEST}")
    return int(text)


def restart(number: int) -> None:
    """Starts this interpreter again with fixed hashes of texts, which decide the order of sets.

    Returns if they are fixed already, or random because the user set them so.
    """
    if not sys.flags.hash_randomization or sys.flags.ignore_environment:
        return
    if os.environ.get("PYTHONHASHSEED", "random") != "random":
        return
    environment = {**os.environ, "PYTHONHASHSEED": str(number)}
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, sys.orig_argv, environment)


def begin(number: "int | None", deterministic: "str | None") -> None:
    global seed, mode
    seed, mode = number, deterministic
    _settings.seed, _settings.deterministic = number, deterministic
    if deterministic is not None:
        # cuBLAS reads it when it starts.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    from monitorch._compile import import_hook as _import_hook

    for name, change in _CHANGES.items():
        _import_hook.after(name, change)


def _seed_random(random: "Any") -> None:
    if seed is not None:
        random.seed(seed)


def _seed_numpy(random: "Any") -> None:
    if seed is not None:
        random.seed(seed)
    _settings.write_modules()


def _change_torch(torch: "Any") -> None:
    if mode is not None:
        _ask_for_determinism(torch, mode == "warn")
    if seed is not None:
        torch.manual_seed(seed)
    _settings.write_modules()


def _ask_for_determinism(torch: "Any", warns_only: bool) -> None:
    """Calls torch.use_deterministic_algorithms without its import of torch._inductor.config:
    `_change_inductor` sets the flag there when the program imports it."""
    change = getattr(torch._C, "_set_deterministic_algorithms", None)
    if change is not None:
        change(True, warn_only=warns_only)
    else:
        torch.use_deterministic_algorithms(True, warn_only=warns_only)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True


def _change_inductor(config: "Any") -> None:
    if mode is not None and hasattr(config, "deterministic"):
        config.deterministic = True


_CHANGES: "dict[str, Callable[[Any], None]]" = {
    "random": _seed_random,
    "numpy.random": _seed_numpy,
    "torch": _change_torch,
    "torch._inductor.config": _change_inductor,
}


def find_for_child(name: str) -> "tuple[int | None, str | None]":
    """The seed and the mode for a process of that name which multiprocessing spawns. Its random
    numbers differ from those of its siblings."""
    if seed is None:
        return None, mode
    from binascii import crc32

    return crc32(name.encode("utf-8", "replace"), seed), mode
