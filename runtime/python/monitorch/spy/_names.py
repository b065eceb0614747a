"""The names under which tensors are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitorch import _recorder

if TYPE_CHECKING:
    #: file, line and function
    Place = tuple[str, int, str]
    #: prefix, module path, name and call
    Key = tuple[str, str, str, int]


class FullName(str):
    """`prefix.module_path.name`, without empty parts: the name for counts and files.

    It has its parts, the context in which it is saved, and the place in the program, if that is not
    the nearest line outside of this package.
    """

    __slots__ = ("prefix", "module_path", "name", "context", "place")

    prefix: str
    module_path: str
    name: str
    context: Any
    place: Place | None

    #: FullName.of(prefix, module_path, name, context=None, place=None)
    of = classmethod(_recorder.make_full_name)

    def of_module(self) -> str:
        """`module_path.name`, which is equal in all contexts."""
        return f"{self.module_path}.{self.name}" if self.module_path else self.name

    def key(self, leaf: str, call: int) -> Key:
        """The key of one tensor saved under this name; `leaf` is its place in a container."""
        return self.prefix, self.module_path, self.name + leaf, call
