"""Visits of lines that never held a tensor: which are recorded, and what is made of those that are not."""

import json
import re
import subprocess
import textwrap

import pytest

from tests.support import paths, recording, viewer, warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

KEPT = [*range(10_000), 16_383, 32_767, 65_535]


def run(tmp_path, source, *words, name="run", options=(), check=True):
    program, trace = tmp_path / "program.py", tmp_path / f"{name}.mtrace"
    program.write_text(textwrap.dedent(source))
    done = subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-o", str(trace), *options, str(program), *words],
        env=recording.environment("off"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 or not check, done.stderr
    return trace, done


def events(trace):
    return [e for e in map(json.loads, recording.show(trace).stdout.splitlines()) if "path" in e]


def values(trace, name):
    return [e["value"] for e in events(trace) if e["name"] == name and not e["path"]]


LOOP = """
def f(n):
    for i in range(n):
        a = i
    return a
f(70_000)
"""


def test_the_same_visits_are_recorded_in_each_run(tmp_path):
    first, done = run(tmp_path, LOOP)
    second, _ = run(tmp_path, LOOP, name="second")
    assert values(first, "a")[: len(KEPT)] == values(second, "a")[: len(KEPT)] == KEPT
    assert values(first, "i") == KEPT
    left_out = 2 * (70_000 - len(KEPT))
    assert re.search(
        rf"left out {left_out:,} visits of lines that never held a tensor "
        rf"\(\S*program.py:[34], \S*program.py:[34]\): scalars=all",
        done.stderr,
    )


def test_scalars_all_records_all(tmp_path):
    trace, done = run(tmp_path, LOOP, options=("--record", "scalars=all"))
    assert values(trace, "i") == list(range(70_000))
    assert "left out" not in done.stderr


def test_options_in_every_way_of_recording(tmp_path):
    package = recording.package()
    with pytest.raises(ValueError, match="scalars must be 'some' or 'all', not 'none'"):
        package.record(str(tmp_path / "x.mtrace"), scalars="none")
    _, done = run(tmp_path, "x = 1", options=("--record", "scalars=few"), check=False)
    assert "scalars" in done.stderr and "few" in done.stderr
    source = """
    import monitorch, model
    with monitorch.record("own.mtrace", scalars="some") as recording:
        model.f(12_000)
    s = recording.summary
    print(s.left_out, [(line, n) for _, line, n in s.left_out_places])
    """
    (tmp_path / "plain.py").write_text(LOOP.replace("f(70_000)", ""))
    subprocess.run(
        [paths.COMMAND, "--all", "plain.py", "-o", "model.py", "-q"], cwd=tmp_path, check=True
    )
    (tmp_path / "main.py").write_text(textwrap.dedent(source))
    done = subprocess.run(
        [warm.python(), "main.py"],
        cwd=tmp_path,
        env=recording.environment("off"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "4000 [(3, 2000), (4, 2000)]\n"


def test_a_tensor_and_a_number_that_is_not_finite_are_always_recorded(tmp_path):
    source = """
    import torch
    def f(n):
        out, table = [], {}
        for i in range(n):
            a = float(i)
            if i == 12_001:
                a = float("nan")
            b = a
            out.append(i)
            table[i] = i
        for i in range(12_000, 12_010):
            out.append(torch.ones(1) if i == 12_005 else 0)
            table[n + i] = torch.ones(2) if i == 12_005 else 0
    def g(x):
        y = x
        return y
    f(14_000)
    for i in range(13_000):
        g(i)
    g(torch.ones(3))
    g(torch.ones(4))
    g(5)
    """
    trace, _ = run(tmp_path, source)
    found = events(trace)
    assert [e["value"] for e in found if e["name"] == "b"][10_000:] == ["NaN"]
    assert [e["path"] for e in found if e["name"] == "out" and "shape" in e] == ["[14005]"]
    assert [e["path"] for e in found if e["name"] == "table" and "shape" in e] == ["[26005]"]
    y = [e for e in found if e["name"] == "y"][10_000:]
    assert [e.get("shape", e.get("value")) for e in y] == [[3], [4], 5]
    # Each stands in a call of its own, which began there.
    calls = [e["call"] for e in y]
    assert len(set(calls)) == 3
    assert [e["call"] for e in found if e["name"] == "x"][10_000:] == calls


def test_stop_sees_what_is_left_out(tmp_path):
    source = """
    class Box:
        total = 0.0
    def f(box):
        for i in range(20_000):
            a = 1.0 if i != 15_000 else float("nan")
    def g(box):
        for i in range(20_000):
            box.total += 1.0 if i != 15_000 else float("nan")
    import sys
    (f if sys.argv[1] == "f" else g)(Box())
    """
    for name in "fg":
        _, done = run(tmp_path, source, name, options=("--record", "stop=nan"), check=False)
        assert "NonFinite" in done.stderr and done.returncode == 1, done.stderr


def test_loops_and_calls_with_tensors_in_them_stay_complete(tmp_path):
    source = """
    import torch
    def inner(k):
        h = torch.ones(1)
        if k % 2:
            k = 0
        return h
    def middle(k):
        return inner(k)
    def f(n):
        for i in range(n):
            middle(i)
        for j in range(n):
            c = j
    f(10_100)
    """
    trace, done = run(tmp_path, source)
    found = events(trace)

    def count(name, line):
        return sum(e["name"] == name and e["line"] == line for e in found)

    assert count("i", 11) == count("h", 4) == 10_100
    assert count("k", 3) == count("k", 8) == 10_100  # the calls
    assert count("j", 13) == count("c", 14) == 10_000
    assert sum(e["line"] == 5 for e in found) == 10_100 // 2  # the branch


def test_recursion_generators_and_threads(tmp_path):
    source = """
    import torch, threading
    def down(n):
        m = n - 1
        if m > 0:
            down(m)
        if n == 3 and hold:
            t = torch.ones(7)
        return m
    hold = False
    def gen(n):
        for i in range(n):
            yield i
    def work():
        for _ in range(700):
            down(20)
        for v in gen(15_000):
            w = v
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    hold = True
    down(5)
    """
    trace, _ = run(tmp_path, source)
    found = events(trace)
    [t] = [e for e in found if e["name"] == "t"]
    assert t["shape"] == [7]
    # From then on the calls are recorded: those that return after it.
    after = found[found.index(t) + 1 :]
    assert [e["value"] for e in after if e["name"] == "return"] == [2, 3, 4]
    assert len({e["call"] for e in after}) >= 3


PAIR = """
import sys, torch
def tokens(words):
    out = []
    for w in words:
        if len(w) > 2:
            out.append(len(w))
        else:
            out.append(0)
    return out
def net(x, ids):
    h = x * float(sys.argv[2])
    for i in ids[:5]:
        h = h + i
    return h
extra = tokens(["abc"] * int(sys.argv[1]))
ids = tokens([str(i) for i in range(30_000)])
y = net(torch.ones(3), ids)
"""


def test_diff_reports_nothing_that_was_left_out(tmp_path):
    """More visits before: others are left out, and what the tokens are made into is equal."""
    a, _ = run(tmp_path, PAIR, "10", "1.0", name="a")
    b, _ = run(tmp_path, PAIR, "17", "1.0", name="b")
    c, _ = run(tmp_path, PAIR, "10", "2.0", name="c")
    assert viewer.run("diff", a, a).returncode == 0
    text = viewer.run("diff", a, b).stdout
    assert "the paths differ 1 time" in text, text  # the seven turns more of the first call
    assert re.search(
        r"reached only by B:\n.*:5 +w +\(7 times\)\n.*:6 .*\(7 times\)\n.*:7 .*\(7 times\)", text
    )
    text = viewer.run("diff", a, c).stdout
    assert "control flow" not in text and "alone" not in text and ":11:" not in text.split("\n")[0]


def test_why_uses_no_number_that_may_be_outdated(tmp_path):
    source = """
    import torch
    def f(n):
        eps = 1.0
        x = torch.ones(2)
        for i in range(n):
            eps = eps if i != 12_000 else 0.0
        y = (x - x) / eps
        return y
    f({})
    """
    trace, _ = run(tmp_path, source.format(11_000), name="few")
    trace, _ = run(tmp_path, source.format(13_000))
    text = viewer.run("why", trace).stdout
    assert "0/0" in text.split("\n")[0] or "eps" in text
    assert "eps` is 1" not in text
