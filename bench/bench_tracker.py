"""What tracking a function costs, against a trace function in Python, as the old tracker's, and
PySnooper.

Claims, in one run and one thread, for a function of 12 lines on 64x64 tensors whose variables are
all tracked: what tracking adds to a call is at most 1/20 of what `sys.settrace` adds with a clone of
each variable and `allclose` at each line; and less than what PySnooper adds. Exit code 1 where a claim
does not hold.
"""

import contextlib
import importlib.util
import io
import pathlib
import statistics
import sys
import tempfile
import time

import torch
from claims import Claims
from monitorch import tracker

CLAIM = 20.0
ROUNDS = 15
CALLS = 20


def twelve_lines(x, w):
    q = x @ w
    k = q * 0.5
    v = k + x
    s = q @ k.t()
    s = s - s.max()
    p = s.exp()
    n = p.sum(-1, keepdim=True)
    p = p / n
    o = p @ v
    o = o + x
    o.mul_(0.9)
    return o.tanh()


# ---- the old way: a trace function in Python ----


def describe(name, value, line):
    if isinstance(value, torch.Tensor):
        floats = value.float()
        return (
            f"│   ├─ [Tensor] {name}@{line} → shape={value.shape} | dtype={value.dtype} | "
            f"sum={floats.sum().item():.4f} | mean={floats.mean().item():.4f} | "
            f"min={floats.min().item():.4f} | max={floats.max().item():.4f}"
        )
    return f"│   ├─ [Var] {name}@{line} value: {value}"


def has_changed(old, new):
    if not isinstance(new, torch.Tensor) or not isinstance(old, torch.Tensor):
        return old is not new
    if old.shape != new.shape or old.dtype != new.dtype:
        return True
    return not torch.allclose(old, new, atol=1e-5)


def keep(value):
    return value.clone() if hasattr(value, "clone") else value


def settrace_tracker(function, output):
    """Compares each variable with a clone of it at each line."""
    code = function.__code__

    def run(*args):
        known = {}
        last = [code.co_firstlineno]

        def trace_lines(frame, event, argument):
            if event in ("line", "return"):
                for name, value in frame.f_locals.items():
                    if name not in known or has_changed(known[name], value):
                        output.write(describe(name, value, last[0]) + "\n")
                        known[name] = keep(value)
                last[0] = frame.f_lineno
            return trace_lines

        def trace_calls(frame, event, argument):
            return trace_lines if frame.f_code is code else None

        before = sys.gettrace()
        sys.settrace(trace_calls)
        try:
            return function(*args)
        finally:
            sys.settrace(before)

    return run


# ---- measuring ----


def make_runs(output):
    runs = {
        "plain": twelve_lines,
        "var_tracker('*')": tracker.var_tracker("*")(twelve_lines),
        "auto_diff": tracker.auto_diff(twelve_lines),
        "sys.settrace, clone and allclose": settrace_tracker(twelve_lines, output),
    }
    if importlib.util.find_spec("pysnooper") is not None:
        import pysnooper

        runs["PySnooper"] = pysnooper.snoop(output)(twelve_lines)
    return runs


def seconds(run, arguments):
    started = time.perf_counter()
    for _ in range(CALLS):
        run(*arguments)
    return (time.perf_counter() - started) / CALLS


def measure(output):
    """Of each run, the median of what it adds to the plain one that ran just before it."""
    arguments = torch.randn(64, 64), torch.randn(64, 64) * 0.1
    runs = make_runs(output)
    added = {name: [] for name in runs}
    for turn in range(ROUNDS + 1):
        for name, run in runs.items():
            plain = seconds(twelve_lines, arguments)
            taken = seconds(run, arguments)
            output.seek(0)
            output.truncate()
            added[name].append(taken if name == "plain" else taken - plain)
    return {name: statistics.median(taken[1:]) for name, taken in added.items()}


def main():
    torch.set_num_threads(1)
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        tracker.configure(folder=folder)
        with contextlib.redirect_stdout(output):
            added = measure(output)
        lines = sum(len(f.read_text().splitlines()) for f in pathlib.Path(folder).glob("*.log"))
        tracker.configure(folder=None)
    print(f"a function of 12 lines on 64x64 tensors, {lines} lines written; microseconds a call")
    for name, taken in added.items():
        print(f"  {'' if name == 'plain' else '+ '}{name:<40} {taken * 1e6:10.1f}")
    own = added["var_tracker('*')"]
    old = added["sys.settrace, clone and allclose"]
    claims = Claims("What tracking a function adds to its calls")
    what = "a call of a function of 12 lines on 64x64 tensors, all tracked"
    peer = "what sys.settrace adds with a clone and allclose at each line"
    claims.at_least(CLAIM, what, old / own, peer=peer, unit="times less")
    if "PySnooper" in added:
        less = added["PySnooper"] / own
        claims.at_least(1, what, less, peer="what PySnooper adds", unit="times less")
    else:
        claims.not_measured(f"{what}, against PySnooper", "PySnooper is not installed")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
