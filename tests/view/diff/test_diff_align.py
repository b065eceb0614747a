"""What of one trace is found in another, as real programs and edited ones leave them."""

import pathlib
import re
import subprocess
import tempfile
import textwrap
import types

import hypothesis
import hypothesis.strategies as st
import pytest

from tests.support import paths, recording

STEPS = paths.unit_program("test_diff_align")

BASE = """
    def scaled(x, by=2):
        y = x * by
        return y

    def body(x, turns):
        total = 0
        for i in range(turns):
            a = x + i
            for k in range(2):
                b = a * k
                total = total + b
            if i % 2:
                c = scaled(a)
            else:
                c = scaled(a, 3)
            total = total + c
        done = total - 1
        return done

    def main():
        first = body(1, 3)
        second = body(first, 2)
        print(second)

    main()
"""


def record(folder, source, name="program.py", **options):
    """The trace of a text of Python that is run as a script by `monitorch run`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(textwrap.dedent(source))
    words = [f"--{key}={value}" for key, value in options.items()]
    command = [recording.python_for(source), "-m", "monitorch", "run", "-q", "-o", "run.mtrace", *words, name]
    run = subprocess.run(
        command, cwd=folder, env=recording.environment("off"), capture_output=True, text=True
    )
    assert run.returncode in (0, 1), run.stderr
    return folder / "run.mtrace"


def item_of(text):
    if text == "-":
        return None
    rest, _, call = text.rpartition("#")
    kind, line, name, visit = rest.split(":")
    return types.SimpleNamespace(
        kind=kind, line=line and int(line), name=name, visit=visit and int(visit), call=int(call)
    )


def steps(a, b, *renames):
    if not STEPS.exists():
        pytest.fail(f"{STEPS} is missing: run `make unit-programs`")
    run = subprocess.run([STEPS, a, b, *renames], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    made = []
    for line in run.stdout.splitlines():
        odd, left, right = line.split("\t")
        if "data:" not in line:
            made.append(types.SimpleNamespace(odd=odd, a=item_of(left), b=item_of(right)))
    return made


def alone(steps):
    """What has no counterpart: side, why, kind, line."""
    return [
        ("A" if step.a else "B", step.odd, (step.a or step.b).kind, (step.a or step.b).line)
        for step in steps
        if step.odd != "="
    ]


def compare(folder, old, new, *renames, **options):
    a = record(folder / "a", old, **options)
    b = record(folder / "b", new, **options)
    forth = steps(a, b, *renames)
    if not renames:
        back = steps(b, a)
        swap = {"A": "B", "B": "A"}
        assert sorted(alone(back)) == sorted((swap[s], *rest) for s, *rest in alone(forth))
    return forth


def edit(source, *changes):
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def lines_alone(made, odd=None):
    """The lines whose items are alone, by side."""
    found = {"A": set(), "B": set()}
    for side, why, _, line in alone(made):
        if line != "" and odd in (None, why):
            found[side].add(line)
    return found


def line_of(source, text, nth=0):
    lines = textwrap.dedent(source).splitlines()
    return [i for i, line in enumerate(lines, 1) if text in line][nth]


def pairs(made, kind, name):
    return [
        (s.a.line, s.a.visit, s.b.line, s.b.visit)
        for s in made
        if s.odd == "=" and s.a.kind == kind and s.a.name == name
    ]


# The programs


def test_the_same_program(tmp_path):
    made = compare(tmp_path, BASE, BASE)
    assert not alone(made)
    assert len(made) == 104
    assert all(vars(s.a) == vars(s.b) for s in made)


def test_added_lines_shift_nothing(tmp_path):
    new = edit(
        BASE,
        ("total = 0", "total = 0\n        total = total + 0"),
        ("y = x * by", "y = x\n        y = y * by"),
        ("b = a * k", "b = a\n                b = b * k"),
    )
    made = compare(tmp_path, BASE, new)
    assert {why for _, why, _, _ in alone(made)} == {"code"}
    added = [line_of(new, text) for text in ("total + 0", "y = x", "b = a")]
    assert lines_alone(made) == {"A": set(), "B": set(added)}
    for name, text in [("b", "b = a * k"), ("y", "y = x * by")]:
        to = {"b": "b = b * k", "y": "y = y * by"}[name]
        assert {(p[0], p[2]) for p in pairs(made, "assign", name)} == {
            (line_of(BASE, text), line_of(new, to))
        }


def test_an_edited_line_is_the_same(tmp_path):
    new = edit(BASE, ("b = a * k", "b = a - k"), ("if i % 2:", "if i & 1:"))
    made = compare(tmp_path, BASE, new)
    assert not alone(made)


def test_an_edited_line_behind_an_added_one(tmp_path):
    new = edit(BASE, ("c = scaled(a, 3)", "c = 7\n                c = scaled(a, 4)"))
    made = compare(tmp_path, BASE, new)
    assert lines_alone(made) == {"A": set(), "B": {line_of(new, "c = 7")}}


def test_moved_lines(tmp_path):
    old = "def f(n):\n    a = n + 1\n    b = n * 2\n    c = n - 3\n    return a + b + c\nf(3)\n"
    new = "def f(n):\n    b = n * 2\n    c = n - 3\n    a = n + 1\n    return a + b + c\nf(3)\n"
    made = compare(tmp_path, old, new)
    assert not alone(made)
    assert pairs(made, "assign", "a") == [(2, 0, 4, 0)]


@pytest.mark.parametrize("renames", [(), ("total=sum_of",)])
def test_a_renamed_variable(tmp_path, renames):
    made = compare(tmp_path, BASE, BASE.replace("total", "sum_of"), *renames)
    assert not alone(made)


LAYER = """
    class Block:
        def __init__(self, k):
            self.k = k
        def forward(self, x, by):
            h = x * self.k
            h = h + by
            h, rest = h - 1, h % 2
            x = h * 2 + rest
            x = x + h
            return x
    def main():
        n = Block(3)
        r = n.forward(2, by=1)
        return r
    main()
