"""The modules that were called, as a tree and as a picture.

Example::

    >>> tree = build_tree(parse_trace("call_trace.txt"))
    >>> render_graph(construct_graph(tree), "calls")
    'calls.png'

The commands `trace_to_graph` and `monitorch calls` draw the same pictures.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from monitorch import _files, _view
from monitorch._flow import file as _flow_file

if TYPE_CHECKING:
    from monitorch._view import CallNode

__all__ = [
    "Graph",
    "Node",
    "apply_graph_render_options",
    "build_tree",
    "construct_graph",
    "main",
    "parse_trace",
    "prune_leaves",
    "render_graph",
    "save_tree_json",
    "squash_numeric_indices",
]

_FREE = 1000  # inches: graphviz expects both sides
_SIZE = re.compile(r"\s*([\d.]+)\s*,\s*([\d.]+)\s*!\s*")


@dataclass(eq=False)
class Node:
    """One segment of the modules' paths.

    Attributes:
        name (str): the segment.
        children (dict[str, Node]): the next segments, in the order of their first calls.
        count (int): the number of calls whose paths contain this node.
        calls (int): the number of calls whose paths end at this node.
        first_seen (int): the position of its first call.
        parents (set[str]): the names of the nodes above.
        indices (set[int]): the numbers that followed the name: 0 and 1 for ``layers.0.norm`` and
            ``layers.1.norm``.
        shape (str): the shapes of the first call that recorded them.
    """

    name: str
    children: dict[str, Node] = field(default_factory=dict)
    count: int = 0
    first_seen: int = 0
    parents: set[str] = field(default_factory=set)
    indices: set[int] = field(default_factory=set)
    calls: int = 0
    shape: str = ""

    def __repr__(self) -> str:
        return f"Node({self.name!r}, count={self.count}, children={list(self.children)})"


# ---- trees


def _nodes_of(tree: Node) -> list[CallNode]:
    """The tree as the extension module expects it: paths may be longer than Python's stack."""
    nodes: list[CallNode] = []
    waiting = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        place = len(nodes)
        indices = tuple(sorted(node.indices))
        nodes.append(
            (node.name, parent, node.count, node.calls, node.first_seen, indices, node.shape)
        )
        children = node.children
        below = children.values() if isinstance(children, Mapping) else children
        waiting.extend((child, place) for child in reversed(list(below)))
    return nodes


def _tree_of(nodes: list[CallNode]) -> Node:
    made: list[Node] = []
    for name, parent, count, calls, first_seen, indices, shape in nodes:
        node = Node(
            name, count=count, first_seen=first_seen, indices=set(indices), calls=calls, shape=shape
        )
        if parent >= 0:
            made[parent].children[name] = node
            node.parents.add(made[parent].name)
        made.append(node)
    return made[0]


def parse_trace(path: str | os.PathLike[str], *, shapes: bool = False) -> list[str]:
    """Reads the paths of the called modules, in order.

    Args:
        path (str or PathLike): a file of `CallTracer.save_trace`, or a trace (``.mtrace``).
        shapes (bool, optional): if ``True``, a tab and the shapes follow each path that has
            them. Default: ``False``

    Returns:
        list[str]: the paths.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if the file is empty.
    """
    os.stat(path)
    found = _view.call_paths(os.fsencode(path))
    if not found:
        raise ValueError("trace file is empty")
    if shapes:
        return [f"{name}\t{shape}" if shape else name for name, shape in found]
    return [name for name, _ in found]


def build_tree(paths: Iterable[str]) -> Node:
    """Builds a tree from paths; numbers become `indices` of the segment before them.

    Args:
        paths (iterable of str): one path for each call. A tab and the shapes may follow it.

    Returns:
        Node: the root of the tree.

    Raises:
        TypeError: if `paths` is a single string.

    Example::

        >>> tree = build_tree(["layers.0.norm", "layers.1.norm"])
        >>> tree.children["layers"].indices
        {0, 1}
    """
    if isinstance(paths, str):
        raise TypeError("build_tree() expects a list of paths, not a single str")
    calls = []
    for path in paths:
        name, _, shape = path.partition("\t")
        calls.append((name, shape or getattr(path, "shape", "")))
    return _tree_of(_view.call_tree(calls))


