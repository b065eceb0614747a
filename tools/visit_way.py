"""The way of one visit: which functions and files of runtime/ each consumer runs through.

    python3 tools/visit_way.py               # all consumers, with counts of functions, files, instructions
    python3 tools/visit_way.py tracer --list # the functions too

A program of one line is instrumented and run under valgrind's callgrind. One call of the hook is
counted, after the line has run often enough that all caches are filled. Inlined functions count as
part of their callers, their files as files. Python functions that the visit calls are counted in
the same run. A visit without a consumer has a row of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, mark):
        y = mark.begin(x * 2)
        z = mark.end(y) + 1
        return z
"""
WARM = 6
CONSUMERS = ("recording", "saver", "monitor", "tracer", "tracker", "recording and saver", "others")


class Mark:
    """Marks the start and the end of the visit for callgrind, by calls of two functions of the C
    library."""

    def __init__(self) -> None:
        self.is_last = False
        self.python: list[str] = []

    def begin(self, value: object) -> object:
        if self.is_last:
            sys.setprofile(self.note)
            os.getppid()
        return value

    def end(self, value: object) -> object:
        if self.is_last:
            os.getpgrp()
            sys.setprofile(None)
        return value

    def note(self, frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and "monitorch" in code.co_filename:
            self.python.append(code.co_filename)


def consume(name: str, model: object) -> contextlib.ExitStack:
    """Starts the consumer; closing the stack ends it."""
    import monitorch
    from monitorch.monitor import ModuleMonitor
    from monitorch.spy import DebugContext, TensorSaver
    from monitorch.tracer import ModelTracer
    from monitorch.tracker import var_tracker

    stack = contextlib.ExitStack()
    if "recording" in name:
        stack.enter_context(monitorch.record("run.mtrace"))
    if "saver" in name:
        stack.enter_context(DebugContext(TensorSaver("saved", names=["y"])))
    if name == "monitor":
        monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
        monitor.add_activation_metric("mean", "mean", metric_regex=r".*forward:y")
        monitor.set_module(model)
        monitor.begin_step(1)
        stack.callback(monitor.end_step)
    if name == "tracer":
        stack.enter_context(ModelTracer(model, ["forward.y"]))
    if name == "tracker":
        kind = type(model)
        kind.forward = var_tracker("y")(kind.forward)
    if name == "others":
        stack.enter_context(DebugContext(TensorSaver("saved", names=["no_such_name"])))
    return stack


def run_child(name: str) -> None:
    import torch
    from program import Model

    torch.set_num_threads(1)
    model, x, mark = Model(), torch.ones(4, 4), Mark()
    with consume(name, model):
        for _ in range(WARM):
            model(x, mark)
        mark.is_last = True
        model(x, mark)
    print("\npython", len(mark.python), len(set(mark.python)))


def is_ours(file: str) -> bool:
    return "/runtime/" in file or "/instrument/" in file


def read_cost(path: pathlib.Path) -> tuple[dict[str, str], set[str], int]:
    """The functions with their files, the files and the instructions, of this project only."""
    names: dict[str, dict[str, str]] = {"file": {}, "function": {}}
    functions: dict[str, str] = {}
    files: set[str] = set()
    count, is_call, file, own, function = 0, False, "", "", ""

    def read(kind: str, text: str) -> str:
        found = re.match(r"\((\d+)\)(?: (.*))?", text)
        assert found is not None, text
        if found[2] is not None:
            names[kind][found[1]] = found[2]
        return names[kind][found[1]]

    for line in path.read_text(errors="replace").splitlines():
        if line.startswith(("fl=", "fi=", "fe=")):
            file = read("file", line[3:])
            own = file if line.startswith("fl=") else own
        elif line.startswith("fn="):
            function = read("function", line[3:])
        elif line.startswith(("cfi=", "cfl=")):
            read("file", line[4:])
        elif line.startswith("cfn="):
            read("function", line[4:])
        elif line.startswith("calls="):
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            costs = line.split()[1:]  # a cost of 0 is omitted
            if not is_call and costs and is_ours(own):
                functions[re.sub(r"'\d+$", "", function)] = own
                files.add(file)
                count += int(costs[0])
            is_call = False
    return functions, {file for file in files if is_ours(file)}, count


def follow(name: str, folder: pathlib.Path) -> tuple[dict[str, str], set[str], int, str]:
    for old in folder.glob("callgrind.*"):
        old.unlink()
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=hook_call", "--zero-before=getppid",
         "--dump-before=getpgrp", "--callgrind-out-file=callgrind.out",
         sys.executable, str(pathlib.Path(__file__).resolve()), "--child", name],
        cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"},
    )  # fmt: skip
    dump = folder / "callgrind.out.1"
    if done.returncode != 0 or not dump.exists():
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    python = next(line for line in done.stdout.splitlines() if line.startswith("python"))
    return *read_cost(dump), python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("consumers", nargs="*", default=[], help="of: " + ", ".join(CONSUMERS))
    parser.add_argument("--list", action="store_true", help="lists the functions")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child)
        return 0
    if shutil.which("valgrind") is None:
        sys.exit("visit_way.py: valgrind is not installed")
    print(f"{'consumer':20} {'functions':>9} {'files':>6} {'instructions':>13}   Python functions, files")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "plain.py").write_text(PROGRAM)
        subprocess.run(["monitorch-instrument", "plain.py", "-o", "program.py"], cwd=place, check=True)
        for name in options.consumers or CONSUMERS:
            functions, files, count, python = follow(name, place)
            calls, python_files = python.split()[1:]
            print(f"{name:20} {len(functions):9} {len(files):6} {count:13,}   {calls}, {python_files}", flush=True)
            if options.list:
                for function, file in sorted(functions.items(), key=lambda item: item[1]):
                    print(f"    {file.split('/runtime/')[-1]}: {function}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
