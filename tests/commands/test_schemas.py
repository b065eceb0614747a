"""The schemas of docs/reference/schemas: what each command prints for programs fits them, and each of their
properties is printed by some answer here."""

import json
import re
import shutil
import struct
import subprocess

import jsonschema
import pytest

from tests.support import pages, paths, recording, viewer, warm
from tests.trace import made, scenarios
from tests.trace.made import Trace, tensor

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]
SCHEMAS = paths.ROOT / "docs" / "reference" / "schemas"
NAMES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
Plain = jsonschema.Draft202012Validator

# Keywords whose subschemas describe values of the instance; those of `if` and `not` only choose.
BRANCHES = ("oneOf", "anyOf", "allOf")


def schema_of(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())


def described(schema):
    """Every property of a schema, as (id of its `properties`, name): schema."""
    found = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        for name, inner in part.get("properties", {}).items():
            found[id(part["properties"]), name] = inner
        waiting += part.get("properties", {}).values()
        waiting += part.get("$defs", {}).values()
        waiting += [inner for word in BRANCHES for inner in part.get(word, ())]
        waiting += [
            part[word]
            for word in ("items", "additionalProperties")
            if isinstance(part.get(word), dict)
        ]
    return found


class Checker:
    """Validates answers, and collects the properties that they had."""

    def __init__(self, schema):
        seen = self.seen = set()

        def one_of(validator, branches, instance, schema):
            plain = Plain(self.schema)
            fitting = [b for b in branches if plain.evolve(schema=b).is_valid(instance)]
            if len(fitting) == 1:
                yield from validator.descend(instance, fitting[0])
                return
            yield jsonschema.ValidationError(f"fits {len(fitting)} of the {len(branches)} schemas")
            for branch in branches:
                yield from plain.evolve(schema=branch).iter_errors(instance)

        def properties(validator, table, instance, schema):
            if isinstance(instance, dict):
                seen.update((id(table), name) for name in table if name in instance)
            yield from Plain.VALIDATORS["properties"](validator, table, instance, schema)

        self.schema = schema
        kind = jsonschema.validators.extend(Plain, {"oneOf": one_of, "properties": properties})
        self.validator = kind(schema)

    def errors(self, instance):
        return [
            f"{error.json_path}: {error.message}" for error in self.validator.iter_errors(instance)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_describes_each_field_in_words(name):
    schema = schema_of(name)
    Plain.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"].startswith("monitorch") and schema["description"]
    for (_, field), inner in described(schema).items():
        text = inner.get("description", "")
        assert len(text) > 10 and text.endswith("."), (field, text)


def test_a_property_that_no_schema_has_is_an_error():
    """Of any record: an answer with one more field, or with one field less, does not fit."""
    checker = Checker(schema_of("check"))
    good = dict(record="check", trace="t", verdict="ok", events=1, matched=1, failed=0, unchecked=0)
    assert checker.errors(good) == []
    for bad in (
        {**good, "more": 1},
        {k: v for k, v in good.items() if k != "failed"},
        {**good, "verdict": "fine"},
    ):
        assert checker.errors(bad)


def test_lists_of_words_are_those_of_the_sources():
    """What the answers below do not have is described too."""

    def of_source(file, pattern):
        found = re.findall(pattern, (paths.ROOT / "runtime" / file).read_text(), re.MULTILINE)
        assert found
        return sorted(found)

    def listed(name, record, field):
        return sorted(schema_of(name)["$defs"][record]["properties"][field]["enum"])

    kinds = of_source("site/kinds.def", r"^SITE_KIND\(\w+, '.', \"(\w+)\"")
    for name, record in (("show", "event"), ("show", "site"), ("instrument", "site")):
        assert listed(name, record, "kind") == kinds
    checks = of_source("view/check/kinds.def", r'^CHECK\(\w+, "([\w-]+)"')
    assert listed("check", "finding", "check") == checks
    differences = dict(of_source("view/words/change_text.c", r'\{(LOG_DIFFERS_\w+), "(\w+)"\}'))
    words = "view/diff/report/words.c"
    causes = [differences[key] for key in of_source(words, r"return difference_text\((\w+)\)")]
    causes += of_source(words, r'^    case DIFF_CAUSE_\w+:\n +return "(.+)"')
    assert listed("diff", "difference", "cause") == sorted(causes)
    values = of_source("trace/value_kinds.def", r'^VALUE_KIND\(\w+, "([\w ]+)"')
    assert listed("show", "event", "value_kind") == values
    changes = of_source("trace/changes.def", r'^CHANGE\(\w+, "(\w*)"')
    assert listed("show", "event", "change") == changes


# ---- the answers ----


def answer(command, *words, exit_code):
    """The objects that a command prints, one of each line."""
    done = viewer.run(command, *words)
    assert done.returncode == exit_code, (command, words, done.stdout, done.stderr)
    return [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.splitlines()]


def record(folder, text, *options, name="program.py", **variables):
    """The trace of a program that `monitorch run` records."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    words = [recording.python_for(text), "-m", "monitorch", "run", "-q", *options, name]
    done = subprocess.run(
        words, cwd=folder, env={**pages.environment(), **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


EMPTY_ROW = """\
import torch


def attend(scores, mask):
    masked = scores.masked_fill(mask, -torch.inf)
    weights = masked.softmax(-1)
    return weights


def main(scale=0.5, title="one"):
    scores = torch.arange(6.0).view(2, 3) * scale
    words = [title, scores]
    mask = torch.tensor([[True, True, MASKED], [False, False, True]])
    weights = attend(words[1], mask)
    number = float(weights.sum())
    text = words[0] + str(number)
    total = weights.sum() * len(text) * number
    return total


main()
"""
WORKER = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Sounds(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        power = torch.zeros(4)
        features = torch.log10(power)
        return features


def main():
    for got in DataLoader(Sounds(), batch_size=1, num_workers=1):
        y = got * 2


main()
"""


GRADIENT = """\
import torch

x = torch.zeros(3, requires_grad=True)
root = (x * x).sqrt()
loss = root.sum()
loss.backward()
"""

GROWN = """\
import torch
torch.manual_seed(0)
w = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(w.parameters(), lr=1e20)
for i in range(4):
    y = w(torch.ones(2, 4))
    z = y * y
    z.sum().backward()
    optimizer.step()
"""
STEP = """
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=3e38)
for step in range(2):
    loss = (model(torch.ones(1, 2)) * 9).sum()
    loss.backward()
    optimizer.step()
"""


def answers_of_why(folder):
    bad = record(folder / "bad", EMPTY_ROW.replace("MASKED", "True"), "--record", "sources=yes")
    (outer,) = answer("why", "--json", bad, exit_code=1)
    assert outer["verdict"] == "nonfinite" and outer["producers"][0]["how"] == "made"
    (number,) = answer("why", "--json", bad, "number", exit_code=1)
    (text,) = answer("why", "--json", bad, "text", exit_code=0)
    assert "text" in text["event"] and "value" in number["event"]
    (all_rows,) = answer("why", "--json", "--all", bad, "total", exit_code=1)
    (few,) = answer("why", "--json", "--depth=0", bad, "total", exit_code=1)
    assert few["slice_more"] > 0
    yield from (outer, number, text, all_rows, few)
    # Infinities that a statement names; and nothing that is not finite.
    soft = record(folder / "soft", EMPTY_ROW.replace("MASKED", "False"))
    (named,) = answer("why", "--json", soft, exit_code=0)
    assert named["verdict"] == "fine" and named["producers"][0]["meant"]
    fine = record(folder / "fine", "x = 1.0\ny = x + 1\n")
    (nothing,) = answer("why", "--json", fine, exit_code=0)
    assert nothing["verdict"] == "fine" and "event" not in nothing
    (finite,) = answer("why", "--json", fine, "y", exit_code=0)
    assert finite["producers"] == []
    yield from (named, nothing, finite)
    # No such event, and no events at all.
    (none,) = answer("why", "--json", fine, "nothing", exit_code=1)
    assert none["verdict"] == "no match" and none["message"].startswith("no value fits nothing")
    (empty,) = answer("why", "--json", Trace().write(folder / "empty.mtrace"), exit_code=1)
    assert (empty["verdict"], empty["events"]) == ("no match", 0)
    yield from (none, empty)
    # Causes that are not known: the inputs are not recorded, a value was there before, code that is not in the trace.
    yield from answer(
        "why", "--json", scenarios.nested_calls().write(folder / "n.mtrace"), exit_code=1
    )
    yield from answer("why", "--json", scenarios.values().write(folder / "v.mtrace"), exit_code=1)
    seen = record(
        folder / "seen",
        "import torch\nx = torch.ones(2)\nexec('x[0] = float(\"nan\")')\ny = x * 2\n",
    )
    yield from answer("why", "--json", seen, exit_code=1)
    gradient = record(folder / "gradient", GRADIENT, "--backward")
    (backward,) = answer("why", "--json", gradient, exit_code=1)
    assert backward["producers"][0]["how"] == "backward" and backward["producers"][0]["line"] == 4
    yield backward
    large = record(folder / "step", STEP, "--backward")
    (step,) = answer("why", "--json", large, exit_code=1)
    assert (step["producers"][0]["how"], step["producers"][0]["parameter"]) == ("step", "weight")
    yield step
    grown = record(folder / "grown", GROWN, "--parameters")
    (growth,) = answer("why", "--json", grown, exit_code=1)
    assert growth["producers"][0]["growth"]["lr_line"] == 4
    yield growth
    worker = record(folder / "worker", WORKER)
    (beside,) = answer("why", "--json", worker, exit_code=1)
    assert beside["beside"]["producer"]["reason"] and beside["producers"][0]["how"] == "came in"
    yield beside


def answers_of_page(folder):
    """Its data is a file."""
    bad = record(
        folder / "page",
        "import torch\nx = torch.ones(2)\nfor i in range(3):\n    y = torch.log(x - 1 - i)\n",
    )
    other = record(
        folder / "other",
        "import torch\nx = torch.ones(2)\nfor i in range(3):\n    y = torch.log(x - 2 - i)\n",
    )
    finite = [
        record(folder / name, f"import torch\nx = torch.ones(2) * {name}\n", "--record", "values=x")
        for name in "12"
    ]
    out = folder / "out.json"
    assert viewer.run("page", bad, "-o", out).returncode == 0
    yield json.loads(out.read_text(), parse_constant=pytest.fail)
    for pair in ((bad, other), finite):
        assert viewer.run("page", *pair, "-o", out).returncode == 1
        yield json.loads(out.read_text(), parse_constant=pytest.fail)
    steps = record(
        folder / "steps",
        "import torch\nw = torch.ones(2, requires_grad=True)\nfor i in range(3):\n"
        "    y = w * 2\n    y.sum().backward()\n",
        "--backward",
    )
    assert viewer.run("page", steps, "-o", out).returncode == 0
    yield json.loads(out.read_text(), parse_constant=pytest.fail)


PARTS = """\
import json


def work(flag, spare):
    twice = 2
    unused = twice * 3
    if flag:
        twice = 5
        twice = twice * float("nan")
    else:
        twice = 7
        twice = 8
    return twice


results = [work(True, 1) for i in range(2)]
"""


def answers_of_check(folder):
    trace = record(folder / "parts", PARTS, "--record", "sources=yes")
    yield from answer("check", "--json", trace, exit_code=1)
    fine = record(folder / "fine", "x = 1.0\ny = x + 1\n")
    yield from answer("check", "--json", trace, fine, exit_code=1)
    (verdict,) = answer("check", "--json", fine, exit_code=0)
    assert verdict["verdict"] == "ok"
    (nothing,) = answer(
        "check", "--json", "--dtype", "float16", "--name", "none", fine, exit_code=1
    )
    assert nothing["verdict"] == "nothing to check"
    yield from (verdict, nothing)
    values = scenarios.values().write(folder / "values.mtrace")
    words = ["--no-nan", "--no-inf", "--max-abs=2", "--dtype=float32", "--shape=*=1,1", "--zeros"]
    found = answer("check", "--json", *words, values, exit_code=1)
    assert {f["check"] for f in found[:-1]} >= {"no-nan", "no-inf", "max-abs", "dtype", "shape"}
    yield from found


PAIR = """\
import torch


def main():
    torch.manual_seed(0)
    x = torch.randn(4, 8)
    h = torch.nn.functional.layer_norm(x, (8,), eps=EPS)
    scale = SCALE
    if scale > 1:
        y = h * scale
    else:
        y = h - scale
        z = h.t()
    return y.sum()


main()
"""


def program(eps=1e-5, scale=2.0):
    return PAIR.replace("EPS", str(eps)).replace("SCALE", str(scale))


def saved(folder, tensors, **options):
    """The tensors in files, each saved on a line of its own: {prefix/module/name: list}."""
    folder.mkdir(parents=True)
    lines = [
        "import torch",
        "from math import inf",
        "from monitorch.spy import DebugContext, TensorSaver, spy_save",
    ]
    lines.append("saver = TensorSaver('.')")
    for full_name, values in tensors.items():
        prefix, module, name = full_name.split("/")
        lines.append(
            f"with DebugContext(saver, prefix={prefix!r}, module_path_override={module!r}):"
        )
        lines.append(f"    spy_save({name!r}, torch.tensor({values!r}))")
    (folder / "saves.py").write_text(
        "\n".join(["def save():", *(f"    {line}" for line in lines), "save()"])
    )
    done = recording.run_python(
        "saves.py", python=warm.python(), folder=folder, env=pages.environment()
    )
    assert done.returncode == 0, done.stderr
    (folder / "saves.py").unlink()
    return folder


def _trainings(folder):
    """Of diff: gradients and steps."""
    text = "import torch\nw = torch.ones(3, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.1)\n"
    text += "y = w * 2\nloss = y.sum()\nloss.backward()\noptimizer.step()\n"
    changes = {"sgd": ("", ""), "lr": ("0.1", "0.2"), "sum": ("loss.b", "(loss * 2).b")}
    trained = [
        record(folder / name, text.replace(*change), "--backward")
        for name, change in changes.items()
    ]
    for other in trained[1:]:
        yield from answer("diff", "--json", trained[0], other, exit_code=1)


def _maps(folder, trace):
    """The maps of a trace and itself, and of a reference and its port, which packs three weights."""
    ports = []
    for name in ("reference", "port"):
        shutil.copytree(paths.ROOT / "samples" / "port", folder / name)
        text = (folder / name / f"{name}.py").read_text()
        ports.append(record(folder / name, text, name=f"{name}.py"))
    for pair in ((trace, trace), ports):
        yield from answer("diff", "--json", "--print-map", *pair, exit_code=0)


def answers_of_diff(folder):
    a, eps, scale, both = (
        record(folder / name, text, "--record", "values=h")
        for name, text in dict(
            a=program(), eps=program(eps=1e-2), scale=program(scale=0.5), both=program(1e-2, 0.5)
        ).items()
    )
    (verdict,) = answer("diff", "--json", a, a, exit_code=0)
    assert verdict["equal"] and "first" not in verdict
    yield verdict
    found = answer("diff", "--json", a, eps, exit_code=1)
    assert {"own", "inherited"} <= {f["class"] for f in found[:-1]}
    yield from found
    noise = record(folder / "noise", program(), "--record", "noise")
    (verdict,) = answer("diff", "--json", a, noise, exit_code=0)
    assert verdict["rounding_units"] < 2 * verdict["rounding_expected"]
    yield verdict
    yield from answer("diff", "--json", "--noise", noise, a, eps, exit_code=1)
    for pair in ((a, scale), (scale, a), (a, both)):
        found = answer("diff", "--json", *pair, exit_code=1)
        assert {"a", "b"} <= {f.get("only") for f in found[:-1]}
        yield from found
    # What code that is not recorded may have made.
    text = "import types\nhelper = types.ModuleType('helper')\nexec('def mix(a, b): return a + b', vars(helper))\n"
    text += "def run(x):\n    a = x * 2\n    b = x * 3\n    return helper.mix(a, b)\nout = run(2.5)\n"
    mixed = (record(folder / "mix", text), record(folder / "mixed", text.replace("* 3", "* 5")))
    yield from answer("diff", "--json", *mixed, exit_code=1)
    yield from _trainings(folder)
    # Another program, and traces of which one has nothing.
    other = record(folder / "other", "x = 1.0\ny = x + 1\n", name="other.py")
    none = record(folder / "none", "print()\n")
    for pair in ((a, other), (none, none), (other, none)):
        yield from answer("diff", "--json", *pair, exit_code=1)
    # By values.
    yield from answer("diff", "--json", "--by-values", a, eps, exit_code=1)
    yield from _maps(folder, a)
    # Several ranks.
    for name, traces in dict(old=(a, a), new=(a, eps)).items():
        (folder / "ranks" / name).mkdir(parents=True)
        for rank, trace in enumerate(traces):
            shutil.copy(trace, folder / "ranks" / name / f"run.rank{rank}.mtrace")
    found = answer(
        "diff", "--json", folder / "ranks" / "old", folder / "ranks" / "new", exit_code=1
    )
    assert [v["equal"] for v in found if v["record"] == "verdict"] == [True, False]
    assert all(v["trace_a"] != v["trace_b"] for v in found)
    yield from found
    # Folders of saved tensors.
    tensors = {
        "step0/enc/q": [1.0, 2.0],
        "step0/enc/k": [3.0, float("inf")],
        "step0/enc/old": [1.0],
    }
    changed = {"step0/enc/q": [1.0, 2.0], "step0/enc/k": [3.0, 4.0], "step0/enc/new": [1.0]}
    tensors |= {"step0/enc/shape": [1.0], "step0/enc/dtype": [1]}
    changed |= {"step0/enc/shape": [1.0, 2.0], "step0/enc/dtype": [1.0]}
    pair = saved(folder / "s" / "a", tensors), saved(folder / "s" / "b", changed)
    (verdict,) = answer("diff", "--json", pair[0], pair[0], exit_code=0)
    assert verdict["in_order"]
    yield verdict
    found = answer("diff", "--json", *pair, exit_code=1)
    assert {"values", "shape", "dtype", "code"} == {f["cause"] for f in found[:-1]}
    yield from found
    yield from answer("diff", "--json", "--ignore=*", *pair, exit_code=1)
    (broken,) = pair[1].glob("*.q.*")
    values = struct.pack("<2f", 1, 2)
    assert broken.read_bytes().count(values) == 1
    broken.write_bytes(broken.read_bytes().replace(values, struct.pack("<2f", 1, 3)))
    found = answer("diff", "--json", *pair, exit_code=3)
    assert any(f["record"] == "unread" for f in found)
    yield from found


GUESS, SAVED = 3, 4  # tags of notes


def ended_and_guessed():
    """A call that an exception ended, an argument that was made up, a tensor that was saved."""
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 2, 1, "a")])
    trace.note("f\tx\ta tensor of ones", tag=GUESS)
    call = trace.call(1)
    trace.event(0, call, tensor((2,), min=0, max=1, mean=0.5, std=0.5))
    trace.note('{"name": "a"}', tag=SAVED, site=0)
    trace.ended(call, made.LEFT, error="builtins.KeyError")
    return trace