"""


@pytest.mark.parametrize("renames", [("h",), ("h", "x"), ("h", "Block"), ("h", "x", "by", "Block")])
def test_names_that_are_written_often(tmp_path, renames):
    """Each of their lines is known by being the same but for them."""
    new = LAYER
    for name in renames:
        new = re.sub(rf"\b{name}\b", f"other_{name}", new)
    assert not alone(compare(tmp_path, LAYER, new))
    new = edit(new, (" % 2", " % 3"), (" - 1, ", " - 5, "))
    assert not alone(compare(tmp_path, LAYER, new))


def test_a_name_is_another_one_where_both_are_there(tmp_path):
    old = "def f(n):\n    p = n + 1\n    p = p * 2\n    return p\nf(3)\n"
    new = "def f(n):\n    q = n + 1\n    q = q * 2\n    p = 7\n    return p\nf(3)\n"
    a, b = record(tmp_path / "a", old), record(tmp_path / "b", new)
    assert lines_alone(steps(a, b))["B"] == {2, 3}


def test_two_renamed_variables_need_a_map(tmp_path):
    old = "def f(n):\n    p = n + 1\n    q = n * 2\n    r = [p, q]\n    return r\nf(3)\n"
    new = old.replace("p = n + 1", "s = 5 - n\n    v = 7").replace("q = n * 2", "u = n ** 3")
    new = new.replace("[p, q]", "[s, u]")
    a, b = record(tmp_path / "a", old), record(tmp_path / "b", new)
    assert lines_alone(steps(a, b)) == {"A": {2, 3}, "B": {2, 3, 4}}
    assert lines_alone(steps(a, b, "p=s", "q=u")) == {"A": set(), "B": {3}}


@pytest.mark.parametrize("renames", [(), ("Net=Model",)])
def test_a_renamed_class(tmp_path, renames):
    old = """
        class Net:
            def __init__(self, k):
                self.k = k
            def forward(self, x):
                y = x * self.k
                return y
        def main():
            n = Net(3)
            r = n.forward(2)
            return r
        main()
    """
    assert not alone(compare(tmp_path, old, old.replace("Net", "Model"), *renames))


def test_a_renamed_function_and_file(tmp_path):
    old = record(tmp_path / "a", BASE, "one.py")
    new = record(tmp_path / "b", BASE.replace("scaled", "stretched"), "two.py")
    assert not alone(steps(old, new))
    assert not alone(steps(old, new, "scaled=stretched", "one.py=two.py"))


def test_another_program(tmp_path):
    old = record(tmp_path / "a", "def f(x):\n    y = x\n    return y\nf(1)\n", "one.py")
    new = record(tmp_path / "b", "def g(n):\n    for i in n:\n        k = i\ng([1])\n", "two.py")
    made = steps(old, new)
    assert made and {s.odd for s in made} == {"code"}


# The ways that they took


def test_one_more_turn(tmp_path):
    new = edit(BASE, ("range(turns)", "range(turns + 1)"))
    made = compare(tmp_path, BASE, new)
    assert {side for side, _, _, _ in alone(made)} == {"B"}
    turns = [(s.b.visit, s.b.call) for s in made if s.odd == "flow" and s.b.name == "i"]
    assert [visit for visit, _ in turns] == [3, 2]
    assert all(p[1] == p[3] for p in pairs(made, "loop", "i"))


def test_one_more_turn_of_an_inner_loop(tmp_path):
    """The visits of all later turns are others then."""
    new = edit(BASE, ("range(2)", "range(2 + (i == 1))"))
    made = compare(tmp_path, BASE, new)
    inner = [line_of(new, text) for text in ("for k", "b = a * k", "total + b")]
    assert sorted(alone(made)) == sorted(
        ("B", "flow", kind, line) for kind, line in zip(("loop", "assign", "assign"), inner)
        for _ in range(2)
    )
    first = pairs(made, "loop", "k")[:6]
    assert [p[1] for p in first] == [0, 1, 2, 3, 4, 5]
    assert [p[3] for p in first] == [0, 1, 2, 3, 5, 6]


def test_a_while_loop(tmp_path):
    old = """
        def f(n):
            s = 0
            while (m := n - s) > 0:
                s = s + 1
                t = m
            else:
                u = 1
            return s
        f(5)
    """
    new = edit(old, ("f(5)", "f(6)"))
    made = compare(tmp_path, old, new)
    assert len(alone(made)) == 4
    lines = {line_of(old, text) for text in ("while", "s + 1", "t = m")}
    assert lines_alone(made) == {"A": set(), "B": lines}


def test_an_if_taken_the_other_way(tmp_path):
    new = edit(BASE, ("if i % 2:", "if i % 2 == 0:"))
    made = compare(tmp_path, BASE, new)
    for s in made:
        if s.odd == "=" and s.a.kind == "branch":
            assert s.a.line == s.b.line
    branches = {line_of(BASE, "if i"), line_of(BASE, "else:")}
    odd = [s.a or s.b for s in made if s.odd == "flow"]
    assert {item.line for item in odd if item.kind == "branch"} == branches
    assert len(pairs(made, "assign", "done")) == 2
    assert len(pairs(made, "loop", "i")) == 5


def test_a_loop_around(tmp_path):
    line = "        first = body(1, 3)"
    new = edit(BASE, (line, "        for turn in range(1):\n    " + line))
    made = compare(tmp_path, BASE, new)
    assert [(side, why, kind) for side, why, kind, _ in alone(made)] == [("B", "code", "loop")]


def test_an_extra_call_is_alone_as_a_whole(tmp_path):
    new = edit(BASE, ("        second =", "        extra = body(5, 2)\n        second ="))
    made = compare(tmp_path, BASE, new)
    b = [s.b for s in made if s.odd != "="]
    assert all(s.a is None for s in made if s.odd != "=")
    extra = next(i.call for i in b if i.kind == "call" and i.name == "body")
    assert b[0].call == extra and b[-2].kind == "end" and b[-2].call == extra
    assert b[-1].line == line_of(new, "extra")
    assert len(b) == 42
    assert len([s for s in made if s.odd == "="]) == 104


def test_a_long_extra_call_is_passed_over(tmp_path):
    old = """
        def busy(n):
            for i in range(n):
                a = i
            return a
        def main(n):
            x = 1
            for k in range(30):
                y = k
            return y
        main(2)
    """
    new = edit(old, ("x = 1", "x = busy(9990)"))
    made = compare(tmp_path, old, new)
    assert len([s for s in made if s.odd == "="]) == 65
    assert len(alone(made)) == 19984


def test_a_wrapper_that_only_one_has(tmp_path):
    new = edit(
        BASE,
        ("second = body(first, 2)", "second = wrap(first, 2)"),
        ("    def main", "    def wrap(*a):\n        return body(*a)\n\n    def main"),
    )
    made = compare(tmp_path, BASE, new)
    assert {(side, why) for side, why, _, _ in alone(made)} == {("B", "code")}
    assert len([s for s in made if s.odd == "="]) == 104


def test_a_wrapper_that_both_have(tmp_path):
    wrap = "    def wrap(f, *x):\n        r = f(*x)\n        return r\n\n    def main"
    old = edit(
        BASE,
        ("    def main", wrap),
        ("first = body(1, 3)", "first = wrap(scaled, 1)\n        first = body(1, 3)"),
    )
    new = edit(old, ("first = body(1, 3)", "first = wrap(body, 1, 3)"))
    made = compare(tmp_path, old, new)
    assert {s.b.call for s in made if s.odd != "="} == {
        s.b.call for s in made if s.odd != "=" and s.b.kind == "call" and s.b.name == "wrap"
    }
    assert len([s for s in made if s.odd == "="]) == 118


def test_an_exception(tmp_path):
    attempt = """try:
            third = body(2, 2)
        except ValueError:
            third = 5
        print(third)"""
    old = edit(BASE, ("print(second)", attempt))
    new = edit(old, ("c = scaled(a)", "c = scaled(a)\n                if x == 2: raise ValueError"))
    made = compare(tmp_path, old, new)
    a = [s.a.name for s in made if s.odd == "flow" and s.a]
    assert a == ["total", "done", "return", "third"]
    assert [s.b.name for s in made if s.odd == "flow" and s.b] == ["", "third"]


def test_recursion(tmp_path):
    old = """
        def fib(n):
            if n < 2:
                return n
            a = fib(n - 1)
            b = fib(n - 2)
            return a + b
        fib(6)
    """
    made = compare(tmp_path, old, edit(old, ("n < 2", "n < 3")))
    assert not [s for s in made if s.odd == "code"]
    assert len(pairs(made, "enter", "n")) == 15


# Calls that take turns


GENERATORS = """
    def gen(k):
        for i in range(4):
            v = k * 10 + i
            yield v
    def main():
        x = 0
        for a, b in zip(gen(1), gen(2)):
            x = x + a * b
        return x
    main()
