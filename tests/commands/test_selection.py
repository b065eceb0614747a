"""The selections of docs/reference/selection.md, through each command and interface that chooses by name."""

import json
import re

import pytest

from tests.support import compiler, paths, recording, viewer, warm

pytestmark = pytest.mark.torch
PAGE = (paths.ROOT / "docs/reference/selection.md").read_text()
CLASS = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
ROWS = [
    (row[1], frozenset(re.findall(r"`([^`]+)`", row[2])))
    for row in re.finditer(r"^\| `([^`]+)` \| (`.*|nothing) \|$", PAGE.partition("## Words")[0], re.MULTILINE)
]
# A name of each value, without the items of containers: what is known before any value exists.
WRITTEN = {"self", "x", "q", "k", "attn_w", "out", "table", "box", "box.item", "self.last", "return"}
LOCALS = {"q", "k", "attn_w", "out", "table", "box"}
# What pictures draw and savers save.
TENSORS = {"x", "q", "k", "attn_w", "out[0]", "out[1]", "table['a.b']", "box.item", "self.last", "return"}
PROGRAM = f"""\
import torch
from torch import nn


class Box:
    pass


{CLASS}"""
USE = "\n\nif __name__ == '__main__':\n    Net()(torch.ones(2, 4))\n"

# Run once: what each Python interface chooses for each selection.
INTERFACES = """\
import io, json, logging, os, re, sys, torch, warnings
import monitorch, net
from monitorch.spy import DebugContext, TensorSaver, spy_load
from monitorch.tracker import var_tracker

warnings.simplefilter("ignore")
rows = json.loads(sys.argv[1])
found = {"values": {}, "saver": {}, "tracker": {}}
original = net.Net.forward
for i, row in enumerate(rows):
    with monitorch.record(f"values{i}.mtrace", values=row, sample=0):
        net.Net()(torch.ones(2, 4))
    found["values"][row] = [entry.name for entry in spy_load(f"values{i}.mtrace").entries()]

    saver = TensorSaver(f"saved{i}", names=row)
    with DebugContext(saver):
        net.Net()(torch.ones(2, 4))
    saver.close()
    found["saver"][row] = [entry.name for entry in spy_load(f"saved{i}").entries()] if os.path.isdir(f"saved{i}") else []

    text = io.StringIO()
    handler = logging.StreamHandler(text)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    net.Net.forward = var_tracker(*row.split(","))(original)
    net.Net()(torch.ones(2, 4))
    net.Net.forward = original
    logging.getLogger().removeHandler(handler)
    found["tracker"][row] = re.findall(r"\\u2502   \\u251c\\u2500 \\[\\w+\\] (\\S+)@", text.getvalue())
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("selection")
    (folder / "plain.py").write_text(PROGRAM + USE)
    (folder / "net.py").write_bytes(compiler.instrument((PROGRAM + USE).encode(), "net.py", all=True).text)
    done = recording.run_python(
        "net.py", python=warm.python(), folder=folder, env=recording.environment("on", folder / "run.mtrace")
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def interfaces(folder):
    (folder / "interfaces.py").write_text(INTERFACES)
    done = recording.run_python(
        "interfaces.py", json.dumps([row for row, _ in ROWS]), python=warm.python(), folder=folder,
        env=recording.environment("off"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def of_forward(events):
    return {e["name"] + e["path"] for e in events if e["record"] == "event" and e["function"] == "Net.forward"}


def records(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_page_has_rows():
    assert len(ROWS) >= 15 and all(wanted or row == "w" for row, wanted in ROWS)


@pytest.mark.parametrize(("row", "wanted"), ROWS, ids=[row for row, _ in ROWS])
def test_filters(row, wanted, folder):
    trace = folder / "run.mtrace"
    for command in (["show", "--json"], ["export", "--jsonl"]):
        assert of_forward(records(viewer.run(*command, trace, "--name", row))) == wanted, command
    checked = viewer.run("check", trace, "--name", row, "--json")
    everything = records(viewer.run("show", "--json", trace, "--name", row))
    count = sum(e["record"] == "event" for e in everything)
    assert f'"matched":{count},' in checked.stdout
    drawn = viewer.run("graph", trace, "--name", row, "-o", "-", "--format", "dot")
    assert drawn.returncode == (0 if wanted & TENSORS else 1), drawn.stderr


@pytest.mark.parametrize(("row", "wanted"), ROWS, ids=[row for row, _ in ROWS])
def test_diff_ignores(row, wanted, folder):
    """Each value of the second run differs; those that are named do not count."""
    other = folder / "other.mtrace"
    if not other.exists():
        text = (folder / "net.py").read_text().replace("torch.ones(2, 4)", "torch.zeros(2, 4)")
        (folder / "other.py").write_text(text)
        recording.run_python(
            "other.py", python=warm.python(), folder=folder, env=recording.environment("on", other)
        )
    done = viewer.run("diff", folder / "run.mtrace", other, "--ignore", row, "--json")
    named = {record.get("name", "") + record.get("path", "") for record in records(done)}
    assert not named & wanted


@pytest.mark.parametrize(("row", "wanted"), ROWS, ids=[row for row, _ in ROWS])
@pytest.mark.parametrize("interface", ["values", "saver", "tracker"])
def test_interfaces(interface, row, wanted, interfaces):
    found = set(interfaces[interface][row])
    if interface == "tracker":  # arguments and results have lines of their own
        assert found - {"x"} == wanted - {"x", "return", "self"}
    elif interface == "values":
        assert found == wanted & TENSORS
    else:
        assert found == (wanted & TENSORS if wanted & WRITTEN else set())


@pytest.mark.parametrize(("row", "wanted"), ROWS, ids=[row for row, _ in ROWS])
def test_spy_of_the_compiler(row, wanted):
    """It writes calls behind assignments to local variables."""
    text = compiler.instrument(PROGRAM.encode(), "net.py", spy=row.split(",")).text.decode()
    assert set(re.findall(r'spy_save\("(\w+)"', text)) == wanted & LOCALS
