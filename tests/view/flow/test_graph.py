"""What leads to what, of real programs: recorded, made a graph, told in DOT and read back.

A node is told as `name:line`; an arrow as `source kind target`, where the kind is `-` made from, `=` the
same value, `!` written in place, `~` written through another name; `^` is added to what goes on to the
next turn, level or block.
"""

import re
import subprocess

import pytest

from tests.support import dot, paths, recording, viewer

pytestmark = pytest.mark.usefixtures("compiler_module")


def draw(folder, source, *words):
    """The graph of the program `source`, instrumented and run in a new process."""
    (folder / "program.py").write_text(source.lstrip("\n"))
    for command in (
        [paths.COMMAND, "--all", "--quiet", "program.py", "-o", "traced.py"],
        [recording.python_for(source), "traced.py"],
        [viewer.PATH, "graph", "run.mtrace", "-o", "flow.dot", "--max-nodes", "0", *words],
    ):
        done = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=recording.environment("on", folder / "run.mtrace", sources="yes"),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    return dot.read((folder / "flow.dot").read_text())


def labels(graph):
    """The nodes' labels, in the order in which they began."""
    ids = sorted(graph.nodes, key=lambda name: int(name[1:]))
    return {name: dot.words(graph.nodes[name][1]["label"]) for name in ids}


def nodes(graph):
    """`name:line`, by the node's id."""
    return {
        name: "{}:{}".format(*re.match(r"(.*?)(?: × \d+)? line (\d+)", label).groups())
        for name, label in labels(graph).items()
    }


def kind_of(edge):
    style = edge.get("style")
    kind = {"dashed": "=", "dotted": "~"}.get(style) or ("!" if "penwidth" in edge else "-")
    return kind + ("^" if "constraint" in edge else "")


def arrows(graph):
    names = nodes(graph)
    return sorted(
        f"{names[source]} {kind_of(edge)} {names[target]}" for source, target, edge in graph.edges
    )


def boxes(graph):
    return [group[-1] for group in graph.groups]


def assert_arrows(graph, wanted):
    assert arrows(graph) == sorted(line.strip() for line in wanted.strip().splitlines())


def test_statements_on_one_line_and_over_several(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
a = np.ones(2); b = a * 2; c = a - b
d = np.stack([
    a,
    c,
])
e, (f, *g) = d, (a, b, c)
""",
    )
    assert_arrows(
        graph,
        """
        a:2 - b:2
        a:2 - c:2
        b:2 - c:2
        a:2 - d:3
        c:2 - d:3
        d:3 = e:7
        a:2 = f:7
        b:2 = g[0]:7
        c:2 = g[1]:7
        """,
    )
    assert [label.split(" | ")[-1] for label in labels(graph).values()][:3] == [
        "a = np.ones(2)", "b = a * 2", "c = a - b",
    ]


def test_calls_are_joined_by_identity(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
def scale(x, by):
    y = x * by
    return y
def both(x):
    return scale(scale(x, x), x[:1])
a = np.ones(4)
b = a + scale(a, a * 3)
c = both(b)
""",
        "--fold", "none",
    )
    # The two calls in line 6 have the same names and lines: each arrow stands twice or once.
    assert_arrows(
        graph,
        """
        a:7 = x:2
        a:7 - by:2
        a:7 - b:8
        x:2 - y:3
        by:2 - y:3
        y:3 = return:4
        return:4 - b:8
        b:8 = x:5
        x:5 = x:2
        x:5 = by:2
        x:2 - y:3
        by:2 - y:3
        y:3 = return:4
        return:4 = x:2
        x:5 - by:2
        x:2 - y:3
        by:2 - y:3
        y:3 = return:4
        return:4 = return:6
        return:6 = c:9
        """,
    )
    assert [box.split()[0] for box in boxes(graph)] == ["scale", "both", "scale", "scale"]


def test_memory_that_is_written_to(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
x = np.zeros(4)
y = x
x += 1
y[0] = 5
def fill(target):
    target[:] = 7
    return target
z = fill(x)
w = z + y
""",
    )
    assert_arrows(
        graph,
        """
        x:2 = y:3
        x:2 ! x:4
        y:3 ! y:5
        x:4 - y:5
        y:5 = target:6
        target:6 ! target:7
        target:7 = return:8
        return:8 = z:9
        z:9 - w:10
        target:7 - w:10
        """,
    )
    marked = {nodes(graph)[name] for name, label in labels(graph).items() if "in place" in label}
    assert marked == {"x:4", "y:5", "target:7"}


def test_attributes_closures_and_globals(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
class Layer:
    def __init__(self):
        self.weight = np.ones(3)
    def __call__(self, x):
        self.last = x * self.weight
        return self.last + bias
def make(start):
    def inner(v):
        nonlocal start
        start = start + v
        return start
    return inner
bias = np.zeros(3)
layer = Layer()
inner = make(bias)
a = layer(bias)
b = inner(a)
c = inner(b)
""",
        "--fold", "none",
    )
    found = arrows(graph)
    for line in """
        self.weight:4 - self.last:6
        x:5 - self.last:6
        self.last:6 - return:7
        bias:14 - return:7
        bias:14 = x:5
        start:8 - start:11
        start:11 - start:11
        v:9 - start:11
        return:12 = b:18
        """.strip().splitlines():
        assert line.strip() in found, found


