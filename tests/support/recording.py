"""Recording in tests, by the package itself: in a child process, or in this one.

In a child: `environment(mode, trace)` gives the variables that make it record. In this process:
`with active("on") as recorded: ...` for code that is compiled and run inside.
"""

import builtins
import contextlib
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import types

from tests.support import compiler, paths, viewer, warm

MODES = ("off", "on")


def environment(mode, trace=None, base=None, **options):
    """A child's environment in which `import monitorch` gives the package, recording or not."""
    result = {k: v for k, v in (os.environ if base is None else base).items()}
    result.pop("MONITORCH", None)
    if mode == "on":
        words = [f"{name}={value}" for name, value in options.items()]
        result["MONITORCH"] = ",".join([str(trace), "quiet", *words])
    elif mode != "off":
        raise ValueError(f"mode must be off or on, not {mode!r}")
    folders = [str(paths.PYTHON_PATH), result.get("PYTHONPATH", "")]
    result["PYTHONPATH"] = os.pathsep.join(f for f in folders if f)
    return result


def show(trace, *words):
    """The finished process of `monitorch show --json TRACE`."""
    return viewer.run("show", "--json", *words, trace, encoding=None)


def package():
    """The package under test, in this process."""
    if str(paths.PYTHON_PATH) not in sys.path:
        sys.path.insert(0, str(paths.PYTHON_PATH))
    return importlib.import_module("monitorch")


def record(path, **options):
    return package().record(str(path), **options)


def _forget_builtins():
    for name in [name for name in vars(builtins) if name.startswith("_mt")]:
        delattr(builtins, name)


@contextlib.contextmanager
def active(mode):
    """What is imported and run inside is recorded, or not; `.events` tells afterwards how many
    events its trace was found to hold.

    The names that files leave in builtins go before and after: code that runs before its
    bootstrap must be seen to fail.
    """
    recorded = types.SimpleNamespace(events=0)
    _forget_builtins()
    package()
    try:
        if mode == "off":
            yield recorded
            return
        with tempfile.TemporaryDirectory(prefix="monitorch-test-") as folder:
            trace = pathlib.Path(folder, "active.mtrace")
            with record(trace):
                yield recorded
            recorded.events = count_events(trace)
    finally:
        _forget_builtins()


# Reading traces


class Event:
    """An event as `monitorch show --json` tells it; what it does not tell is None."""

    _EMPTY = {"differs": [], "path": "", "change": ""}

    def __init__(self, fields):
        self.fields = fields
        if self.value_kind == "float":
            fields["value"] = float(fields["value"])
        elif self.value_kind == "complex":
            fields["value"] = complex(*map(float, fields["value"]))

    def __getattr__(self, name):
        return self.fields.get(name, Event._EMPTY.get(name))

    def __repr__(self):
        return f"Event({self.fields})"


def _call(record):
    return types.SimpleNamespace(
        number=record.pop("call"), class_name=record.pop("class"), path=record.pop("module"),
        **record,
    )


class Trace:
    """A trace that was read to its end: calls by number, events, ends and notes in order; gradients and steps
    where `show` was asked for them."""

    def __init__(self, lines):
        self.calls, self.events, self.ends, self.notes = {}, [], [], []
        self.gradients, self.steps = [], []
        for line in lines:
            record = json.loads(line)
            kind = record.pop("record")
            if kind == "event":
                self.events.append(Event(record))
            elif kind == "call":
                call = _call(record)
                self.calls[call.number] = call
            elif kind == "end":
                self.ends.append(types.SimpleNamespace(**record))
            elif kind == "gradient":
                self.gradients.append(Event(record))
            elif kind == "step":
                self.steps.append(types.SimpleNamespace(**record))
            elif kind == "note":
                self.notes.append(types.SimpleNamespace(**record))
            elif kind != "nothing":
                raise ValueError(f"a record of no known kind: {line!r}")


def read(path, *words):
    """The trace, which must be whole; the process that wrote it may have been killed. `words`
    choose what of it is read."""
    shown = show(path, *words)
    assert shown.returncode in (0, 1), f"{path}: {shown.stderr.decode(errors='replace')}"
    return Trace(shown.stdout.splitlines())


def count_events(path):
    """How many events a trace holds, which is read to its end."""
    count = 0
    words = [viewer.PATH, "show", "--json", path]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for line in process.stdout:
            count += line.startswith(b'{"record":"event"')
        errors = process.stderr.read()
    assert process.returncode == int(count == 0), f"{path}: {errors.decode(errors='replace')}"
    return count


def traces_in(folder):
    """The traces of a run: this process's and those of its children."""
    return [read(path) for path in sorted(pathlib.Path(folder).glob("*.mtrace"))]


# Running


def trace_of(source, path, **options):
    """The trace of a text of Python, instrumented as a whole and run in this process."""
    source = textwrap.dedent(source).lstrip("\n").encode()
    text = compiler.instrument(source, "program.py", all=True).text
    code = compile(text, "program.py", "exec", dont_inherit=True)
    module = types.ModuleType("program")
    sys.modules["program"] = module
    try:
        with record(path, **options):
            exec(code, module.__dict__)
    finally:
        del sys.modules["program"]
    return read(path)


def python_for(source):
    """The path of a Python that starts a program soon, with torch if it wants that."""
    return warm.python() if re.search(r"\btorch\b", source) else sys.executable


def without_tracker(errors):
    """What a program wrote to its standard error, but for what multiprocessing's resource tracker says: on a
    busy machine it may end before it hears of the last semaphore, also of a program that nobody records.
    Each of its warnings is two lines."""
    return re.sub(
        r"^\S*resource_tracker\.py:\d+: UserWarning: resource_tracker: .*\n.*warnings\.warn\(.*\n",
        "",
        errors,
        flags=re.MULTILINE,
    )


def run_python(*words, python=sys.executable, folder=None, env=None):
    """The finished process of a Python with these words, which finds the package; where `env` does not say
    otherwise, it is not recorded."""
    return subprocess.run(
        [python, *map(str, words)],
        cwd=folder,
        env=environment("off") if env is None else env,
        capture_output=True,
        text=True,
        timeout=300,
    )


def run_file(folder, name, *words, env=None):
    """The same of a program that lies in the folder, run there as a script."""
    python = python_for(pathlib.Path(folder, name).read_text())
    return run_python(name, *words, python=python, folder=folder, env=env)


def run_program(source, folder, words=(), **options):
    """The finished process of a text of Python, instrumented as a whole and run as a script."""
    text = compiler.instrument(source.encode(), "program.py", all=True).text
    pathlib.Path(folder, "program.py").write_bytes(text)
    recorded = environment("on", pathlib.Path(folder, "run.mtrace"), **options)
    return run_file(folder, "program.py", *words, env=recorded)
