"""Trees and graphs of calls against a slow plain model of their rules, on paths made by chance."""

from __future__ import annotations

import copy
import json
from collections import Counter

import pytest

from tests.support import dot
from tests.view.calls.call_model import Graph, Tree

hypothesis = pytest.importorskip("hypothesis")
graphs = pytest.importorskip("monitorch.spy.graph", reason="the package is not built (make)")

given, st = hypothesis.given, hypothesis.strategies

# Few names, so that paths meet; some that have a meaning, some that have to be escaped.
SEGMENTS = st.one_of(
    st.sampled_from("a b layers norm root 0 1 2 00 07 x1 1x".split()),
    st.sampled_from(["", "é", "²", 'q"', "b\\", "<i>", "a b", "node", "1" * 18, "1" * 19]),
)
PATHS = st.lists(st.lists(SEGMENTS, max_size=6).map(".".join), max_size=25)
FLAGS = st.tuples(st.booleans(), st.booleans(), st.booleans())


def told(node, above=()):
    """{key: (count, calls, first_seen, indices, parents)} of what is below the node, in order."""
    found = {}
    for name, child in node.children.items():
        assert child.name == name
        key = (*above, name)
        found[key] = (child.count, child.calls, child.first_seen, child.indices, child.parents)
        found.update(told(child, key))
    return found


def as_told(tree, key):
    above = key[-2] if len(key) > 1 else "root"
    return (
        tree.counts[key],
        tree.ends[key],
        tree.first_seen[key],
        tree.indices[key],
        {above},
    )


def model_of(tree, keys):
    """The same of the model, in the order of a walk from the root."""
    found = {}

    def walk(above):
        for key in tree.children(above):
            if key in keys:
                found[key] = as_told(tree, key)
                walk(key)

    walk(())
    return found


def same(found, wanted):
    return found == wanted and list(found) == list(wanted)


@given(PATHS)
def test_build_tree(paths):
    tree, model = graphs.build_tree(paths), Tree(paths)
    assert same(told(tree), model_of(model, set(model.counts)))
    assert (tree.name, tree.count, tree.indices, tree.parents) == ("root", len(paths), set(), set())


@given(PATHS)
def test_prune_leaves(paths):
    tree, model = graphs.build_tree(paths), Tree(paths)
    before = copy.deepcopy(told(tree))
    pruned = graphs.prune_leaves(tree)
    assert same(told(pruned), model_of(model, model.pruned()))
    assert told(tree) == before and pruned.count == len(paths)


def plain_tree(paths):
    """A tree in which numbers are nodes of their own."""
    root = graphs.Node("root", count=len(paths))
    for number, path in enumerate(paths):
        node = root
        for name in filter(None, path.split(".")):
            below = node.children.setdefault(name, graphs.Node(name, first_seen=number))
            below.parents.add(node.name)
            below.count += 1
            node = below
        node.calls += 1
    return root


@given(PATHS)
def test_squash_of_a_plain_tree_is_the_built_one(paths):
    squashed, built = told(graphs.squash_numeric_indices(plain_tree(paths))), told(
        graphs.build_tree(paths)
    )
    assert squashed == built


@given(PATHS)
def test_squash_changes_nothing_twice(paths):
    tree = graphs.build_tree(paths)
    assert same(told(graphs.squash_numeric_indices(tree)), told(tree))


def read_graph(source):
    read = dot.read(source)
    label = {name: attributes["label"] for name, (_, attributes) in read.nodes.items()}
    edges = Counter((label[a], label[b]) for a, b, _ in read.edges)
    assert len({(a, b) for a, b, _ in read.edges}) == len(read.edges)
    return Counter(label.values()), edges


@given(PATHS, FLAGS)
def test_graph(paths, flags):
    graph = graphs.construct_graph(graphs.build_tree(paths), *flags)
    labels, edges = read_graph(graph.source)
    model = Graph(paths, *flags)
    assert labels == model.labels
    assert edges == model.edges


@given(PATHS)
def test_json(tmp_path_factory, paths):
    tree = graphs.build_tree(paths)
    path = tmp_path_factory.mktemp("json") / "tree.json"
    graphs.save_tree_json(tree, path)

    def plain(node):
        return {
            "name": node.name,
            "count": node.count,
            "indices": sorted(node.indices),
            "children": [plain(child) for child in node.children.values()],
        }

    assert json.loads(path.read_text(encoding="utf-8")) == plain(tree)


@given(PATHS, FLAGS)
@hypothesis.settings(max_examples=30, deadline=None)
def test_pictures_are_drawn(paths, flags):
    graph = graphs.construct_graph(graphs.build_tree(paths), *flags)
    assert graph._draw("svg").startswith(b"<?xml")


def test_very_long_paths():
    path = ".".join(f"a{i}" for i in range(20_000))
    tree = graphs.build_tree([path, path])
    depth = 0
    while tree.children:
        (tree,) = tree.children.values()
        depth += 1
    assert depth == 20_000 and tree.count == tree.calls == 2