"""


def test_generators_keep_apart(tmp_path):
    made = compare(tmp_path, GENERATORS, GENERATORS)
    assert not alone(made)
    assert all(s.a.call == s.b.call and s.a.visit == s.b.visit for s in made)


def test_generators_that_run_in_another_order(tmp_path):
    new = edit(GENERATORS, ("gen(2))", "list(gen(2)))"))
    made = compare(tmp_path, GENERATORS, new)
    # list() goes on until the generator ends; zip() leaves it behind.
    assert [(side, kind) for side, _, kind, _ in alone(made)] == [("B", "end")]
    assert all(s.a.visit == s.b.visit for s in made if s.odd == "=")


def test_tasks_that_end_in_another_order(tmp_path):
    old = """
        import asyncio
        async def work(name, n):
            total = 0
            for i in range(n):
                total = total + i
                await asyncio.sleep(0.01 * DELAY[name])
            return total
        async def main():
            got = await asyncio.gather(work("a", 2), work("b", 2))
            last = sum(got)
            return last
        DELAY = {"a": 1, "b": 5}
        result = asyncio.run(main())
    """
    made = compare(tmp_path, old, edit(old, ('"a": 1, "b": 5', '"a": 5, "b": 1')))
    assert not alone(made)


THREADS = """
    import threading
    def work(n):
        t = 0
        for i in range(n):
            t = t + i
        return t
    def main():
        for n in (5, 6):
            thread = threading.Thread(target=work, args=(n,), name=f"w{n}")
            thread.start()
            thread.join()
        done = 1
        return done
    main()
