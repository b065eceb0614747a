"""A NaN that lies beside what a statement reads, or lends it only its shape: `why` names the line that made the
NaN of the result. One program has all functions; the line that is right ends in `# HERE`.

In each, `bad` holds a NaN that was made before, and `ok` does not. 0/0 makes the NaN of `r`.
"""

import re
import subprocess
import textwrap

import pytest

from tests.support import recording, viewer, warm

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

HEAD = """
import collections
import dataclasses
import typing

import torch

zero = torch.zeros(3)


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


class Named(typing.NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Holder:
    pass


def both(bad, ok):
    return bad * 1, ok * 1


def table(bad, ok):
    return {"bad": bad * 1, "ok": ok * 1}


def second(a, b, scale=2):
    c = b * scale
    return c


def walk(bad, ok):
    for value in (bad, ok):
        yield value * 1
"""

WAYS = {
    "item": "parts = [bad, ok]\nr = parts[1] / zero * 0  # HERE",
    "item_from_the_end": "parts = [bad, ok]\nr = parts[-1] / zero * 0  # HERE",
    "item_by_name": "parts = [bad, ok]\ni = 1\nr = parts[i] / zero * 0  # HERE",
    "key": "parts = {'a': bad, 'b': ok}\nr = parts['b'] / zero * 0  # HERE",
    "get": "parts = {'a': bad, 'b': ok}\nr = parts.get('b') / zero * 0  # HERE",
    "nested": "parts = {'a': [bad, ok]}\nr = parts['a'][1] / zero * 0  # HERE",
    "dataclass": "pair = Pair(bad, ok)\nr = pair.right / zero * 0  # HERE",
    "named_tuple": "pair = Named(bad, ok)\nr = pair.right / zero * 0  # HERE",
    "attribute": "h = Holder()\nh.bad = bad\nh.ok = ok\nr = h.ok / zero * 0  # HERE",
    "loop": "out = []\nfor part in [bad, ok]:\n    out.append(part * 1)\nr = out[1] / zero * 0  # HERE",
    "append": "out = [bad]\nout.append(ok / zero * 0)  # HERE\nr = out[1]",
    "extend": "out = [bad]\nout.extend([ok / zero * 0])  # HERE\nr = out[1]",
    "insert": "out = [bad]\nout.insert(0, ok / zero * 0)  # HERE\nr = out[0]",
    "plus": "out = [bad]\nout += [ok / zero * 0]  # HERE\nr = out[1]",
    "update": "out = {'a': bad}\nout.update(b=ok / zero * 0)  # HERE\nr = out['b']",
    "setdefault": "out = {'a': bad}\nout.setdefault('b', ok / zero * 0)  # HERE\nr = out['b']",
    "pop": "out = [bad, ok]\nlast = out.pop()\nr = last / zero * 0  # HERE",
    "pop_inside": "out = [bad, ok]\nr = torch.stack([out.pop(), ok]) / zero * 0  # HERE",
    "zip": "out = [a / b * 0 for a, b in zip([bad, ok], [ok, zero])]  # HERE\nr = out[1]",
    "enumerate": "out = [v / zero * 0 for n, v in enumerate([bad, ok])]  # HERE\nr = out[1]",
    "star": "first, *rest = [bad, ok, ok]\nr = rest[0] / zero * 0  # HERE",
    "two_targets": "a, r = bad * 1, ok / zero * 0  # HERE",
    "two_results": "a, b = both(bad, ok)\nr = b / zero * 0  # HERE",
    "result_by_place": "r = both(bad, ok)[1] / zero * 0  # HERE",
    "result_by_key": "r = table(bad, ok)['ok'] / zero * 0  # HERE",
    "argument": "r = second(bad, ok) / zero * 0  # HERE",
    "keyword": "r = second(a=bad, b=ok, scale=1) / zero * 0  # HERE",
    "generator": "a, b = walk(bad, ok)\nr = b / zero * 0  # HERE",
    "closure": "def inner(v):\n    w = v / zero * 0  # HERE\n    return w\nn = bad\nr = inner(ok)",
    "dtype": "r = ok.to(bad.dtype) / zero * 0  # HERE",
    "zeros_like": "r = torch.zeros_like(bad) / zero  # HERE",
    "new_zeros": "r = bad.new_zeros(3) / zero  # HERE",
    "shape": "r = torch.zeros(bad.shape) / zero  # HERE",
    "length": "r = ok / zero * (len(bad) - len(bad))  # HERE",
    "is_none": "r = ok / zero * 0 if bad is not None else bad  # HERE",
    "expand_as": "r = zero.expand_as(bad) / zero  # HERE",
}


def program():
    """The text, and the number of the line that is right for each function."""
    text = HEAD
    for name, body in WAYS.items():
        text += f"\n\ndef way_{name}(bad, ok):\n" + textwrap.indent(body, "    ") + "\n    return r\n"
    text += "\n\nok = torch.ones(3)\nbad = zero / zero\n"
    text += "".join(f"way_{name}(bad, ok)\n" for name in WAYS)
    lines = text.splitlines()
    here = {}
    for name in WAYS:
        begin = lines.index(f"def way_{name}(bad, ok):")
        here[name] = next(n for n in range(begin, len(lines)) if lines[n].endswith("# HERE")) + 1
    return text, here


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    text, here = program()
    (folder / "program.py").write_text(text)
    words = ["-m", "monitorch", "run", "-q", "program.py"]
    done = subprocess.run(
        [warm.python(), *words], cwd=folder, env=recording.environment("off"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    events = recording.read(folder / "run.mtrace").events
    last = {}
    for event in events:
        if event.name == "return" and str(event.function).startswith("way_"):
            last[event.function.removeprefix("way_")] = event.seq
    return folder / "run.mtrace", here, last


@pytest.mark.parametrize("name", WAYS)
def test_why_names_the_line_of_the_result(traced, name):
    trace, here, last = traced
    said = viewer.run("why", trace, f"#{last[name]}")
    assert said.returncode == 1, said.stdout + said.stderr
    assert re.match(rf"\S*program\.py:{here[name]}: NaN (made|entered) here", said.stdout), said.stdout
