"""python -m monitorch run: what is recorded, of which files, where, and what it says."""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording, viewer

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]

FUNCTION = "def f(x):\n    y = x + 1\n    return y\n"


def run(folder, *words, python=sys.executable, stdin="", **variables):
    environment = recording.environment("off")
    environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(paths.PYTHON_PATH))
    environment.update(variables)
    return subprocess.run(
        [python, "-m", "monitorch", *words],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
    )


def good(folder, *words, **arguments):
    done = run(folder, "run", *words, **arguments)
    assert done.returncode == 0, done.stderr
    return done


def functions_in(trace):
    """{(the file's name, the function)} of all events."""
    read = recording.read(trace)
    return {(os.path.basename(event.file), event.function) for event in read.events}


def files_in(trace):
    return {file for file, _ in functions_in(trace)}


@pytest.fixture
def project(tmp_path):
    """A script, modules beside it and elsewhere, and a package that is installed."""
    make_files(
        tmp_path,
        {
            "work/train.py": """
            import sys
            sys.path += ["../elsewhere", "../env/lib/site-packages"]
            import beside, far, installed
            from package import part
            def main():
                total = sum(m.f(1) for m in (beside, far, installed, part))
                return total
            class Net:
                def forward(self, x):
                    z = x
                    return z
            Net().forward(3)
            print(main())
            """,
            "work/beside.py": FUNCTION,
            "work/package/__init__.py": "",
            "work/package/part.py": FUNCTION,
            "elsewhere/far.py": FUNCTION,
            "env/lib/site-packages/installed.py": FUNCTION,
        },
    )
    return tmp_path / "work"


# What is recorded, and where


@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_the_script_and_what_is_beside_it(project, python):
    done = good(project, "train.py", python=python)
    assert done.stdout == "8\n"
    assert re.fullmatch(
        r"monitorch: \d+ events in run\.mtrace \(.*\): monitorch show run\.mtrace\n", done.stderr
    )
    found = functions_in(project / "run.mtrace")
    assert found == {
        ("train.py", "<module>"),
        ("train.py", "main"),
        ("train.py", "Net.forward"),
        ("beside.py", "f"),
        ("part.py", "f"),
    }
    assert not list(project.rglob("__pycache__"))


def test_values_and_sources_stand_in_the_trace(project):
    good(project, "train.py")
    (project / "train.py").unlink()  # not needed any more
    shown = run(project, "show", "--source", "run.mtrace")
    assert shown.returncode == 0
    assert "total = sum(m.f(1) for m in (beside, far, installed, part))" in shown.stdout
    assert "return = 8" in shown.stdout


def test_from_another_folder(project):
    """The script's folder and the current one, both."""
    make_files(project.parent, {"here/local.py": FUNCTION})
    text = (project / "train.py").read_text()
    (project / "train.py").write_text("import sys\nsys.path.append('.')\nimport local\nlocal.f(1)\n" + text.replace("../", "../work/../"))
    good(project.parent / "here", "../work/train.py")
    assert files_in(project.parent / "here" / "run.mtrace") == {
        "train.py", "beside.py", "part.py", "local.py"
    }


@pytest.mark.parametrize(
    "words, files",
    [
        (["--include", "beside"], {"beside.py"}),
        (["--include", "beside.py"], {"beside.py"}),
        (["--include", "package"], {"part.py"}),
        (["--include", "package.p*"], {"part.py"}),
        (["--include", "package/"], {"part.py"}),
        (["--include", "./package/*.py"], {"part.py"}),
        (["--include", "../elsewhere"], {"far.py"}),
        (["--include", "installed", "--include", "far"], {"installed.py", "far.py"}),
        (["--include", ".", "--include", "far"], {"train.py", "beside.py", "part.py", "far.py"}),
        (["--include", "train"], {"train.py"}),
        (["--include", "__main__"], {"train.py"}),
        (["--exclude", "package", "--exclude=train.py"], {"beside.py"}),
        (["--include", ".", "--exclude", "*side"], {"train.py", "part.py"}),
        (["--function", "f"], {"beside.py", "part.py"}),
        (["--function", "Net.*", "--include", "train"], {"train.py"}),
        (["--forward"], {"train.py"}),
        (["--lines", "beside.py:2-3"], {"beside.py"}),
        (["--lines", "installed.py:2"], {"installed.py"}),
        (["--lines", "7-8"], {"train.py"}),
    ],
)
def test_selection_of_files(project, words, files):
    good(project, *words, "train.py")
    assert files_in(project / "run.mtrace") == files


