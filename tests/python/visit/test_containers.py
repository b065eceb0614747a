"""What a visit of a container records: the container, and those of its items that are new or changed."""

import json
import subprocess
import textwrap

import pytest

from tests.support import paths, recording, warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


def record(tmp_path, source, *options):
    program, trace = tmp_path / "program.py", tmp_path / "run.mtrace"
    program.write_text("import torch\n" + textwrap.dedent(source))
    subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-o", str(trace), *options, str(program)],
        env=recording.environment("off"),
        check=True,
        timeout=120,
    )
    return [e for e in map(json.loads, recording.show(trace).stdout.splitlines()) if "path" in e]


def items(events, name):
    """For each visit of the name, the paths of what was recorded of it."""
    visits = []
    for event in events:
        if event["name"] == name and event["path"] == "":
            visits.append([])
        elif event["name"] == name:
            visits[-1].append(event["path"])
    return visits


def paths_of(tmp_path, lines, name="o"):
    source = "def f():\n" + textwrap.indent(textwrap.dedent(lines), "    ") + "\nf()\n"
    return items(record(tmp_path, source), name)


GROWING = {
    "append": ("o = []", "o.append(torch.full((2,), float(i)))", "[{}]"),
    "extend": ("o = []", "o.extend([torch.full((2,), float(i))])", "[{}]"),
    "plus": ("o = []", "o += [torch.full((2,), float(i))]", "[{}]"),
    "dict": ("o = {}", "o[i] = torch.full((2,), float(i))", "[{}]"),
    "text": ("o = {}", "o[str(i)] = torch.full((2,), float(i))", "['{}']"),
    "update": ("o = {}", "o.update({i: torch.full((2,), float(i))})", "[{}]"),
    "pair": ("o = []", "o.append((torch.full((2,), float(i)), i))", "[{}][0]"),
    "after_others": ("o = list(range(1000, 2000))", "o.append(torch.ones(1))", "[10{:02}]"),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_is_added_is_recorded_once(tmp_path, name):
    begin, line, path = GROWING[name]
    found = paths_of(tmp_path, f"{begin}\nfor i in range(100):\n    {line}\n")
    assert found[0] == [] and found[1:] == [[path.format(i)] for i in range(100)]


CHANGES = {
    "replaced": ("o[1] = torch.zeros(3)", ["[1]"]),
    "written": ("o[1].add_(1)\no.append(torch.ones(1))", ["[1]", "[3]"]),
    "reversed": ("o.reverse()", ["[0]", "[2]"]),
    "last_one": ("o[-1] = torch.ones(4)", ["[2]"]),
    "popped": ("o.pop()", []),
    "popped_first": ("o.pop(0)", ["[0]", "[1]"]),
    "inserted": ("o.insert(0, torch.zeros(1))", ["[0]", "[1]", "[2]", "[3]"]),
    "cleared": ("o.clear()", []),
    "number": ("o[0] = 7", ["[0]"]),
    "same_again": ("o[0] = o[0]", []),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_is_recorded_again(tmp_path, name):
    line, expected = CHANGES[name]
    begin = "o = [torch.ones(1), torch.full((2,), 2.0), torch.full((1,), 3.0)]\n"
    assert sum(paths_of(tmp_path, begin + line)[1:], []) == expected


def test_of_a_dict_what_has_changed(tmp_path):
    found = paths_of(
        tmp_path,
        """
        o = {"a": torch.ones(1), "n": 1, "b": torch.ones(2)}
        o["a"] = torch.zeros(1)
        o["n"] = 2
        o["n"] = 2
        o["c"] = torch.ones(3)
        del o["a"]
        o["d"] = 1
        """,
    )
    assert found[1:] == [["['a']"], ["['n']"], [], ["['c']"], ["['n']", "['b']", "['c']", "['d']"]]


def test_a_new_container_is_recorded_whole_where_addresses_are_used_again(tmp_path):
    """The list and its tensors lie where those of the turn before lay."""
    source = """
    def f():
        for i in range(20):
            o = [torch.full((2,), float(i)), torch.full((2,), float(-i))]
            o.append(torch.full((2,), float(i)))
            del o

    class Model:
        def begin(self):
            self.o = []
        def add(self, i):
            self.o.append(torch.full((2,), float(i)))

    def g():
        m = Model()
        for i in range(20):
            m.begin()
            m.add(i)
            m.o.append(torch.full((2,), float(-i)))
    f()
    g()
    """
    events = record(tmp_path, source)
    assert items(events, "o") == [["[0]", "[1]"], ["[2]"]] * 20
    seen = [(e["path"], e["mean"]) for e in events if e["name"] == "m.o" and e["path"]]
    assert {("[0]", float(i)) for i in range(20)} <= set(seen)
    assert {("[1]", float(-i)) for i in range(20)} <= set(seen)


def test_tensors_in_a_large_list_of_numbers_are_found(tmp_path):
    events = record(
        tmp_path,
        """
        o = list(range(500))
        o[3] = torch.ones(1)
        p = list(range(500))
        for i in range(500):
            p[i] = i
        p[300] = torch.ones(1)
        q = p
        for i in range(10):
            p[i] = i
        """,
    )
    found = items(events, "p")
    assert found[:501] == [[]] * 501
    assert ["[300]"] in found[501:]
    assert items(events, "o") == [[], ["[3]"]] and items(events, "q") == [["[300]"]]