"""


def test_threads_by_name(tmp_path):
    assert not alone(compare(tmp_path, THREADS, THREADS))
    made = compare(tmp_path / "more", THREADS, edit(THREADS, ("(5, 6)", "(4, 6, 5)")))
    turns = [s for s in made if s.odd == "=" and s.a.kind == "loop" and s.a.name == "i"]
    assert len(turns) == 11
    odd = [s for s in made if s.odd != "="]
    assert len([s for s in odd if s.b.kind == "loop" and s.b.name == "i"]) == 4


# Values with parts


def test_parts_of_values(tmp_path):
    old = """
        def f(n):
            d = {"x": 1, "y": [1, 2, 3][:n]}
            e = 5
            return d
        f(3)
    """
    made = compare(tmp_path, old, edit(old, ("f(3)", "f(2)")))
    assert not [s for s in made if s.odd in ("code", "flow")]
    turned = edit(old, ('{"x": 1, "y": [1, 2, 3][:n]}', '{"y": [1, 2, 3][:n], "x": 1}'))
    assert not alone(compare(tmp_path / "turned", old, turned))


def test_a_part_that_is_missing(tmp_path):
    numpy = pytest.importorskip("numpy")
    assert numpy
    old = """
        import numpy
        def f(n):
            d = [numpy.ones(k + 1) for k in range(n)]
            e = 5
            return e
        f(3)
    """
    made = compare(tmp_path, old, edit(old, ("f(3)", "f(2)")))
    assert [(side, why, kind) for side, why, kind, _ in alone(made)] == [("A", "part", "assign")]


# Rings, and traces that are not whole


LONG = """
    def step(i):
        a = i
        for k in range(3):
            b = a + k
        return b
    def main():
        total = 0
        for i in range(400):
            total = total + step(i)
        final = total
        return final
    main()