def test_selection_of_lines_and_functions(project):
    good(project, "--lines", "train.py:6-", "--lines", "beside.py:3", "train.py")
    found = recording.read(project / "run.mtrace").events
    assert {e.line for e in found if e.file.endswith("beside.py")} == {1, 3}
    good(project, "--function", "main", "train.py")
    assert functions_in(project / "run.mtrace") == {("train.py", "main")}


def test_comments_in_files_are_obeyed(project):
    (project / "beside.py").write_text(FUNCTION.replace("    y", "    # monitorch: off\n    y"))
    (project / "package" / "part.py").write_text("# monitorch: on\n" + FUNCTION)
    good(project, "--include", "beside", "train.py")
    assert not [e for e in recording.read(project / "run.mtrace").events if e.name == "y"]
    good(project, "--function", "main", "train.py")
    assert functions_in(project / "run.mtrace") == {("train.py", "main"), ("part.py", "f")}


def test_a_glob_that_nothing_matches_is_told(project):
    done = good(project, "--include", "beside", "--include", "beyond", "train.py")
    assert "monitorch: no module was imported that matches beyond\n" in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--include", "modle"], "no module was imported that matches modle; did you mean 'model'?"),
        (["--include", "modle.py"],
         "no module was imported that matches modle.py; did you mean 'model.py'?"),
        (["--include", "s", "--include", "mod*"], None),
        (["--function", "share", "--function", "schare"],
         "--function schare selects nothing in the files that ran; did you mean 'share'?"),
        (["--function", "*.forwrd"],
         "--function *.forwrd selects nothing in the files that ran; did you mean 'Net.forward'?"),
        (["--function", "zzzzzz"],
         "--function zzzzzz selects nothing in the files that ran; there are 'main', "),
        (["--function", "sh*", "--function", "Net.forward", "--function", "main"], None),
    ],
)  # fmt: skip
def test_a_selection_of_nothing_names_the_nearest(tmp_path, words, said):
    (tmp_path / "model.py").write_text(
        "def share(x):\n    y = [x]\n    return y\n\n"
        "class Net:\n    def forward(self, x):\n        z = share(x)\n        return z\n"
    )
    (tmp_path / "s.py").write_text(
        "import model\n\ndef main():\n    out = model.Net().forward(1)\n\nmain()\n"
    )
    done = good(tmp_path, *words, "s.py")
    lines = [line.removeprefix("monitorch: ") for line in done.stderr.splitlines()]
    about = [line for line in lines if "matches" in line or "selects" in line]
    assert len(about) == (said is not None) and all(line.startswith(said) for line in about), lines


def test_a_module_found_by_name(project):
    make_files(project, {"package/__main__.py": "from .part import f\nx = f(2)\n"})
    good(project, "-m", "package")
    assert files_in(project / "run.mtrace") == {"__main__.py", "part.py"}
    make_files(project.parent, {"empty/x": ""})
    good(project.parent / "empty", "-m", "package", PYTHONPATH=f"{paths.PYTHON_PATH}:{project}")
    assert files_in(project.parent / "empty" / "run.mtrace") == {"__main__.py", "part.py"}


