"""Packages that import their parts at the first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

Homes = Mapping[str, tuple[str, ...]]


def offered(homes: Homes) -> list[str]:
    """All names of {module: its names}, for `__all__`."""
    return sorted(name for names in homes.values() for name in names)


def make_getters(
    package: str, homes: Homes
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the package that offers these names of its modules."""
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, list_names