"""


@pytest.mark.parametrize("lasts", [(300, 300), (300, None), (300, 250)])
def test_rings_go_on_where_both_are(tmp_path, lasts):
    for name, last in zip("ab", lasts):
        options = {} if last is None else {"last": last}
        recording.trace_of(LONG, tmp_path / name, **options)
    made = steps(tmp_path / "a", tmp_path / "b")
    paired = [s for s in made if s.odd == "="]
    assert len(paired) > 250
    assert all(s.a.call == s.b.call and s.a.visit == s.b.visit for s in paired)
    assert not alone(made) or lasts != (300, 300)


def test_what_a_ring_lost_is_passed_over(tmp_path):
    """Far more than is looked ahead at."""
    new = edit(LONG, ("range(400)", "range(9000)"))
    recording.trace_of(new, tmp_path / "a", last=300)
    recording.trace_of(new, tmp_path / "b")
    made = steps(tmp_path / "a", tmp_path / "b")
    paired = [s for s in made if s.odd == "="]
    assert len(paired) > 250
    assert all(s.a.call == s.b.call and s.a.visit == s.b.visit for s in paired)


def test_damage_costs_what_is_damaged(tmp_path):
    recording.trace_of(LONG, tmp_path / "a")
    data = bytearray((tmp_path / "a").read_bytes())
    at = data.index(b"CHNK", data.index(b"CHNK") + 4)
    data[at + 70_000 : at + 70_400] = bytes(400)
    (tmp_path / "b").write_bytes(data)
    made = steps(tmp_path / "a", tmp_path / "b")
    whole = [s for s in made if s.odd == "="]
    assert len(whole) > 500
    assert all(s.a.call == s.b.call and s.a.visit == s.b.visit for s in whole)
    # Where B goes on, the beginning of the call is lost.
    assert len([s for s in alone(made) if s[0] == "B"]) < 20


# Any program


STATEMENTS = (
    "a = {0} + 1",
    "b = a * {0}",
    "a = b - {0}",
    "d[{0}] = a",
    "for i in range({0}):\n    b = b + i\n    a = i",
    "if a > {0}:\n    a = a - {0}\nelse:\n    b = {0}",
    "b = help(a, {0})",
    "while a > 50:\n    a = a - 17",
    "a, b = b, a",
)


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(
    st.lists(st.tuples(st.sampled_from(STATEMENTS), st.integers(1, 9)), min_size=3, max_size=12),
    st.data(),
)
def test_lines_that_are_taken_out_leave_all_others(statements, data):
    """The values go other ways, so that lines of one program alone are not all that is alone; but
    what is in both is never said to be of one program only."""
    taken = data.draw(st.sets(st.integers(0, len(statements) - 1), max_size=3))

    def program(left):
        head = "def help(u, v):\n    w = u + v\n    return w\ndef main(a):\n    b = 1\n    d = {}\n"
        body = "".join(
            textwrap.indent(text.format(n) + "\n", "    ")
            for i, (text, n) in enumerate(statements)
            if i not in left
        )
        return head + body + "    end = 5\n    return end\nmain(3)\n"

    with tempfile.TemporaryDirectory() as folder:
        a = pathlib.Path(folder, "a")
        b = pathlib.Path(folder, "b")
        recording.trace_of(program(()), a)
        recording.trace_of(program(taken), b)
        same = steps(a, a)
        assert not alone(same) and all(vars(s.a) == vars(s.b) for s in same)
        made = steps(a, b)
    assert not [s for s in made if s.odd == "code" and s.b]
    ends = pairs(made, "assign", "end") + pairs(made, "return", "return")
    assert len([p for p in ends if p[0] > 3]) == 2
    for side in "ab":
        seen = [getattr(s, side) for s in made if getattr(s, side)]
        assert len(seen) == len({str(vars(i)) for i in seen})