def test_a_package_that_is_installed_to_be_edited(project):
    """Found by a finder of its own, as newer versions of setuptools do it."""
    make_files(project.parent, {
        "src/tool/__init__.py": "",
        "src/tool/__main__.py": "from .part import f\nx = f(1)\n",
        "src/tool/part.py": FUNCTION,
        "site/sitecustomize.py": """
        import importlib.util, sys
        class Finder:
            @staticmethod
            def find_spec(name, path=None, target=None):
                if name == "tool":
                    return importlib.util.spec_from_file_location(name, "../src/tool/__init__.py")
        sys.meta_path.append(Finder)
        """,
    })
    text = (project.parent / "site" / "sitecustomize.py").read_text()
    (project.parent / "site" / "sitecustomize.py").write_text(
        text.replace("../src", str(project.parent / "src"))
    )
    good(project, "-m", "tool", PYTHONPATH=f"{paths.PYTHON_PATH}:{project.parent}/site")
    assert files_in(project / "run.mtrace") == {"__main__.py", "part.py"}


def test_packages_that_pip_has_put_somewhere(project):
    make_files(project, {
        "deps/thing-1.0.dist-info/METADATA": "",
        "deps/thing/__init__.py": "",
        "deps/thing/inner/__init__.py": "",
        "deps/thing/inner/m.py": FUNCTION,
        "deps/single.py": FUNCTION,
        "s.py": "import sys\nsys.path.append('deps')\nimport thing.inner.m, single, beside\n"
        "for m in (thing.inner.m, single, beside):\n    m.f(1)\n",
    })
    good(project, "s.py")
    assert files_in(project / "run.mtrace") == {"s.py", "beside.py"}
    good(project, "-m", "thing.inner.m", PYTHONPATH=f"{paths.PYTHON_PATH}:{project}/deps")
    assert files_in(project / "run.mtrace") == set()


def test_a_module_of_the_standard_library(project):
    good(project, "-m", "timeit", "-n1", "-r1", "-s", "import beside", "beside.f(1)")
    assert files_in(project / "run.mtrace") == {"beside.py"}


def test_code_and_standard_input(project):
    code = "import beside\nx = beside.f(3)\n"
    good(project, "-c", code)
    events = recording.read(project / "run.mtrace").events
    assert ("<string>", 2) in {(os.path.basename(e.file), e.line) for e in events}
    shown = run(project, "show", "-s", "run.mtrace")
    assert "x = beside.f(3)" in shown.stdout
    good(project, "-", stdin=code)
    shown = run(project, "show", "-s", "run.mtrace")
    assert "x = beside.f(3)" in shown.stdout and "y = x + 1" in shown.stdout


def test_loaders_of_spec_from_file_location_and_runpy(project):
    (project / "s.py").write_text(
        textwrap.dedent(
            """
            import importlib.util, runpy
            spec = importlib.util.spec_from_file_location("any", "beside.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            module.f(1)
            runpy.run_path("package/part.py")["f"](2)
            """
        )
    )
    good(project, "s.py")
    assert files_in(project / "run.mtrace") == {"s.py", "beside.py", "part.py"}


def test_a_loader_that_compiles_by_itself(project):
    """Its own transformation is kept, and gets the instrumented source."""
    (project / "s.py").write_text(
        textwrap.dedent(
            """
            import ast, importlib.machinery, importlib.util, traceback
            class Loader(importlib.machinery.SourceFileLoader):
                def source_to_code(self, data, path, *, _optimize=-1):
                    tree = ast.parse(data)
                    for node in ast.walk(tree):
                        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                            node.op = ast.Sub()
                    return compile(tree, path, "exec", dont_inherit=True)
            spec = importlib.util.spec_from_loader("beside", Loader("beside", "beside.py"))
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            print(module.f(5), list(getattr(module.f.__code__, "co_positions", list)())[-1:])
            try:
                module.f("x")
            except TypeError:
                print(traceback.format_exc())
            """
        )
    )
    done = good(project, "s.py")
    plain = subprocess.run([sys.executable, "s.py"], cwd=project, capture_output=True, text=True)
    assert done.stdout == plain.stdout and done.stdout.startswith("4 ")
    events = recording.read(project / "run.mtrace").events
    assert [e.value for e in events if e.name == "y" and e.file.endswith("beside.py")] == [4]


