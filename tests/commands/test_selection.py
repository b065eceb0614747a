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
    for row in re.finditer(
        r"^\| `([^`]+)` \| (`.*|nothing) \|$", PAGE.partition("## Numbers")[0], re.MULTILINE
    )
]
NUMBERS, CONDITIONS = (
    [
        (row[1], set() if row[2] == "nothing" else set(map(float, row[2].split(","))))
        for row in re.finditer(r"^\| `([^`]+)` \| ([-\d][^|]*|nothing|nan) \|$", part, re.MULTILINE)
    ]
    for part in PAGE.partition("## Words")[0].partition("## Numbers")[2].split("| condition |")
)
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


# ---- numbers and conditions ----


def test_the_page_has_numbers_and_conditions():
    assert len(NUMBERS) >= 6 and len(CONDITIONS) >= 4


# Each step saves one value of `y`; each line of `lines` assigns one.
COUNTED = """\
import json, sys, torch, warnings
import monitorch, counted
from monitorch.monitor import ModuleMonitor
from monitorch.spy import DebugContext, TensorSaver, spy_load

warnings.simplefilter("ignore")
numbers, conditions = json.loads(sys.argv[1])
found = {"steps": {}, "calls": {}, "alert": {}, "start_when": {}}
for i, row in enumerate(numbers):
    with monitorch.record(f"steps{i}.mtrace", steps=row, include="counted"):
        for step in range(6):
            counted.double(torch.tensor(float(step)))
            monitorch.step()
    found["steps"][row] = [event for event in monitorch.load(f"steps{i}.mtrace", name="x")["mean"]]
    saver = TensorSaver(f"calls{i}", names="y", calls=row)
    with DebugContext(saver):
        for step in range(6):
            counted.double(torch.tensor(float(step)))
    found["calls"][row] = [entry.call for entry in spy_load(f"calls{i}").entries()]
for row in conditions:
    found["alert"][row], found["start_when"][row] = [], []
    for text in ("0", "1", "2", "inf", "-inf", "nan"):
        monitor = ModuleMonitor(lambda step: True)
        monitor.set_module(torch.nn.Linear(1, 1))
        monitor.alert(row, lambda alert: found["alert"][row].append(text))
        monitor.begin_step(0)
        monitor.log_scalar("loss", float(text))
        monitor.end_step()
        loss = float(text)
        with monitorch.record("when.mtrace", start_when=row, include="counted") as recording:
            monitorch.step()
            counted.double(torch.tensor(1.0))
        if recording.summary.events:
            found["start_when"][row].append(text)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def counted(folder):
    plain = b"def double(x):\n    y = x * 2\n    return y\n"
    (folder / "counted.py").write_bytes(compiler.instrument(plain, "counted.py", all=True).text)
    (folder / "numbers.py").write_text(COUNTED)
    rows = [[row for row, _ in NUMBERS], [row for row, _ in CONDITIONS]]
    done = recording.run_python(
        "numbers.py", json.dumps(rows), python=warm.python(), folder=folder, env=recording.environment("off")
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("row", "wanted"), NUMBERS, ids=[row for row, _ in NUMBERS])
def test_numbers(row, wanted, counted, folder):
    assert set(counted["steps"][row]) == wanted
    assert set(counted["calls"][row]) == wanted
    shown = viewer.run("show", "--json", folder / "run.mtrace", "--line", row)
    lines = {event["line"] for event in records(shown) if event["record"] == "event"}
    assert lines & set(range(1, 6)) <= wanted
    assert (shown.returncode == 1) == (not lines)


@pytest.mark.parametrize(("row", "wanted"), CONDITIONS, ids=[row for row, _ in CONDITIONS])
@pytest.mark.parametrize("interface", ["alert", "start_when"])
def test_conditions(interface, row, wanted, counted):
    assert set(counted[interface][row]) == {f"{number:g}" for number in wanted}


# ---- selections that match nothing ----


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--line", "900-"], "--line 900- matches nothing; the recorded lines are "),
        (["--call", "999"], "--call 999 matches nothing; the calls are 1-"),
        (["--thread", "7"], "--thread 7 matches nothing; there are 0 and MainThread"),
        (["--kind", "loop"], "--kind loop matches nothing; there are "),
        (["--function", "Net.forwrad"], "--function Net.forwrad matches nothing; did you mean Net.forward?"),
    ],
)
def test_filters_that_match_nothing(words, message, folder):
    for command in ("show", "export") if words[0] == "--kind" else ("show", "graph", "export"):
        options = {"graph": ["-o", "x.dot"], "export": ["--jsonl"]}.get(command, [])
        done = viewer.run(command, folder / "run.mtrace", *words, *options)
        assert done.returncode == 1 and message in done.stderr, command


UNMATCHED = """\
import logging, torch, warnings
import monitorch, net
from monitorch.spy import DebugContext, TensorSaver

logging.basicConfig(format="%(message)s")
with monitorch.record("u.mtrace", values="q,atn_w,out[0]"):
    net.Net()(torch.ones(2, 4))
saver = TensorSaver("u", names="k,tabel", lines=["net.py:2", "10-20"], modules="encodr")
for _ in range(2):
    with DebugContext(saver):
        net.Net()(torch.ones(2, 4))
"""


def test_interfaces_that_match_nothing(folder):
    (folder / "unmatched.py").write_text(UNMATCHED)
    done = recording.run_python(
        "unmatched.py", python=warm.python(), folder=folder, env=recording.environment("off")
    )
    lines = [line.partition("Warning: ")[2] or line for line in done.stderr.splitlines()]
    assert [line for line in lines if not line.startswith(" ")] == [
        "monitorch: values='atn_w' matches no recorded name; did you mean 'attn_w'?",
        "names='tabel': no recorded line assigns this name; did you mean 'table'?",
        "lines='net.py:2': no recorded line there assigns a value",
        "modules='encodr' matches no module that ran; there are 'root'",
    ]


def test_lines_of_run_that_match_nothing(folder):
    done = recording.run_python(
        *("-m", "monitorch", "run", "--no-record", "--lines", "plain.py:1-2", "--lines", "plain.py:900-", "plain.py"),
        folder=folder, env=recording.environment("off"),
    )  # fmt: skip
    assert "--lines plain.py:900-: no line there assigns a value" in done.stderr