def answers_of_show(folder):
    traces = [
        make().write(folder / f"{make.__name__}.mtrace")
        for make in (
            scenarios.nested_calls, scenarios.values, scenarios.parts, scenarios.branches,
            scenarios.threads, scenarios.hostile, scenarios.notes, scenarios.no_beginning,
        )
    ]  # fmt: skip
    for words in ([], ["--sample"], ["--sites"], ["--settings"], ["--canonical"]):
        for trace in traces:
            done = viewer.run("show", "--json", *words, trace)
            assert done.returncode in (0, 1), done.stderr
            yield from map(json.loads, done.stdout.splitlines())
    yield from answer("show", "--json", *traces, exit_code=0)
    yield from answer("show", "--json", "--canonical", *traces[:2], exit_code=0)
    for words in (["--sites"], ["--settings"]):
        yield from answer("show", "--json", *words, *traces[:2], exit_code=0)
    (none,) = answer("show", "--json", "--name", "none", traces[0], exit_code=1)
    assert none == {"record": "nothing", "message": "no event matches"}
    yield none
    yield from answer("show", "--json", "--name", "none", *traces[:2], exit_code=1)
    yield from answer("show", "--json", ended_and_guessed().write(folder / "e.mtrace"), exit_code=0)
    text = "import torch\noffset = torch.ones(3)\n" + EMPTY_ROW.replace("import torch", "").replace(
        "* scale", "* scale + offset"
    )
    real = record(
        folder / "real", text.replace("MASKED", "True"), "--record", "sources=yes,sample=64"
    )
    for words in ([], ["--sites"], ["--settings"], ["--sample"]):
        yield from answer("show", "--json", *words, real, exit_code=0)
    made = record(folder / "gradients", GRADIENT, "--backward")
    for words in ([made], [made, real], ["--canonical", made]):
        yield from answer("show", "--json", "--backward", *words, exit_code=0)
    stepped = record(folder / "steps", STEP, "--backward")
    yield from answer("show", "--json", "--backward", stepped, exit_code=0)
    exported = viewer.run("export", "--jsonl", real).stdout.splitlines()
    yield from map(json.loads, exported)


