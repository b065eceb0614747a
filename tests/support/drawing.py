"""Programs drawn as a user draws them: a plain script between `monitorch.on` and `monitorch.off`."""

import textwrap

from tests.support import dot, recording, svg

SCRIPT = """{before}
import monitorch
monitorch.on(show=False, save=True, {settings})
{body}
import time as _time
_started = _time.perf_counter()
_output = monitorch.off(filename="flow.{suffix}")
print("nodes", _output.node_count, "seconds", _time.perf_counter() - _started)
"""


class Drawn:
    """The file that was written, and what the program printed of it."""

    def __init__(self, data, printed="nodes 0 seconds 0"):
        self.data = data
        words = printed.split()
        self.node_count, self.seconds = int(words[-3]), float(words[-1])


def run(folder, body, before="", suffix="svg", **settings):
    """Runs `body` in a new process; `before` is run before anything is followed."""
    settings = {"max_nodes": 1000, **settings}
    text = SCRIPT.format(
        before=textwrap.dedent(before),
        body=textwrap.dedent(body),
        suffix=suffix,
        settings=", ".join(f"{name}={value!r}" for name, value in settings.items()),
    )
    (folder / "program.py").write_text(text)
    done = recording.run_file(folder, "program.py")
    assert done.returncode == 0, done.stderr
    return Drawn((folder / "monitorch_outputs" / f"flow.{suffix}").read_bytes(), done.stdout)


def boxes(drawn):
    """The texts of each node, in the order of the picture."""
    return [[text.value for text in node.all_texts()] for node in svg.read(drawn.data).find("node")]


def arrows(drawn):
    """Pairs (name, name) of what is drawn in DOT, names as the labels begin with them."""
    graph = dot.read(drawn.data.decode())
    names = {
        name: dot.words(attributes["label"]).split()[0]
        for name, (_, attributes) in graph.nodes.items()
    }
    return [(names[source], names[target]) for source, target, _ in graph.edges]


def names(drawn):
    """What the nodes' labels begin with."""
    graph = dot.read(drawn.data.decode())
    return [dot.words(attributes["label"]).split()[0] for _, attributes in graph.nodes.values()]