def squash_numeric_indices(tree: Node) -> Node:
    """Returns a new tree in which numeric nodes became `indices` of the nodes above them.

    `build_tree` does this already. Use it for trees that you build by hand.
    """
    return _tree_of(_view.call_squash(_nodes_of(tree)))


def prune_leaves(tree: Node) -> Node:
    """Returns a new tree without the last segment of each path. Paths of one segment stay."""
    return _tree_of(_view.call_prune(_nodes_of(tree)))


def save_tree_json(tree: Node, path: str | os.PathLike[str]) -> None:
    """Writes a tree as nested JSON objects with `name`, `count`, `indices` and `children`.

    Args:
        tree (Node): the tree.
        path (str or PathLike): the file.
    """
    _files.write(os.fspath(path), _view.call_json(_nodes_of(tree)))


# ---- graphs


class Graph:
    """A graph of called modules: DOT text, and pictures drawn without graphviz.

    `construct_graph` creates it.
    """

    def __init__(
        self, nodes: list[CallNode], show_repetition: bool, prune: bool, squash_name: bool
    ) -> None:
        self._nodes = nodes
        self._show_repetition = show_repetition
        self._prune = prune
        self._squash_name = squash_name
        self._attributes: dict[tuple[str, str], str] = {}

    def attr(
        self, kw: str | None = None, _attributes: Mapping[str, str] | None = None, **attrs: str
    ) -> None:
        """Sets attributes of the graph, or of all nodes or edges, as graphviz's ``attr`` does.

        All attributes appear in `source`. Pictures that monitorch draws use two of them: the
        graph's ``dpi``, and a ``size`` that ends in an exclamation mark.

        Raises:
            ValueError: if `kw` is not ``None``, ``"graph"``, ``"node"`` or ``"edge"``.
        """
        kind = "graph" if kw is None else kw.lower()
        if kind not in ("graph", "node", "edge"):
            raise ValueError(f"attr statement must target graph, node, or edge: {kw!r}")
        for name, value in {**(_attributes or {}), **attrs}.items():
            self._attributes[kind, name] = str(value)

    @property
    def source(self) -> str:
        """The graph as DOT text."""
        return self._draw("dot").decode("utf-8", "surrogatepass")

    def render(
        self,
        filename: str | os.PathLike[str] = "calls",
        cleanup: bool = False,
        *,
        format: str | None = None,
    ) -> str:
        """Draws the graph into a file.

        Args:
            filename (str or PathLike, optional): the file. Its suffix selects the format: ``.png``,
                ``.svg`` or ``.pdf``. Without a suffix ``.png`` is added. Default: ``"calls"``
            cleanup (bool, optional): if ``False``, writes the DOT text to a file with the suffix
                ``.gv`` too. Default: ``False``
            format (str, optional): overrides the suffix.

        Returns:
            str: the path of the picture.
        """
        path = Path(os.fspath(filename))
        known = path.suffix[1:].lower()
        if format is None:
            format = known if known in _flow_file.FORMATS else "png"
        if known != format:
            path = path.with_name(f"{path.name}.{format}")
        _files.write(str(path), self._draw(format))
        if not cleanup and format != "dot":
            _files.write(str(path.with_suffix(".gv")), self._draw("dot"))
        return str(path)

    def _page(self) -> tuple[float, float, float]:
        """Dots per inch, and the picture's sides in inches; 0 for a side that is not set."""
        dpi = float(self._attributes.get(("graph", "dpi"), "150"))
        size = _SIZE.fullmatch(self._attributes.get(("graph", "size"), ""))
        width, height = (0.0, 0.0) if size is None else map(float, size.groups())
        return dpi, 0.0 if width == _FREE else width, 0.0 if height == _FREE else height

    def _draw(self, format: str) -> bytes:
        attributes = tuple(
            (kind, name, value) for (kind, name), value in self._attributes.items()
        )
        dpi, width, height = (150.0, 0.0, 0.0) if format == "dot" else self._page()
        return _view.call_graph(
            self._nodes,
            format,  # type: ignore[arg-type]
            show_repetition=self._show_repetition,
            prune_leaves=self._prune,
            squash_name=self._squash_name,
            attributes=attributes,
            dpi=dpi,
            width=width,
            height=height,
        )


