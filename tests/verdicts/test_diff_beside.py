"""A difference that lies beside what a statement reads, or lends it only its shape: `diff` says that what the statement
then does otherwise is its own. One program has all functions; of each the line that was edited ends in `# HERE`.

In both runs `ok` is the same, and `odd` is not. `FACTOR` is 2 in A and 3 in B. In the functions of PASSED, which nobody
edited, the difference of `odd` goes into the result: that one is inherited.
"""

import json
import textwrap

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs
from tests.verdicts.test_beside import HEAD

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

BESIDE = {
    "item": "parts = [odd, ok]\nr = parts[1] * FACTOR  # HERE",
    "item_from_the_end": "parts = [odd, ok]\nr = parts[-1] * FACTOR  # HERE",
    "key": "parts = {'a': odd, 'b': ok}\nr = parts['b'] * FACTOR  # HERE",
    "get": "parts = {'a': odd, 'b': ok}\nr = parts.get('b') * FACTOR  # HERE",
    "nested": "parts = {'a': [odd, ok]}\nr = parts['a'][1] * FACTOR  # HERE",
    "dataclass": "pair = Pair(odd, ok)\nr = pair.right * FACTOR  # HERE",
    "named_tuple": "pair = Named(odd, ok)\nr = pair.right * FACTOR  # HERE",
    "attribute": "h = Holder()\nh.odd = odd\nh.ok = ok\nr = h.ok * FACTOR  # HERE",
    "loop": "out = []\nfor part in [odd, ok]:\n    out.append(part * 1)\nr = out[1] * FACTOR  # HERE",
    "append": "out = [odd]\nout.append(ok * FACTOR)  # HERE\nr = out[1]",
    "two_targets": "a, r = odd * 1, ok * FACTOR  # HERE",
    "two_results": "a, b = both(odd, ok)\nr = b * FACTOR  # HERE",
    "result_by_place": "r = both(odd, ok)[1] * FACTOR  # HERE",
    "argument": "r = second(odd, ok) * FACTOR  # HERE",
    "dtype": "r = ok.to(odd.dtype) * FACTOR  # HERE",
    "zeros_like": "r = torch.zeros_like(odd) + FACTOR  # HERE",
    "shape": "r = torch.ones(odd.shape) * FACTOR  # HERE",
    "length": "r = ok * (len(odd) - 1) * FACTOR  # HERE",
    "expand_as": "r = ok.expand_as(odd) * FACTOR  # HERE",
    "overwritten": "x = odd * 1\nx = ok * 1\nr = x * FACTOR  # HERE",
    # These were written before any of them was tried, and tried last.
    "slice": "parts = [odd, ok, ok]\nr = parts[1:][0] * FACTOR  # HERE",
    "pop": "parts = [odd, ok]\nlast = parts.pop()\nr = last * FACTOR  # HERE",
    "unpacked": "first, *rest = [odd, ok, ok]\nr = rest[0] * FACTOR  # HERE",
    "zip": "out = [a * FACTOR for a, b in zip([ok, ok], [ok, odd])]  # HERE\nr = out[1]",
    "filled": "x = odd * 1\nx.copy_(ok)\nr = x * FACTOR  # HERE",
    "closure": "n = odd\ndef inner(v):\n    w = v * FACTOR  # HERE\n    return w\nr = inner(ok)",
    "generator": "a, b = walk(odd, ok)\nr = b * FACTOR  # HERE",
    "other_object": "h, g = Holder(), Holder()\nh.x = odd\ng.x = ok\nr = g.x * FACTOR  # HERE",
}
HELD_BACK = list(BESIDE)[20:]

PASSED = {
    "item": "parts = [odd, ok]\nr = parts[0] * 2",
    "loop": "out = []\nfor part in [odd, ok]:\n    out.append(part * 1)\nr = out[0] * 2",
    "attribute": "h = Holder()\nh.odd = odd\nh.ok = ok\nr = h.odd * 2",
    "two_results": "a, b = both(odd, ok)\nr = a * 2",
    "filled": "x = ok * 1\nx.copy_(odd)\nr = x * 2",
    "container": "parts = {'a': odd}\nr = torch.stack(list(parts.values())).sum(0)",
    "number": "n = odd.sum().item()\nr = ok * n",
    "closure": "n = odd\ndef inner(v):\n    w = v * n\n    return w\nr = inner(ok)",
}


def program(factor, first):
    """The text, and of each function the number of its line."""
    text = HEAD
    for prefix, bodies in (("beside", BESIDE), ("passed", PASSED)):
        for name, body in bodies.items():
            text += f"\n\ndef {prefix}_{name}(odd, ok):\n" + textwrap.indent(body, "    ") + "\n    return r\n"
    text += f"\n\nok = torch.ones(3)\nodd = torch.ones(3) * {first}\n"
    text += "".join(f"beside_{name}(odd, ok)\n" for name in BESIDE)
    text += "".join(f"passed_{name}(odd, ok)\n" for name in PASSED)
    text = text.replace("FACTOR", str(factor))
    lines = text.splitlines()
    places = {}
    for prefix, bodies in (("beside", BESIDE), ("passed", PASSED)):
        for name in bodies:
            begin = lines.index(f"def {prefix}_{name}(odd, ok):")
            ends = " # HERE" if prefix == "beside" else "return r"
            places[prefix, name] = next(n for n in range(begin, len(lines)) if lines[n].endswith(ends)) + 1
    return text, places


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Of each line of B, the classes of the differences of its values."""
    traces = []
    for side, factor, first in (("a", 2, 2), ("b", 3, 5)):
        folder = tmp_path_factory.mktemp(side)
        text, places = program(factor, first)
        (folder / "program.py").write_text(text)
        done = forked_runs.run(folder, ["monitorch", "run", "-q", "program.py"])
        assert done.code == 0, done.output
        traces.append(folder / "run.mtrace")
    said = viewer.run("diff", "--json", *traces)
    assert said.returncode == 1, said.stdout + said.stderr
    known = {}
    for row in map(json.loads, said.stdout.splitlines()):
        if row["record"] == "difference":
            known.setdefault(row.get("line"), []).append(row["class"])
    return known, places


@pytest.mark.parametrize("name", BESIDE)
def test_what_lies_beside_makes_nothing_inherited(classes, name):
    known, places = classes
    assert "own" in known[places["beside", name]], known[places["beside", name]]


@pytest.mark.parametrize("name", PASSED)
def test_what_goes_in_does(classes, name):
    known, places = classes
    line = places["passed", name]
    assert set(known[line]) == {"inherited"} and set(known[line - 1]) <= {"inherited"}, (known[line - 1], known[line])
