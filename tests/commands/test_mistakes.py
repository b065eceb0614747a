"""Mistakes of a newcomer: what is printed says what happened, and what to type next."""

import json
import pathlib
import subprocess
import sys

import pytest

from tests.support import paths, recording, viewer

pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(
    not (viewer.PATH.exists() and list(paths.PACKAGE.glob("_recorder*.so"))),
    reason="the command and the recorder are not built (make)",
)

PLAIN = "total = 0\nfor i in range(3):\n    total += i\n"
MODEL = "import numpy as np\ndef share(x):\n    part = x / 2\n    return part\nshare(np.ones(2))\n"

# Words of the command line, what they print, and what the newcomer is to type then.
COMMANDS = {
    "a script passed to why": ("monitorch why model.py", "is no trace", "monitorch run train.py"),
    "a trace that is not there": ("monitorch why none.mtrace", "No such file", "monitorch run train.py"),
    "an empty file": ("monitorch show empty.mtrace", "is empty", "monitorch run train.py"),
    "the first bytes of a trace": ("monitorch show tiny.mtrace", "is damaged", "monitorch run train.py"),
    "no trace at all": ("monitorch why", "no trace", "monitorch why --help"),
    "one trace to diff": ("monitorch diff run.mtrace", "one trace, expected two", "monitorch diff A B"),
    "a trace for a command": (
        "monitorch run.mtrace", "no command run.mtrace", "did you mean `monitorch show run.mtrace`?",
    ),
    "a program for a command": (
        "monitorch train.py", "no command train.py", "did you mean `monitorch run train.py`?",
    ),
    "no command of that name": ("monitorch whi run.mtrace", "no command whi", "did you mean why?"),
    "a typo in an option": ("monitorch show --nane y run.mtrace", "no option --nane", "mean --name?"),
    "a table of sql": ("monitorch sql run.mtrace 'select * from event'", "no such table: event",
                       "monitorch sql --schema"),
    "a picture without tensors": ("monitorch graph plain.mtrace -o x.svg", "no tensors or arrays",
                                  "--scalars"),
    "a picture of another kind": ("monitorch graph run.mtrace -o x.jpg", "x.jpg", ".png, .svg"),
    "modules of a trace without any": ("monitorch calls plain.mtrace", "no recorded call of an nn.Module",
                                       "monitorch run train.py"),
    "run without a script": ("python -m monitorch run", "no program", "expected SCRIPT"),
    "an option of run": ("python -m monitorch run --inclde x model.py", "no option --inclde",
                         "did you mean --include?"),
    "a module of --include": ("python -m monitorch run --include modle model.py", "matches modle",
                              "did you mean 'model'?"),
    "a function of --function": ("python -m monitorch run --function shair model.py", "selects nothing",
                                 "did you mean 'share'?"),
    "an option of --record": ("python -m monitorch run --record lats=3 model.py", "no option 'lats'",
                              "did you mean 'last'?"),
    "include in --record": ("python -m monitorch run --record include=x model.py", "include=",
                            "--include instead"),
    "an option of MONITORCH": ("MONITORCH=x.mtrace,sampel=3 python -c 'import monitorch'",
                               "nothing is recorded", "did you mean 'sample'?"),
    "MONITORCH without a path": ("MONITORCH=,sample=3 python -c 'import monitorch'",
                                 "the path of the trace is missing", "run.mtrace,last=100000"),
    "a picture without -o": ("monitorch graph run.mtrace flow.svg", "the file to write follows -o", "-o flow.svg"),
    "a folder to run": ("mkdir -p src && cp plain.py src && monitorch run src", "can't find '__main__' module",
                        "src"),
    "a line as an event": ("monitorch why plain.mtrace 3400", "the trace has #0 to #", "FILE:3400"),
    "MONITORCH of a plain program": ("MONITORCH=x.mtrace python use.py", "no instrumented code",
                                     "monitorch run use.py"),
    "nothing to instrument": ("monitorch-instrument plain.py", "nothing is selected", "--all"),
    "a function to instrument": ("monitorch-instrument --function shair model.py", "selects nothing",
                                 "did you mean share?"),
}  # fmt: skip