def answers_of_sql(folder):
    trace = scenarios.values().write(folder / "values.mtrace")
    for table in ("events", "sites", "calls", "edges"):
        yield from answer("sql", "--json", trace, f"select * from {table}", exit_code=0)
    (row,) = answer(
        "sql", "--json", trace, "select 1e999 as a, x'00ff' as b, null as c", exit_code=0
    )
    assert row == {"a": "Infinity", "b": "00ff", "c": None}
    yield row
    assert answer("sql", "--json", trace, "select 1 where 0", exit_code=0) == []


def answers_of_calls(folder):
    listed = folder / "call_trace.txt"
    listed.write_text("net.layers.0.a\nnet.layers.1.a\nnet.head\n")
    modules = scenarios.nested_calls().write(folder / "nested.mtrace")
    for source in (listed, modules):
        done = viewer.run("calls", source, "--save-json", folder / "tree.json")
        assert done.returncode == 0, done.stderr
        yield json.loads((folder / "tree.json").read_text())


LISTED = """\
import torch


@torch.jit.script
def add(x):
    return x


def count(rest):
    while len(rest) > 3:
        rest.pop()


class Model:
    def forward(self, x, *rest):
        self.scale = 2
        left = len(rest)
        if x > left:
            x[0] = torch.inf
        for i in range(3):
            y = [x * self.scale for k in rest]

        def inner():
            return x + i

        return inner()
"""