def construct_graph(
    tree: Node,
    show_repetition: bool = True,
    prune_leaves_flag: bool = True,
    squash_name: bool = False,
) -> Graph:
    """Creates the graph of a tree: a box for each node, an arrow to each child.

    Args:
        tree (Node): the tree.
        show_repetition (bool, optional): labels a node ``layers x 2`` if it has two or more
            indices. Default: ``True``
        prune_leaves_flag (bool, optional): leaves out the last segment of each path, as
            `prune_leaves` does. Default: ``True``
        squash_name (bool, optional): merges nodes of the same name. Default: ``False``

    Returns:
        Graph: the graph.
    """
    return Graph(_nodes_of(tree), show_repetition, prune_leaves_flag, squash_name)


def apply_graph_render_options(
    graph: Graph,
    dpi: float = 150,
    figwidth: float | None = None,
    figheight: float | None = None,
) -> Graph:
    """Sets the resolution of a graph's picture, and its size in inches.

    Args:
        graph (Graph): the graph.
        dpi (float, optional): dots per inch. Default: 150
        figwidth, figheight (float, optional): the sides. If one is given, the other one follows.

    Returns:
        Graph: the same graph.

    Raises:
        ValueError: if a side is not above 0.
    """
    for side in (figwidth, figheight):
        if side is not None and not side > 0:
            raise ValueError(f"figwidth and figheight must be above 0 inches, not {side}")
    graph.attr(dpi=str(dpi))
    if figwidth is not None or figheight is not None:
        width = _FREE if figwidth is None else figwidth
        height = _FREE if figheight is None else figheight
        graph.attr(size=f"{width},{height}!")
    if figwidth is not None and figheight is not None:
        graph.attr(ratio="fill")
    return graph


def render_graph(
    graph: Graph,
    filename: str | os.PathLike[str] = "calls",
    dpi: float = 150,
    figwidth: float | None = None,
    figheight: float | None = None,
    cleanup: bool = True,
) -> str:
    """Sets the options and draws the graph.

    Args:
        graph (Graph): the graph.
        filename (str or PathLike, optional): as for `Graph.render`. Default: ``"calls"``
        dpi, figwidth, figheight: as for `apply_graph_render_options`.
        cleanup (bool, optional): if ``False``, writes the DOT text too. Default: ``True``

    Returns:
        str: the path of the picture.
    """
    return apply_graph_render_options(graph, dpi, figwidth, figheight).render(filename, cleanup)


# ---- the command trace_to_graph


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trace_to_graph",
        description="Draws the modules that were called, as CallTracer or a trace recorded them.",
    )
    flag = argparse.BooleanOptionalAction
    add = parser.add_argument
    add("--trace-file", required=True, metavar="F", help="call_trace.txt, or run.mtrace")
    add("--out", required=True, metavar="F", help=".png (default), .svg, .pdf or .dot file")
    add("--show-repetition", action=flag, default=True, help="labels such as `layers x 2`")
    add("--prune-leaves", action=flag, default=True, help="leave out the last part of each path")
    add("--squash-name", action="store_true", help="merge nodes of the same name")
    add("--dpi", type=int, default=150, metavar="N", help="dots per inch")
    add("--figwidth", type=float, metavar="W", help="width in inches")
    add("--figheight", type=float, metavar="H", help="height in inches")
    add("--save-json", metavar="F", help="write the tree as JSON too")
    add("--verbose", action="store_true", help="report what was read and written")
    return parser


def _run(options: argparse.Namespace) -> None:
    def report(text: str) -> None:
        if options.verbose:
            print(text, file=sys.stderr)

    paths = parse_trace(options.trace_file, shapes=True)
    report(f"{options.trace_file}: {len(paths)} calls")
    tree = build_tree(paths)
    if options.save_json is not None:
        save_tree_json(tree, options.save_json)
        report(f"{options.save_json}: the tree written as JSON")
    graph = construct_graph(
        tree, options.show_repetition, options.prune_leaves, options.squash_name
    )
    path = render_graph(graph, options.out, options.dpi, options.figwidth, options.figheight)
    report(f"{path}: written")


def main(argv: list[str] | None = None) -> int:
    """Runs the command `trace_to_graph`.

    Exit codes: 0 done; 2 wrong usage; 3 a file could not be read or written.
    """
    options = _parser().parse_args(argv)
    try:
        _run(options)
    except ValueError as error:
        print(f"trace_to_graph: {options.trace_file}: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"trace_to_graph: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
