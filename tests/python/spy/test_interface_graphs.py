"""What the old package's interface says of the trees and graphs of calls, fact by fact."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from tests.python.spy.signatures import begins_with, defaults, names_in
from tests.support import dot, paths, png, recording

spy = pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

PATHS = [
    "encoder.layers.0.attn.q",
    "encoder.layers.0.mlp",
    "encoder.layers.1.attn.q",
    "encoder.layers.1.mlp",
    "head",
]


# Trees


def children_of(node):
    return list(node.children.values())


def shape_of(node):
    """{name: shape_of(child)}"""
    return {child.name: shape_of(child) for child in children_of(node)}


def find(node, *names):
    for name in names:
        node = next(child for child in children_of(node) if child.name == name)
    return node


def test_parse_trace(tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(PATHS))
    assert spy.parse_trace(tmp_path / "t.txt") == PATHS
    assert spy.parse_trace(str(tmp_path / "t.txt")) == PATHS


def test_parse_trace_with_a_last_newline(tmp_path):
    (tmp_path / "t.txt").write_text("a.b\na.c\n")
    assert spy.parse_trace(tmp_path / "t.txt") == ["a.b", "a.c"]


def test_parse_trace_without_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        spy.parse_trace(tmp_path / "none.txt")


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_parse_trace_of_nothing(tmp_path, text):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(ValueError, match="trace file is empty"):
        spy.parse_trace(tmp_path / "t.txt")


def test_tree_of_names():
    tree = spy.build_tree(PATHS)
    wanted = {"encoder": {"layers": {"attn": {"q": {}}, "mlp": {}}}, "head": {}}
    assert shape_of(tree) == wanted and isinstance(tree, spy.Node)


def test_tree_is_in_the_order_of_first_calls():
    tree = spy.build_tree(["b.z", "a", "b.y", "a"])
    assert [child.name for child in children_of(tree)] == ["b", "a"]
    assert [child.name for child in children_of(find(tree, "b"))] == ["z", "y"]
    seen = [find(tree, *names).first_seen for names in (["b", "z"], ["a"], ["b", "y"])]
    assert seen == sorted(set(seen))


def test_tree_counts():
    tree = spy.build_tree(PATHS)
    assert find(tree, "head").count == 1
    assert find(tree, "encoder", "layers", "mlp").count == 2
    assert find(tree, "encoder", "layers", "attn", "q").count == 2


def test_digits_are_absorbed_into_the_name_before_them():
    tree = spy.build_tree(PATHS)
    assert [int(i) for i in sorted(find(tree, "encoder", "layers").indices)] == [0, 1]
    assert list(find(tree, "head").indices) == []


def test_leading_digits_are_a_name():
    tree = spy.build_tree(["0.conv", "1.conv.2"])
    assert shape_of(tree) == {"0": {"conv": {}}, "1": {"conv": {}}}
    assert [int(i) for i in find(tree, "1", "conv").indices] == [2]


def test_digits_within_a_name_stay():
    tree = spy.build_tree(["layer1.conv2d", "layer2.x_0"])
    assert shape_of(tree) == {"layer1": {"conv2d": {}}, "layer2": {"x_0": {}}}


def test_squash_of_a_built_tree_changes_no_shape():
    tree = spy.build_tree(PATHS)
    before = shape_of(tree)
    assert shape_of(spy.squash_numeric_indices(tree)) == before


def test_squash_of_a_tree_made_by_hand():
    layers = spy.Node("layers", {"1": spy.Node("1"), "0": spy.Node("0")})
    squashed = spy.squash_numeric_indices(spy.Node("root", {"layers": layers}))
    assert shape_of(squashed) == {"layers": {}}
    assert sorted(find(squashed, "layers").indices) == [0, 1]


def pruned(paths):
    return spy.prune_leaves(spy.build_tree(paths))


def test_prune_drops_the_last_segment_and_keeps_single_ones():
    assert shape_of(pruned(PATHS)) == {"encoder": {"layers": {"attn": {}}}, "head": {}}


def test_prune_of_paths_that_end_within_others():
    assert shape_of(pruned(["a.b", "a.b.c"])) == {"a": {"b": {}}}


def test_prune_of_digits_at_the_end():
    """`a.layers.0` is of two segments; its number belongs to the second."""
    assert shape_of(pruned(["a.layers.0", "a.layers.1"])) == {"a": {}}


def test_json(tmp_path):
    spy.save_tree_json(spy.build_tree(PATHS), tmp_path / "tree.json")
    root = json.loads((tmp_path / "tree.json").read_text())

    def names_of(node):
        assert list(node) == ["name", "count", "indices", "children"]
        return {child["name"]: names_of(child) for child in node["children"]}

    wanted = {"encoder": {"layers": {"attn": {"q": {}}, "mlp": {}}}, "head": {}}
    assert names_of(root) == wanted
    encoder = root["children"][0]
    assert [int(i) for i in encoder["children"][0]["indices"]] == [0, 1]


# Graphs


def labels_of(graph):
    return sorted(a.get("label", name) for name, (_, a) in dot.read(graph.source).nodes.items())


def edges_of(graph):
    read = dot.read(graph.source)
    label = {name: a.get("label", name) for name, (_, a) in read.nodes.items()}
    return sorted((label[a], label[b]) for a, b, _ in read.edges)


def test_construct_graph_arguments():
    assert begins_with(
        spy.construct_graph,
        tree=...,
        show_repetition=True,
        prune_leaves_flag=True,
        squash_name=False,
    )


def test_graph_as_default():
    graph = spy.construct_graph(spy.build_tree(PATHS))
    labels = labels_of(graph)
    assert {"encoder", "layers x 2", "attn", "head"} <= set(labels) and "q" not in labels


def test_graph_with_leaves():
    graph = spy.construct_graph(spy.build_tree(PATHS), prune_leaves_flag=False)
    assert {"encoder", "layers x 2", "attn", "q", "mlp", "head"} <= set(labels_of(graph))
    below = {("layers x 2", "attn"), ("layers x 2", "mlp")}
    assert {("encoder", "layers x 2"), ("attn", "q")} | below <= set(edges_of(graph))


def test_graph_without_repetition():
    labels = labels_of(spy.construct_graph(spy.build_tree(PATHS), show_repetition=False))
    assert "layers" in labels and not any(" x " in label for label in labels)


def test_one_index_is_no_repetition():
    graph = spy.construct_graph(spy.build_tree(["a.layers.0.x", "a.layers.0.x"]))
    assert "layers" in labels_of(graph)


SAME = ["encoder.norm.x", "decoder.norm.x", "decoder.out.x"]


def test_names_are_apart_unless_squashed():
    apart = labels_of(spy.construct_graph(spy.build_tree(SAME)))
    assert apart.count("norm") == 2


def test_squash_name_merges_nodes_of_one_name():
    graph = spy.construct_graph(spy.build_tree(SAME), squash_name=True)
    assert labels_of(graph).count("norm") == 1
    assert {("encoder", "norm"), ("decoder", "norm"), ("decoder", "out")} <= set(edges_of(graph))


def test_attr_appears_in_the_source():
    graph = spy.construct_graph(spy.build_tree(PATHS))
    graph.attr(rankdir="LR")
    assert "rankdir=LR" in graph.source
    assert dot.read(graph.source).attributes["rankdir"] == "LR"


def test_render_options_arguments():
    assert begins_with(
        spy.apply_graph_render_options, graph=..., dpi=150, figwidth=None, figheight=None
    )


def test_render_options_in_the_source():
    graph = spy.construct_graph(spy.build_tree(PATHS))
    spy.apply_graph_render_options(graph)
    assert "dpi=150" in graph.source and "size=" not in graph.source
    spy.apply_graph_render_options(graph, dpi=96, figwidth=8, figheight=6.5)
    read = dot.read(graph.source).attributes
    assert read["dpi"] == "96" and read["ratio"] == "fill"
    assert [float(n) for n in read["size"].rstrip("!").split(",")] == [8, 6.5]
    assert 'size="8' in graph.source and '!"' in graph.source and "ratio=fill" in graph.source


def is_png(path):
    return pathlib.Path(path).read_bytes().startswith(png.SIGNATURE)


def test_render_gives_the_path_of_a_png(tmp_path):
    graph = spy.construct_graph(spy.build_tree(PATHS))
    path = graph.render(str(tmp_path / "calls"), cleanup=True)
    assert path == str(tmp_path / "calls.png") and is_png(path)
    assert names_in(tmp_path) == ["calls.png"]


def test_render_graph_arguments():
    found = defaults(spy.render_graph)
    assert {"dpi", "figwidth", "figheight"} <= set(found)
    assert (found["dpi"], found["figwidth"], found["figheight"]) == (150, None, None)


# The command


def command(folder, *words):
    return recording.run_python("-m", "monitorch.spy.graph", *words, folder=folder)


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(PATHS))
    return tmp_path / "t.txt"


def test_command_draws(tmp_path, trace):
    done = command(tmp_path, "--trace-file", trace, "--out", "calls.png")
    assert done.returncode == 0, done.stderr
    assert is_png(tmp_path / "calls.png")


def test_command_takes_all_the_old_options(tmp_path, trace):
    words = "--show-repetition --prune-leaves --squash-name --dpi 96 --figwidth 8 --figheight 6"
    negative = "--no-show-repetition --no-prune-leaves --save-json tree.json --verbose"
    for given in (words, negative):
        done = command(tmp_path, "--trace-file", trace, "--out", "calls.png", *given.split())
        assert done.returncode == 0, done.stderr
        assert is_png(tmp_path / "calls.png")
        (tmp_path / "calls.png").unlink()
    assert json.loads((tmp_path / "tree.json").read_text())["children"]


def test_command_needs_its_two_files(tmp_path, trace):
    assert command(tmp_path, "--trace-file", trace).returncode == 2
    assert command(tmp_path, "--out", "calls.png").returncode == 2
    assert os.listdir(tmp_path) == ["t.txt"]


@pytest.mark.parametrize("text", [None, ""])
def test_command_without_a_trace_says_so(tmp_path, text):
    if text is not None:
        (tmp_path / "none.txt").write_text(text)
    done = command(tmp_path, "--trace-file", "none.txt", "--out", "calls.png")
    assert done.returncode not in (0, None) and "none.txt" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "calls.png").exists()


def test_console_script():
    """pyproject.toml names it, for who installs the package."""
    text = (paths.ROOT / "pyproject.toml").read_text()
    assert 'trace_to_graph = "monitorch.spy.graph:main"' in text