def answers_of_instrument(folder):
    (folder / "model.py").write_text(LISTED)
    (folder / "empty.py").write_text("")
    for words in ([], ["--all"], ["--all", "--every-line"], ["--function", "Model.*"]):
        names = sorted(path.name for path in folder.glob("*.py"))
        done = subprocess.run(
            [paths.COMMAND, "--list", "--json", *words, *names],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        yield from map(json.loads, done.stdout.splitlines())


def answers_of_graph(folder):
    nested = scenarios.nested_calls().write(folder / "n.mtrace")
    words = ["graph", "--json", "-o", folder / "flow.svg"]
    yield from answer(*words, nested, exit_code=0)
    steps = record(folder / "steps", TWO_STEPS)
    (step,) = answer(*words, "--step=2", steps, exit_code=0)
    assert (step["step"], step["steps"]) == (2, 2)
    yield step
    (nothing,) = answer(*words, "--name", "none", nested, exit_code=1)
    assert nothing["message"] == "no event matches" and "file" not in nothing
    yield nothing


TWO_STEPS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        return y


model = Model()
for step in range(2):
    out = model(torch.ones(3))
"""


def answers_of_export(folder):
    trace = scenarios.values().write(folder / "v.mtrace")
    words = ["export", "--json", trace, f"--csv={folder}/e.csv", f"--jsonl={folder}/e.jsonl"]
    (both,) = answer(*words, exit_code=0)
    assert [file["format"] for file in both["files"]] == ["csv", "jsonl"]
    (none,) = answer(*words, "--name", "none", exit_code=1)
    assert (none["written"], none["message"]) == (0, "no event matches")
    yield from (both, none)


def answers_of_run(folder):
    folder.mkdir(exist_ok=True)
    programs = {
        "fine": "x = 1.0\n",
        "fork": "import os\nx = 1.0\nif os.fork() == 0:\n    y = 2.0\n    os._exit(0)\nos.wait()\n",
        "nothing": "",
        "early": "x = float('nan')\n",
    }
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
        words = ["--record", "stop=nan"] if name == "early" else []
        done = subprocess.run(
            ["monitorch", "run", "--json", *words, f"{name}.py"],
            cwd=folder, env=pages.environment(), capture_output=True, text=True,
        )  # fmt: skip
        yield json.loads(done.stderr.splitlines()[-1])


ANSWERS = {
    name[len("answers_of_") :]: value
    for name, value in list(globals().items())
    if name.startswith("answers_of_")
}


def test_each_schema_has_its_answers():
    assert sorted(ANSWERS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_answers_fit_their_schema_and_have_all_that_it_has(tmp_path, name):
    checker = Checker(schema_of(name))
    count = 0
    for instance in ANSWERS[name](tmp_path):
        errors = checker.errors(instance)
        assert errors == [], json.dumps(instance)[:2000]
        count += 1
    assert count > 0
    assert [key[1] for key in described(checker.schema) if key not in checker.seen] == []
