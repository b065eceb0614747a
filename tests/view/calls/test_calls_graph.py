"""monitorch.spy.graph beyond the old package's facts: trees made by hand, formats, shapes, files."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support import dot, png, recording, svg

graphs = pytest.importorskip("monitorch.spy.graph", reason="the package is not built (make)")
Node, build_tree, construct_graph = graphs.Node, graphs.build_tree, graphs.construct_graph

PATHS = ["encoder.layers.0.attn.q", "encoder.layers.1.attn.q", "head", "root"]


def labels(graph):
    return sorted(a["label"] for _, a in dot.read(graph.source).nodes.values())


def test_without_torch():
    code = "import sys, monitorch.spy.graph; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=recording.environment("off"))
    assert done.returncode == 0


def test_trees_made_by_hand():
    tree = Node("net", {"layers": Node("layers", indices={3, 1})}, count=2)
    assert labels(construct_graph(tree, prune_leaves_flag=False)) == ["layers x 2", "net"]
    squashed = graphs.squash_numeric_indices(
        Node("root", {"a": Node("a", {"7": Node("7", {"b": Node("b")})}), "0": Node("0")})
    )
    assert list(squashed.children) == ["a", "0"]
    assert squashed.children["a"].indices == {7} and list(squashed.children["a"].children) == ["b"]


def test_children_may_be_a_list():
    tree = Node("net", [Node("a"), Node("b")])
    assert labels(construct_graph(tree, prune_leaves_flag=False)) == ["a", "b", "net"]


def test_a_part_of_a_tree():
    encoder = build_tree(PATHS).children["encoder"]
    assert labels(construct_graph(encoder)) == ["attn", "encoder", "layers x 2"]


def test_shapes():
    class Call(str):
        shape = "[1] -> [2]"

    tree = build_tree(["a", "b\t[2, 8] -> [2, 4]", Call("c"), "c\t[9]", "d.0\t[0]", "d\t[1]"])
    told = {name: child.shape for name, child in tree.children.items()}
    assert told == {"a": "", "b": "[2, 8] -> [2, 4]", "c": "[1] -> [2]", "d": "[1]"}
    assert 'label="b\\n[2, 8] -> [2, 4]"' in construct_graph(tree).source


def test_parse_trace_with_shapes(tmp_path):
    (tmp_path / "t.txt").write_text("a\t[1] -> [2]\nb\n")
    assert graphs.parse_trace(tmp_path / "t.txt") == ["a", "b"]
    assert graphs.parse_trace(tmp_path / "t.txt", shapes=True) == ["a\t[1] -> [2]", "b"]


def test_names_in_other_scripts_and_bytes_that_are_none(tmp_path):
    (tmp_path / "t.txt").write_bytes("层.注意力\n".encode() + b"a\xff.b\n")
    tree = build_tree(graphs.parse_trace(tmp_path / "t.txt"))
    assert list(tree.children) == ["层", "a\ufffd"]
    assert list(build_tree(["\ud800"]).children) == ["\ud800"]


@pytest.mark.parametrize(
    "paths, kind", [("abc", TypeError), ([1], AttributeError), (None, TypeError)]
)
def test_paths_that_are_none(paths, kind):
    with pytest.raises(kind):
        build_tree(paths)


def test_figures_that_are_none():
    with pytest.raises((OverflowError, ValueError, TypeError)):
        construct_graph(Node("a", count=-1)).source
    with pytest.raises(TypeError):
        construct_graph(Node("a", indices={"x"})).source
    with pytest.raises(TypeError):
        construct_graph(Node(7)).source


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png", "dot", "PNG"])
def test_formats(tmp_path, suffix):
    path = str(tmp_path / "sub" / f"calls.{suffix}")
    assert graphs.render_graph(construct_graph(build_tree(PATHS)), path) == path
    begins = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG", "dot": b"digraph"}
    with open(path, "rb") as file:
        assert file.read().startswith(begins[suffix.lower()])
    assert os.listdir(tmp_path / "sub") == [f"calls.{suffix}"]


def test_other_suffixes_are_part_of_the_name(tmp_path):
    graph = construct_graph(build_tree(PATHS))
    assert graph.render(tmp_path / "step1.5", cleanup=True) == str(tmp_path / "step1.5.png")
    assert graph.render(tmp_path / "b", format="svg") == str(tmp_path / "b.svg")
    assert sorted(os.listdir(tmp_path)) == ["b.gv", "b.svg", "step1.5.png"]


def test_source_beside_the_picture(tmp_path):
    graph = construct_graph(build_tree(PATHS))
    graph.render(tmp_path / "calls")
    assert (tmp_path / "calls.gv").read_text() == graph.source


def test_size_and_dots(tmp_path):
    graph = construct_graph(build_tree(PATHS))
    path = graphs.render_graph(graph, tmp_path / "calls", dpi=100, figwidth=8, figheight=6)
    with open(path, "rb") as file:
        data = file.read()
    assert png.read(data).shape[:2] == (600, 800)
    with pytest.raises(ValueError):
        graphs.render_graph(graph, tmp_path / "calls", dpi=1)
    with pytest.raises(ValueError):
        graphs.render_graph(graph, tmp_path / "calls", figwidth=-1)


def test_attributes():
    graph = construct_graph(build_tree(PATHS))
    graph.attr("node", shape="ellipse")
    graph.attr("Edge", {"color": "red"}, style="dashed")
    graph.attr(label='a "title" \\n', fontsize="12.5")
    read = dot.read(graph.source)
    assert read.attributes["fontsize"] == "12.5" and '"title"' in read.attributes["label"]
    assert "node [shape=ellipse]" in graph.source and "edge [color=red]" in graph.source
    with pytest.raises(ValueError):
        graph.attr("cluster", a="b")


def test_attributes_that_a_picture_follows(tmp_path):
    graph = construct_graph(build_tree(PATHS))
    graph.attr(dpi="72", size="5, 4!")
    with open(graph.render(tmp_path / "a", cleanup=True), "rb") as file:
        assert png.read(file.read()).shape[:2] == (288, 360)
    graph.attr(dpi="many")
    assert "dpi=many" in graph.source
    with pytest.raises(ValueError):
        graph.render(tmp_path / "b")


def test_a_picture_too_large_has_fewer_dots(tmp_path):
    graph = construct_graph(build_tree([".".join(f"a{i}" for i in range(31))]))
    path = graphs.render_graph(graph, tmp_path / "a", dpi=500, figheight=100)
    with open(path, "rb") as file:
        height = int.from_bytes(file.read(24)[20:24], "big")
    assert 20000 < height <= 32767


def test_wide_trees_stay_within_a_page():
    """What stands below a node with many children stands in rows, whole and in order."""
    paths = [f"net.block{i}.{name}" for i in range(40) for name in ("norm", "conv", "act")]
    graph = construct_graph(build_tree(paths), prune_leaves_flag=False)
    picture = svg.read(graph._draw("svg"))
    assert len(picture.find("node")) == 161
    assert picture.width < 1600 and picture.height < 1600


def test_json_of_a_full_disk():
    with pytest.raises(OSError):
        graphs.save_tree_json(build_tree(PATHS), "/proc/none/tree.json")


ROOT = ("root", -1, 0, 0, 0, (), "")


@pytest.mark.parametrize(
    "nodes",
    [
        "x",
        [],
        [1],
        [("root",)],
        [("root", 0, 0, 0, 0, (), "")],
        [("root", -1, -5, 0, 0, (), "")],
        [("root", -1, 0, 0, 0, ("x",), "")],
        [("root", -1, 0, 0, 0, 7, "")],
        [("root", -1, 0, 0, 0, (), None)],
        [(3, -1, 0, 0, 0, (), "")],
        [ROOT, ("b", 5, 0, 0, 0, (), "")],
        [ROOT, ("b", 1, 0, 0, 0, (), "")],
        [ROOT, ("b", 1 << 70, 0, 0, 0, (), "")],
    ],
)
def test_nodes_that_are_none(nodes):
    from monitorch import _view

    draw = [_view.call_prune, _view.call_squash, _view.call_json, _view.call_tree]
    for function in [*draw, lambda nodes: _view.call_graph(nodes, "svg")]:
        if nodes == [] and function == _view.call_tree:
            continue
        with pytest.raises((TypeError, ValueError, OverflowError)):
            function(nodes)


@pytest.mark.parametrize(
    "words",
    [
        {"attributes": 3},
        {"attributes": (1,)},
        {"attributes": (("x", "y", "z"),)},
        {"attributes": (("graph", "y", 3),)},
        {"dpi": float("nan")},
        {"width": float("nan")},
        {"height": 1e6},
    ],
)
def test_wrong_words(words):
    from monitorch import _view

    with pytest.raises((TypeError, ValueError)):
        _view.call_graph([ROOT], "svg", **words)