def test_a_file_that_is_instrumented_already(project):
    text = compiler.instrument(FUNCTION.encode(), "beside.py", functions=["f"]).text
    (project / "beside.py").write_bytes(text)
    done = good(project, "train.py")
    assert done.stdout == "8\n" and "already" not in done.stderr
    assert ("beside.py", "f") in functions_in(project / "run.mtrace")


def test_what_cannot_be_instrumented_runs_as_ever(project):
    deep = "(" * 150 + "1" + ")" * 150
    source = f"def f(x):\n    y = {deep} + x\n    return y\n# {'x' * (33 << 20)}\n"
    (project / "beside.py").write_text(source)
    done = good(project, "train.py")
    assert done.stdout == "8\n"
    own = [line for line in done.stderr.splitlines() if line.startswith("monitorch: ")]
    assert len(own) == 2 and "beside.py:1:1: the file has" in own[0], own
    assert "runs without being recorded" in own[0]
    assert "beside.py" not in files_in(project / "run.mtrace")


# The recording


def test_options_of_the_recording(project):
    (project / "s.py").write_text("def f(n):\n    for i in range(n):\n        x = i\nf(1000)\n")
    done = good(project, "-o", "some name.mtrace", "--record", "last=100,hash=no", "s.py")
    assert "about the last 100 of" in done.stderr and "'some name.mtrace'" in done.stderr
    assert not (project / "run.mtrace").exists()
    done = good(project, "-oshort.mtrace", "--quiet", "s.py")
    assert done.stderr == "" and (project / "short.mtrace").exists()
    done = good(project, "--output=long.mtrace", "--record=quiet", "s.py")
    assert done.stderr == "" and (project / "long.mtrace").exists()


def test_no_record(project):
    done = good(project, "--no-record", "train.py")
    assert done.stderr == "" and not list(project.glob("*.mtrace"))


def test_monitorch_in_the_environment_says_where(project):
    done = good(project, "train.py", MONITORCH="other.mtrace,sample=0")
    assert "in other.mtrace" in done.stderr and not (project / "run.mtrace").exists()
    assert len(functions_in(project / "other.mtrace")) == 5
    for words in (["-o", "x.mtrace"], ["--record", "sample=1"]):
        done = run(project, "run", *words, "train.py", MONITORCH="other.mtrace")
        assert done.returncode == 2 and "MONITORCH is set" in done.stderr


OWN = """
import monitorch
{before}
with monitorch.record("{path}") as recording:
    y = 1
print(recording.summary.events, recording.summary.stopped)
z = 3
"""


@pytest.mark.parametrize(
    "before, path, words, files, told",
    [
        ("", "own.mtrace", [], {"own.mtrace"}, ""),
        ("x = 0", "own.mtrace", [], {"own.mtrace", "run.mtrace"}, "1 events in run.mtrace"),
        ("", "own.mtrace", ["-o", "a.mtrace"], {"own.mtrace", "a.mtrace"}, "nothing recorded in a.mtrace|recording of its own"),
        ("x = 0", "run.mtrace", [], {"run.mtrace"}, ""),
    ],
)
def test_the_programs_own_recording_wins(tmp_path, before, path, words, files, told):
    (tmp_path / "s.py").write_text(OWN.format(before=before, path=path))
    done = good(tmp_path, *words, "s.py")
    count, stopped = done.stdout.split()
    assert int(count) >= 1 and stopped == "None"
    assert {p.name for p in tmp_path.glob("*.mtrace")} == files
    assert bool(done.stderr) == bool(told) and re.search(told, done.stderr)
    names = {event.name for event in recording.read(tmp_path / path).events}
    assert "y" in names and "z" not in names