# Statements of a program, run one after another in one process, and the same.
PROGRAMS = {
    "off without on": ("monitorch.off()", "monitorch.on() was not called", "monitorch.on()"),
    "on without tensors": ("monitorch.on()\nx = 3\nmonitorch.off()", "no line that was followed assigned",
                           ""),
    "off twice": ("monitorch.on()\nx = np.ones(2)\nmonitorch.off(filename='a.svg')\nmonitorch.off()",
                  "nothing was recorded since the last picture", "monitorch.on() begins"),
    "an argument of on": ("monitorch.on(them='dark')", "unexpected keyword argument 'them'",
                          "did you mean 'theme'?"),
    "an argument of record": ("monitorch.record('a.mtrace', sampel=3)", "monitorch.record()",
                              "did you mean 'sample'?"),
    "a name of the package": ("monitorch.recrod('a.mtrace')", "no attribute 'recrod'", ""),
    "record without with": ("monitorch.record('a.mtrace')", "was not started",
                            "with monitorch.record(…):"),
    "record twice": ("with monitorch.record('a.mtrace', include='__main__'):\n"
                     "    monitorch.record('b.mtrace')", "is recording to a.mtrace already",
                     "call monitorch.stop() first"),
    "record of plain code": ("with monitorch.record('a.mtrace'):\n    x = np.ones(2)",
                             "nothing recorded in a.mtrace", "include='__main__'"),
    "an include that matches nothing": ("with monitorch.record('a.mtrace', include='numpi'):\n    pass",
                                        "no code of such a module ran", "did you mean 'numpy'"),
    "stop with include": ("monitorch.record('a.mtrace', include='model', stop='nan')",
                          "stop='nan' needs instrumented code", "monitorch run --include model"),
    "record into a script": ("monitorch.record('model.py').start()", "no trace: not replaced", ""),
    "load of a script": ("monitorch.load('model.py')", "is no trace", "monitorch run train.py"),
    "run of a name": ("monitorch.run('share')", "calls a function, not 'share'", ""),
    "watch of a generator": ("@monitorch.watch()\ndef rows():\n    yield 1", "cannot decorate rows",
                             "with monitorch.watch():"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "plain.py").write_text(PLAIN)
    (folder / "model.py").write_text(MODEL)
    (folder / "use.py").write_text("import monitorch\n")
    (folder / "empty.mtrace").touch()
    for name in ("plain", "model"):
        trace = "run" if name == "model" else name
        words = ["-m", "monitorch", "run", "-q", "-o", f"{trace}.mtrace", f"{name}.py"]
        done = recording.run_python(*words, folder=folder, env=recording.environment("off"))
        assert done.returncode == 0, done.stderr
    (folder / "tiny.mtrace").write_bytes((folder / "run.mtrace").read_bytes()[:20])
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_in_a_terminal(folder, name):
    command, said, following = COMMANDS[name]
    environment = recording.environment("off")
    programs = f"{paths.BUILD / 'bin'}:{pathlib.Path(sys.executable).parent}"
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert said in done.stderr and following in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert all(len(line) < 200 for line in done.stderr.splitlines()), done.stderr


RUNNER = """
import json, sys, warnings
import numpy as np
import monitorch

found = {}
for name, text in json.load(open("programs.json")).items():
    said = []
    warnings.showwarning = lambda message, *rest: said.append(str(message))
    warnings.simplefilter("always")
    scope = {"__name__": "__main__", "np": np, "monitorch": monitorch}
    try:
        exec(compile(text, "program.py", "exec"), scope)
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
    scope.clear()
    monitorch.stop()
    monitorch.reset()
    found[name] = "\\n".join(said)
json.dump(found, open("found.json", "w"))
"""


@pytest.fixture(scope="module")
def printed(folder):
    """All programs in one process: what each of them says."""
    programs = {name: row[0] for name, row in PROGRAMS.items()}
    (folder / "programs.json").write_text(json.dumps(programs))
    (folder / "runner.py").write_text(RUNNER)
    done = recording.run_python("runner.py", folder=folder, env=recording.environment("off"))
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "found.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_a_program(printed, name):
    _, said, following = PROGRAMS[name]
    assert said in printed[name] and following in printed[name], printed[name]


def test_there_are_thirty():
    assert len(COMMANDS) + len(PROGRAMS) >= 30
