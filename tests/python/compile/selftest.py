"""Tries the package and the extension module with nothing but Python itself.

usage: PYTHONPATH=build/python python tests/python/compile/selftest.py
The interpreters found on the machine are taken through this one by one.
"""

import builtins
import os
import sys
import tempfile
import traceback

MODEL = b'''"""A model."""
class Model:
    def __init__(self):
        self.scale = 2

    def forward(self, x):
        y = x * self.scale
        if y > 4:
            return y - 1
        return y
'''

RAISES = b"""def inner(values):
    total = 0
    for v in values: total += v / (v - 2)
    return total


def outer(values):
    x = [1, 2, 3]; y = (
        inner(values)
        + 1)
    return max([inner([9]),
                inner(x)]) + y


class Box:
    def __init__(self, value):
        self.value = value['key'].field

    async def get(self):
        with open(self.value) as f, open(f): pass
        if self.value and self.value[3] \\
           or f.name: return (await self)


def chain(values):
    try:
        assert outer(values) == 3, values
    except ZeroDivisionError as error:
        return Box(values).get() if values else \\
            Box([]).get(1)
    while outer((n := values[0])): values.pop() ; values[len(values)] += 1
"""


def test_import():
    import monitorch

    assert "monitorch._instrument" not in sys.modules
    assert "torch" not in sys.modules and "numpy" not in sys.modules
    from monitorch import _instrument

    assert monitorch.__version__ == _instrument.__version__


def test_instrument_and_strip():
    from monitorch import _instrument

    result = _instrument.instrument(MODEL, "model.py")
    assert result.is_changed and isinstance(result.text, bytes)
    assert result.text.count(b"\n") == MODEL.count(b"\n")
    assert _instrument.is_instrumented(result.text)
    assert not _instrument.is_instrumented(MODEL)
    assert _instrument.strip(result.text) == MODEL
    assert (result.function_count, result.selected_count) == (2, 1)
    assert result.skipped_count == 0


def test_sites():
    from monitorch import _instrument

    result = _instrument.instrument(MODEL, "model.py")
    sites = _instrument.sites(result.text)
    assert sites == _instrument.sites(result.table)
    assert {site["function"] for site in sites} == {"Model.forward"}
    assert [site["id"] for site in sites] == list(range(len(sites)))
    kinds = [site["kind"] for site in sites]
    for kind in ("enter", "assign", "branch", "return"):
        assert kind in kinds, kinds
    assign = sites[kinds.index("assign")]
    assert assign["writes"] == [("y", "value")]
    assert (assign["line"], assign["function_line"]) == (7, 6)
    assert assign["key"] == "model.py:Model.forward:assign:y:0"


def test_traced_file_off_and_on():
    from monitorch import _instrument, _registry

    text = _instrument.instrument(MODEL, "model.py", all=True).text
    names = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), names)
    assert builtins._mt is None and names["_mt"] is None
    model = names["Model"]()
    assert [model.forward(x) for x in (1, 3)] == [2, 5]

    visits = []
    _registry.set_hook(lambda table, module_globals: lambda *values: visits.append(values))
    assert [model.forward(x) for x in (1, 3)] == [2, 5]
    _registry.set_hook(None)
    seen = len(visits)
    assert [model.forward(x) for x in (1, 3)] == [2, 5]
    assert len(visits) == seen > 0 and names["_mt"] is None

    sites = _instrument.sites(text)
    assigned = [v for v in visits if sites[v[0]]["kind"] == "assign"]
    assert [v[1] for v in assigned] == [2, 6], visits


def tracebacks(names):
    """What is printed for programs that fail in many ways."""
    texts = []
    box = names["Box"]
    calls = [
        lambda: names["chain"]([1, 2]),
        lambda: names["chain"]([]),
        lambda: names["outer"](3),
        lambda: names["outer"]([4]),
        lambda: box([]),
        lambda: box({"key": 1}),
        lambda: box(None),
    ]
    broken = box.__new__(box)
    for value in (0, "/nowhere", os.devnull, [1]):
        broken.value = value
        calls.append(lambda: broken.get().send(None))
    for call in calls:
        try:
            call()
        except Exception:
            texts.append(traceback.format_exc())
        else:
            texts.append("nothing raised")
    return texts


def test_tracebacks_are_the_originals():
    from monitorch import _instrument

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "raises.py")
        with open(path, "wb") as file:
            file.write(RAISES)
        plain, mapped = {"__name__": "r"}, {"__name__": "r"}
        exec(compile(RAISES, path, "exec"), plain)
        code, result = _instrument.compile_source(RAISES, path, all=True)
        exec(code, mapped)
        assert result.is_changed and "_mt" in mapped
        expected = tracebacks(plain)
        got = tracebacks(mapped)
    assert len([text for text in expected if "Error" in text]) > 7
    for one, other in zip(expected, got):
        assert one == other, one + "\n---- instrumented:\n" + other


def test_errors():
    from monitorch import _instrument

    def error_of(call, *values, **more):
        try:
            call(*values, **more)
        except Exception as error:
            return error
        raise AssertionError("nothing raised")

    error = error_of(_instrument.instrument, b"x = 1\ny = '\xff'\n", "a.py")
    assert type(error) is _instrument.InstrumentError and isinstance(error, ValueError)
    assert (error.path, error.line, error.column) == ("a.py", 2, 6), error
    assert str(error).startswith("a.py:2:6: "), error
    plain = error_of(compile, b"def f(:\n  pass\n", "b.py", "exec")
    ours = error_of(_instrument.compile_source, b"def f(:\n  pass\n", "b.py")
    assert type(ours) is SyntaxError and ours.args == plain.args
    assert type(error_of(_instrument.instrument, 3, "a.py")) is TypeError


def test_odd_file_names():
    from monitorch import _instrument

    name = os.fsdecode(b"odd\xff.py")
    code, _ = _instrument.compile_source(MODEL, name)
    assert code.co_filename == name
    code, _ = _instrument.compile_source(MODEL, os.fsencode(name))
    assert code.co_filename == name


if __name__ == "__main__":
    tests = [(n, t) for n, t in list(globals().items()) if n.startswith("test_")]
    for name, test in tests:
        test()
        print("ok", name)
    print(len(tests), "passed")