def test_stop_and_find_are_as_without_us(tmp_path):
    (tmp_path / "s.py").write_text("import monitorch\nx = 1\nprint(monitorch.stop())\ny = 2\n")
    assert good(tmp_path, "s.py").stdout == "None\n"
    assert {"x", "y"} <= {event.name for event in recording.read(tmp_path / "run.mtrace").events}


def test_after_an_exception_and_in_atexit(tmp_path):
    (tmp_path / "s.py").write_text(
        "import atexit\ndef last():\n    a = 5\natexit.register(last)\nx = 1\n1 / 0\n"
    )
    done = run(tmp_path, "run", "s.py")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback") and "events in run.mtrace" in done.stderr
    assert {"x", "a"} <= {event.name for event in recording.read(tmp_path / "run.mtrace").events}


@pytest.mark.parametrize("kind", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("python", [p for _, p in PYTHONS], ids=["%d.%d" % v for v, _ in PYTHONS])
def test_processes(kind, python, tmp_path):
    (tmp_path / "s.py").write_text(
        textwrap.dedent(
            f"""
            import multiprocessing, helper
            def work(x):
                y = helper.f(x)
                print(__name__, y, flush=True)
            if __name__ == "__main__":
                process = multiprocessing.get_context("{kind}").Process(target=work, args=(5,))
                process.start()
                process.join()
                print(process.exitcode)
            """
        )
    )
    (tmp_path / "helper.py").write_text(FUNCTION)
    done = good(tmp_path, "s.py", python=python)
    main = "__main__" if kind == "fork" else "__mp_main__"
    assert done.stdout == f"{main} 6\n0\n" and "1 trace of a child process" in done.stderr
    (child,) = tmp_path.glob("run.*.mtrace")
    assert functions_in(child) >= {("s.py", "work"), ("helper.py", "f")}
    done = good(tmp_path, "--no-record", "-m", "s", python=python)
    assert done.stdout == f"{main} 6\n0\n" and done.stderr == ""


# Wrong words


@pytest.mark.parametrize(
    "words, text",
    [
        ([], "no program, expected SCRIPT"),
        (["-q"], "no program, expected SCRIPT"),
        (["--"], "no program, expected SCRIPT"),
        (["-m"], "-m: expected the module to run after it"),
        (["-c"], "-c: expected the code to run after it"),
        (["--includ", "x", "s.py"], "no option --includ; did you mean --include?"),
        (["-x", "s.py"], "no option -x"),
        (["-o"], "-o: expected an argument after it"),
        (["-o", "", "s.py"], "-o: expected an argument, got nothing"),
        (["--quiet=yes", "s.py"], "--quiet has no argument"),
        (["-o", "a", "-o", "b", "s.py"], "-o was given twice"),
        (["--no-record", "-o", "a", "s.py"], "exclude each other"),
        (["--lines", "x", "s.py"], "expected FILE:N-M"),
        (["--lines", "s.py:5-2", "s.py"], "the last is not before the first"),
        (["--lines", "s.py:0", "s.py"], "lines count from 1"),
        (["--lines", "3-4", "-m", "s"], "of which file?"),
        (["--record", "lst=3", "s.py"], "no option 'lst'; did you mean 'last'?"),
        (["--record", "sample=x", "s.py"], "sample must be a whole number"),
        (["--record", "sample=5000", "s.py"], "sample must be"),
        (["--record", "every=0", "s.py"], "every must be at least 1"),
    ],
)
def test_wrong_usage(words, text, tmp_path):
    (tmp_path / "s.py").write_text("print('ran')\n")
    done = run(tmp_path, "run", *words)
    assert done.returncode == 2 and text in done.stderr and done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", ["none/run.mtrace", "s.py", "."])
def test_a_trace_that_cannot_be_written(output, tmp_path):
    (tmp_path / "s.py").write_text("print('ran')\n")
    done = run(tmp_path, "run", "-o", output, "s.py")
    assert done.returncode == 3 and done.stdout == ""
    assert done.stderr.startswith(f"monitorch run: {output}: ") and done.stderr.count("\n") == 1


def test_a_folder_that_was_removed(project):
    program = "import os; os.mkdir('x'); os.chdir('x'); os.rmdir('../x'); os.execv({0!r}, {1!r})"

    def start(*words):
        words = [sys.executable, "-m", "monitorch", "run", *words, "-c", "x = 1\nprint(x)"]
        return run_python("-c", program.format(sys.executable, words), project)

    done = start("-o", str(project / "run.mtrace"))
    assert done.stdout == "1\n" and "events in" in done.stderr
    done = start()
    assert done.returncode == 3
    assert done.stderr == "monitorch run: the current folder: No such file or directory\n"


def run_python(*words):
    *words, folder = words
    environment = dict(os.environ, PYTHONPATH=str(paths.PYTHON_PATH))
    environment.pop("MONITORCH", None)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return recording.run_python(*words, folder=folder, env=environment)


# The other commands


def test_help_and_version(tmp_path):
    for words in ([], ["--help"], ["-h"], ["help"]):
        done = run(tmp_path, *words)
        assert done.returncode == 0 and "run a Python program and record" in done.stdout
    for words in (["run", "--help"], ["run", "-h", "x"], ["help", "run"]):
        done = run(tmp_path, *words)
        assert done.returncode == 0 and "--include GLOB" in done.stdout
    assert done.stdout == viewer.run("run", "--help").stdout
    for words in (["--version"], ["-V"], ["run", "-V"]):
        assert run(tmp_path, *words).stdout == f"monitorch {recording.package().__version__}\n"


def test_other_commands_are_those_in_c(project, tmp_path):
    if not viewer.PATH.exists():
        pytest.skip("the command is not built (make)")
    good(project, "train.py")
    done = run(project, "show", "--json", "run.mtrace")
    direct = recording.show(project / "run.mtrace")
    assert done.returncode == 0 and done.stdout.encode() == direct.stdout
    assert json.loads(done.stdout.splitlines()[0])
    assert run(project, "show", "nothing.mtrace").returncode == 3
    assert "no command shw; did you mean show?" in run(project, "shw").stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_reach_the_program(tmp_path, name):
    """The command becomes the interpreter, which would inherit signals that it blocks."""
    if not viewer.PATH.exists():
        pytest.skip("the command is not built (make)")
    (tmp_path / "program.py").write_text(
        "import os, signal\n"
        f"signal.signal(signal.{name}, lambda *_: print('arrived'))\n"
        f"os.kill(os.getpid(), signal.{name})\n"
        "print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))\n"
    )
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    done = subprocess.run(
        [viewer.PATH, "run", "-q", "program.py"],
        cwd=tmp_path,
        env={**recording.environment("off"), "PYTHONPATH": str(paths.PYTHON_PATH), "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "arrived\n[]\n", done.stdout + done.stderr


def test_where_the_command_is_not_found(tmp_path):
    """The package alone, somewhere."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "monitorch").symlink_to(paths.PACKAGE)
    environment = dict(PYTHONPATH=str(tmp_path / "a" / "b"), PATH="")
    done = run(tmp_path, "show", "x", **environment)
    assert done.returncode == 2 and "`make` builds it" in done.stderr
    assert "found neither beside this package" in run(tmp_path, **environment).stdout


@pytest.mark.parametrize("words", [["program.py"], ["-m", "program"], ["-c", "import program"]])
def test_what_the_program_printed_comes_first(tmp_path, words):
    """Into one pipe, as `2>&1 | less` has it."""
    (tmp_path / "program.py").write_text("x = 1\nprint('printed')\n")
    environment = {**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH)}
    environment.pop("PYTHONUNBUFFERED", None)
    done = subprocess.run(
        [sys.executable, "-m", "monitorch", "run", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("printed\nmonitorch: "), done.stdout


def deep_program(arm_count):
    arms = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(1, arm_count))
    chain = f"def f(x):\n    if x == 0:\n        y = 0\n{arms}    return y\n"
    return chain + "def g(x):\n    z = x * 2\n    return z\nprint(f(1), g(4))\n"


@pytest.mark.parametrize("version, python", PYTHONS)
def test_a_function_that_is_too_deep_is_named_and_the_rest_recorded(tmp_path, version, python):
    """It compiles as it is, in the script and in a module, but not with calls in it."""
    (tmp_path / "deep.py").write_text(deep_program(2940))
    (tmp_path / "train.py").write_text(deep_program(2975) + "import deep\n")
    done = good(tmp_path, "--imports", "train.py", python=python)
    assert done.stdout == "1 8\n1 8\n"
    for name in ("train.py", "deep.py"):
        assert re.search(
            rf"{name}:\d+:\d+: function 'f' stays as it is: CPython could not compile its nesting", done.stderr
        )
    assert functions_in(tmp_path / "run.mtrace") == {
        ("train.py", "g"),
        ("deep.py", "g"),
    }


def test_a_file_that_python_does_not_compile_fails_as_it_does(tmp_path):
    (tmp_path / "train.py").write_text(deep_program(3100 if sys.version_info < (3, 13) else 6100))
    done = run(tmp_path, "run", "train.py")
    plain = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    assert plain.returncode == done.returncode == 1
    assert plain.stderr.splitlines()[-1] in done.stderr.splitlines()


def test_a_module_imported_with_little_stack_left_is_recorded(tmp_path):
    """Where calls in a function would be the last straw, it is left as it is."""
    deep = "def f(x):\n    return " + "x + " * 1600 + "x\ndef g(x):\n    z = x * 2\n    return z\ng(4)\n"
    (tmp_path / "deep.py").write_text(deep)
    program = "import sys\ndef go(n):\n    if n: return go(n - 1)\n    import deep\ngo(int(sys.argv[1]))\n"
    (tmp_path / "train.py").write_text(program)
    for count in range(420, 470, 7):
        words = [sys.executable, "-B", "train.py", str(count)]
        plain = subprocess.run(words, cwd=tmp_path, capture_output=True)
        done = run(tmp_path, "run", "--imports", "train.py", str(count))
        assert done.returncode == plain.returncode
        assert done.returncode or ("deep.py", "g") in functions_in(tmp_path / "run.mtrace")


CONSTANTS = """class A:
    def __init__(self):
        self.is_causal = True
        self.eps = 1e-6
        self.name: str = "a, b)"
    def kind(self):
        return "a"
A().kind()
"""


def test_constants_are_recorded(tmp_path):
    """`self.x = 1` and `return 1` pass the constant itself, and diff compares it."""
    for folder, text in (("a", CONSTANTS), ("b", CONSTANTS.replace("1e-6", "1e-5"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text(text)
        good(tmp_path / folder, "model.py")
    shown = viewer.run("show", tmp_path / "a" / "run.mtrace").stdout
    for line in ("self.is_causal = True", "self.eps = 1e-6", "self.name = 'a, b)'", "return = 'a'"):
        assert re.search(rf"^ *\d+  {re.escape(line)}( |$)", shown, re.MULTILINE), shown
    assert "not recorded" not in shown
    done = viewer.run("diff", tmp_path / "a" / "run.mtrace", tmp_path / "b" / "run.mtrace")
    assert done.returncode == 1 and "self.eps" in done.stdout and "1e-5" in done.stdout
    assert "is_causal" not in done.stdout and "kind" not in done.stdout