def test_loops_fold(tmp_path):
    source = """
import numpy as np
x = np.ones(2)
for row in np.ones((6, 2)):
    y = x * row
    for part in y:
        z = part + 1
    x = y
out = x + z
"""
    graph = draw(tmp_path, source)
    assert_arrows(
        graph,
        """
        x:2 - y:4
        row:3 - y:4
        x:7 -^ y:4
        y:4 - part:5
        part:5 - z:6
        y:4 = x:7
        x:7 - out:8
        z:6 - out:8
        """,
    )
    assert boxes(graph) == [
        "for row in np.ones((6, 2)): × 6  line 3", "for part in y: × 12  line 5",
    ]
    assert [label.split(" line")[0] for label in labels(graph).values()] == [
        "x", "row × 6", "y × 6", "part × 12", "z × 12", "x × 6", "out",
    ]
    unfolded = draw(tmp_path, source, "--fold", "none")
    assert len(unfolded.nodes) == 2 + 6 * 3 + 6 * 2 * 2
    assert boxes(unfolded) == []


def test_turns_that_differ_fold_only_where_all_is_asked_for(tmp_path):
    source = """
import numpy as np
x = np.ones(2)
for i in range(5):
    y = x + i
    if i == 2:
        x = y * 2
"""
    graph = draw(tmp_path, source)
    assert [label.split(" line")[0] for label in labels(graph).values()] == ["x", "y × 4", "y", "x"]
    graph = draw(tmp_path, source, "--fold", "all")
    assert [label.split(" line")[0] for label in labels(graph).values()] == ["x", "y × 5", "x"]


def test_a_recursion_folds(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
def halve(x, depth):
    y = x / 2
    if depth == 0:
        return y
    z = halve(y, depth - 1)
    return z + y
out = halve(np.ones(2), 40)
""",
    )
    assert boxes(graph) == ["halve × 40  line 2", "halve  line 2"]
    assert "y:3 =^ x:2" in arrows(graph) and "return:7 =^ z:6" in arrows(graph)


@pytest.mark.torch
def test_repeated_modules_fold(tmp_path):
    graph = draw(
        tmp_path,
        """
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
    def forward(self, x):
        h = self.inner(x)
        return x + h
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(Block(2) for _ in range(12)))
    def forward(self, x):
        return self.blocks(x)
out = Model()(torch.ones(1, 2))
""",
    )
    assert boxes(graph) == ["Model.forward  line 14", "blocks.0-11 Block.forward × 12  line 7"]
    assert_arrows(
        graph,
        """
        x:7 - h:8
        x:7 - return:9
        h:8 - return:9
        x:14 = x:7
        return:9 =^ x:7
        return:9 = return:15
        return:15 = out:16
        """,
    )


@pytest.mark.torch
def test_parameters_made_before_are_sources(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch\n"
        "class Scale(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.register_buffer('factor', torch.full((2,), 3.0))\n"
        "        self.register_parameter('bias', torch.nn.Parameter(torch.ones(2)))\n"
    )
    graph = draw(
        tmp_path,
        """
import torch
import model
class Shifted(model.Scale):
    def forward(self, x):
        y = x * self.factor
        return y + self.bias
shifted = Shifted()
out = shifted(torch.ones(2))
""",
    )
    told = {nodes(graph)[name]: label for name, label in labels(graph).items()}
    assert "(source)" in told["self.factor:5"] and "[2]" in told["self.factor:5"]
    assert "(source, parameter)" in told["self.bias:6"]
    assert {"self.factor:5 - y:5", "self.bias:6 - return:6"} <= set(arrows(graph))
    # Nothing that is no array is a source: torch, model, the module itself.
    assert len([label for label in told.values() if "source" in label]) == 2


def test_lines_make_sources_of_what_they_read(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
a = np.ones(2)
b = a + 1
c = a * b
d = c - b
""",
        "--lines", "4-5",
    )
    assert_arrows(graph, "a:2 - c:4\nb:3 - c:4\nc:4 - d:5\nb:3 - d:5")
    told = {nodes(graph)[name]: label for name, label in labels(graph).items()}
    assert "(source)" in told["a:2"] and "(source)" not in told["c:4"]


def test_equal_runs_make_equal_graphs(tmp_path):
    source = """
import numpy as np
x = np.arange(4.0)
for i in range(9):
    x = np.sin(x) + x[::-1]
"""
    first = draw(tmp_path, source)
    text = (tmp_path / "flow.dot").read_text()
    draw(tmp_path, source)
    assert (tmp_path / "flow.dot").read_text() == text
    assert len(first.nodes) == 2


def test_names_that_are_markup_are_escaped(tmp_path):
    graph = draw(
        tmp_path,
        """
import numpy as np
names = {"<b>&": np.ones(2), 'q"{': np.zeros(2)}
""",
    )
    told = list(labels(graph).values())
    assert told[0].startswith("names['<b>&'] line 2") and told[1].startswith("names['q\"{'] line 2")
