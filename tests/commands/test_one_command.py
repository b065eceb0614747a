"""The command monitorch as the one entry point: every --help, `run`, `instrument`, completions."""

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest

from tests.support import paths, viewer

SUMMARY = viewer.run("help").stdout if viewer.PATH.exists() else ""
COMMANDS = re.findall(
    r"^  ([a-z]+) +\w", SUMMARY.partition("Commands:")[2].partition("\n\n")[0], re.M
)
COMMANDS = [name for name in COMMANDS if name != "help"]


def test_the_summary_lists_the_commands():
    assert {"run", "why", "diff", "show", "instrument", "completion"} <= set(COMMANDS)
    assert all(len(line) <= 80 for line in SUMMARY.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name):
    """It fits a terminal, begins with the most used options, and names each option once."""
    done = viewer.run("help", name)
    assert done.returncode == 0 and viewer.run(name, "--help").stdout == done.stdout
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    options = [line.split()[0:2] for line in lines if re.match(r"  (-\w, )?--\w", line)]
    names = [word for words in options for word in words if word.startswith("--")]
    assert len(names) == len(set(names)) and "--help" in names
    if name != "completion":
        first = lines.index("Most used:")
        assert all(
            re.match(r"  (-|  +)", line) for line in lines[first + 1 : lines.index("", first)]
        )


def test_instrument_is_the_other_program(tmp_path):
    (tmp_path / "model.py").write_text("def forward(x):\n    y = x\n    return y\n")
    own = subprocess.run(
        [paths.COMMAND, "--all", "model.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert viewer.run("instrument", "--all", "model.py", cwd=tmp_path).stdout == own.stdout != ""
    wrong = viewer.run("instrument", "--al", "model.py", cwd=tmp_path)
    assert wrong.returncode == 2 and "`monitorch instrument --help`" in wrong.stderr


def environment(*folders, **variables):
    """A PATH of these folders alone, and the sanitizer that the extension modules need in Python."""
    preload = {name: os.environ[name] for name in ("LD_PRELOAD", "ASAN_OPTIONS") if name in os.environ}
    variables = {**preload, **variables}
    return {"PATH": os.pathsep.join(map(str, folders)), "HOME": "/nonexistent", **variables}


def run_with(words, env, folder):
    return subprocess.run(
        [viewer.PATH, "run", *words], env=env, cwd=folder, capture_output=True, text=True
    )


def make_interpreter(folder, name="python3"):
    """A folder that holds just an interpreter of that name."""
    folder.mkdir()
    program = folder / name
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.parametrize("name", ["python3", "python"])
def test_run_takes_the_python_of_the_environment(tmp_path, name):
    found = make_interpreter(tmp_path / "bin", name)
    env = environment(tmp_path / "nothing", found.parent, PYTHONPATH=str(paths.PYTHON_PATH))
    words = ["--no-record", "-c", "import sys; print(sys.argv); sys.exit(7)", "-q", "--help"]
    done = run_with(words, env, tmp_path)
    assert (done.stdout, done.returncode) == ("['-c', '-q', '--help']\n", 7)
    assert done.stderr == f"monitorch run: interpreter: {found}\n"
    assert run_with(["-q", *words], env, tmp_path).stderr == ""


def test_run_without_a_python(tmp_path):
    done = run_with(["x.py"], environment(tmp_path), tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("monitorch run: no python3 is on the PATH")


def test_run_with_a_python_that_lacks_the_package(tmp_path):
    found = make_interpreter(tmp_path / "bin")
    done = run_with(
        ["x.py"], environment(found.parent, PYTHONNOUSERSITE="1", PYTHONPATH=""), tmp_path
    )
    assert done.returncode == 3
    assert f"{found} has no package monitorch" in done.stderr


def test_run_help_needs_no_python(tmp_path):
    done = run_with(["--help"], environment(tmp_path), tmp_path)
    assert done.stdout.startswith("usage: monitorch run")


# Completions, in the shells themselves.

BASH = """
source <(monitorch completion bash)
COMP_WORDS=({words}); COMP_CWORD=$(({count} - 1))
_monitorch {program}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# zsh completes in an editor, so one is started in a terminal of its own.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source <(monitorch completion zsh)"
zpty -w shell "LISTMAX=1000; print rea''dy"
zpty -r shell text '*ready*'
zpty -n -w shell $'{line}\t'
for turn in {{1..50}}; do
    while zpty -r -t shell piece; do text+=$piece; done
    [[ $text == *{found}* ]] && break
    sleep 0.1
done
print -r -- "$text"
"""
CASES = [
    (["monitorch", "w"], "why"),
    (["monitorch", "show", "--st"], "--style"),
    (["monitorch", "diff", "--across"], "--across-precisions"),
    (["monitorch", "run", "--determ"], "--deterministic"),
    (["monitorch-instrument", "--in-"], "--in-place"),
]


def complete(shell, words, found=""):
    env = {**os.environ, "PATH": f"{viewer.PATH.parent}{os.pathsep}{os.environ['PATH']}"}
    if shell == "bash":
        script = BASH.format(
            words=" ".join(f"'{word}'" for word in words), count=len(words), program=words[0]
        )
        command = ["bash", "--norc", "-c", script]
    elif shell == "fish":
        line = " ".join(words)
        command = [
            "fish",
            "--no-config",
            "-c",
            f"monitorch completion fish | source; complete -C '{line}'",
        ]
    else:
        command = ["zsh", "-f", "-c", ZSH.format(line=" ".join(words), found=found)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("words, found", CASES, ids=[" ".join(words) for words, _ in CASES])
def test_completion(shell, words, found):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert found in complete(shell, words, found)


def test_completion_of_an_argument_with_choices():
    assert complete("bash", ["monitorch", "show", "--style", ""]).split() == ["lines", "tree"]


def test_completion_for_another_shell():
    done = viewer.run("completion", "tcsh")
    assert done.returncode == 2 and "expected one of bash, zsh, fish" in done.stderr
