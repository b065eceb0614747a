"""Pictures as results of a call, and their display in notebooks."""

import os
import sys
from base64 import b64encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

# Twice the dots of a screen with 96 dots an inch, shown at half the size: sharp on all screens.
SCREEN_DPI = 192.0
_SCALE = 2

_PNG_START = b"\x89PNG\r\n\x1a\n"


class RenderOutput:
    """A drawn picture. A notebook that displays this object displays the picture."""

    __slots__ = ("saved_path", "displayed", "node_count", "_png", "_svg", "_cell")

    saved_path: "str | None"
    """The file of the picture; None if it was not saved."""
    displayed: bool
    """Whether a notebook has displayed it."""
    node_count: int
    """The number of its nodes."""

    def __init__(
        self,
        saved_path: "str | None" = None,
        displayed: bool = False,
        node_count: int = 0,
        *,
        png: bytes = b"",
        svg: bytes = b"",
    ) -> None:
        self.saved_path = saved_path
        self.displayed = displayed
        self.node_count = node_count
        self._png = png
        self._svg = svg
        self._cell = find_cell()

    def _repr_png_(self) -> "tuple[bytes, dict[str, int]] | None":
        if not self._png:
            return None
        width, height = _measure(self._png)
        return self._png, {"width": width // _SCALE, "height": height // _SCALE}

    def _repr_html_(self) -> "str | None":
        if self._png:
            kind, data = "png", self._png
            size = f' width="{_measure(data)[0] // _SCALE}"'
        elif self._svg:
            kind, data, size = "svg+xml", self._svg, ""
        else:
            return None
        return (
            f'<img src="data:image/{kind};base64,{b64encode(data).decode()}"{size} '
            f'style="max-width: 100%; height: auto" alt="{self._count_nodes()}">'
        )

    def _count_nodes(self) -> str:
        return f"A flow picture of {self.node_count} node{'' if self.node_count == 1 else 's'}"

    def _ipython_display_(self) -> None:
        """Displays the result of a cell that ends with `monitorch.off()`.

        This is a line of text if the call itself has shown the picture, or if it was not to be
        shown.
        """
        if self._cell is None or self._cell != find_cell() or not _is_result_of_cell():
            raise NotImplementedError  # IPython then tries its other methods
        if self.saved_path is not None or not self.displayed:
            find_shell().display_pub.publish({"text/plain": repr(self)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RenderOutput) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> "tuple[str | None, bool, int]":
        return self.saved_path, self.displayed, self.node_count

    def __repr__(self) -> str:
        return (
            f"RenderOutput(saved_path={self.saved_path!r}, displayed={self.displayed!r}, "
            f"node_count={self.node_count!r})"
        )


def _measure(png: bytes) -> "tuple[int, int]":
    """The width and height in pixels, from the header of the PNG."""
    if not png.startswith(_PNG_START):
        return 0, 0
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def find_shell() -> "Any":
    """The shell of IPython in which the program runs, or None."""
    ipython = sys.modules.get("IPython")
    get = getattr(ipython, "get_ipython", None)
    return None if get is None else get()


def is_notebook() -> bool:
    """Whether pictures can be shown: there is a kernel of a notebook or a console."""
    shell = find_shell()
    return shell is not None and (
        getattr(shell, "kernel", None) is not None
        or any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)
    )


def find_cell() -> "int | None":
    """The number of the running cell of the notebook."""
    return getattr(find_shell(), "execution_count", None) if is_notebook() else None


def name_cell(filename: str) -> "str | None":
    """The name that a notebook's user sees for the cell whose code has this file's name: `In
    [3]`."""
    number = find_cell_number(filename)
    return None if number is None else f"In [{number}]"


def find_cell_number(filename: str) -> "int | None":
    """The number of the cell whose code has this file's name."""
    compiler = getattr(find_shell(), "compile", None)
    number: "int | None" = getattr(compiler, "_filename_map", {}).get(filename)
    return number


def find_notebook() -> str:
    """The name of the notebook's file; empty if the front end does not pass it on."""
    if not is_notebook():
        return ""
    names = getattr(find_shell(), "user_ns", {})
    path = names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return os.path.basename(path) if isinstance(path, str) else ""


def _is_result_of_cell() -> bool:
    """Whether IPython shows a cell's result now; otherwise a program requested the picture."""
    frame: "FrameType | None" = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "IPython.core.displayhook":
            return True
        frame = frame.f_back
    return False


def show(output: RenderOutput) -> None:
    """Displays the picture in the notebook, below the running cell."""
    png = output._repr_png_()
    data: "dict[str, Any]" = {"text/plain": repr(output)}
    metadata = {}
    if png is not None:
        data["image/png"] = b64encode(png[0]).decode()
        metadata["image/png"] = png[1]
    find_shell().display_pub.publish(data, metadata)
