"""Under which names tensors are saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    #: file, line and function
    Place = tuple[str, int, str]
    #: prefix, module path, name and call
    Key = tuple[str, str, str, int]


class FullName(str):
    """`prefix.module_path.name`, the parts that are not empty: what is counted, and what files
    are named after. It knows its parts, and in which context it is saved; and where in
    the program, if that is not the nearest line outside of this package."""

    __slots__ = ("prefix", "module_path", "name", "context", "place")

    prefix: str
    module_path: str
    name: str
    context: Any
    place: Place | None

    @classmethod
    def of(
        cls,
        prefix: str,
        module_path: str,
        name: str,
        context: Any = None,
        place: Place | None = None,
    ) -> FullName:
        made = cls(".".join(part for part in (prefix, module_path, name) if part))
        made.prefix = prefix
        made.module_path = module_path
        made.name = name
        made.context = context
        made.place = place
        return made

    def key(self, leaf: str, call: int) -> Key:
        """The key of one tensor saved under this name; `leaf` is its place in a container."""
        return self.prefix, self.module_path, self.name + leaf, call
