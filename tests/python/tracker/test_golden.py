"""Tracked programs and their tree logs, line by line, in both languages: as written while the program
runs, and as `show --style tree` prints them from the trace. MONITORCH_UPDATE_GOLDEN=1 writes what
comes out now; read the difference before you commit it."""

from __future__ import annotations

import os
import pathlib
import re
import shutil

import pytest

from tests.support import recording, viewer

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))
LOCALES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
IS_UPDATING = os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1"

pytest.importorskip("numpy")


def _own_frames(found: re.Match[str]) -> str:
    """Without the frames of libraries, which are not the same in all of their versions."""
    own = [frame for frame in found["frames"].split(" <- ") if frame.startswith("program.py")]
    called = found["called"] if found["frames"].startswith("program.py") else "library:0"
    return f"{called} ({' <- '.join(own)})"


def steady(log: str) -> str:
    """Without what may differ between two runs."""
    log = re.sub(r"\d+\.\d{4}s", "0.0000s", log)
    log = re.sub(r"-?\d+(\.\d+)?e-\d+", "tiny", log)  # what rounding has left over
    return re.sub(r"(?P<called>\S+:\d+) \((?P<frames>\S+\.py:\d+.*)\)", _own_frames, log)


def by_thread(text: str) -> list[str]:
    """The log of each thread, from one in which threads take turns, under their names."""
    logs: dict[str, str] = {}
    parts = re.split(r"^-- thread (.*) --\n", "-- thread first --\n" + text, flags=re.MULTILINE)[1:]
    for name, part in zip(parts[::2], parts[1::2]):
        logs[name] = logs.get(name, "") + part
    # The first one's name is told where another one has had its turn.
    first = logs.pop("first")
    goes_on = [name for name in logs if not logs[name].startswith("┌── ")]
    for name in goes_on:
        first += logs.pop(name)
    return [first, *logs.values()]


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, language: str, tmp_path: pathlib.Path) -> None:
    if "import torch" in (HERE / "programs" / f"{name}.py").read_text():
        pytest.importorskip("torch")
    shutil.copy(HERE / "programs" / f"{name}.py", tmp_path / "program.py")
    environment = recording.environment("on", tmp_path / "run.mtrace")
    environment["LC_ALL"] = LOCALES[language]
    done = recording.run_file(tmp_path, "program.py", env=environment)
    assert done.returncode == 0, done.stderr
    files = (tmp_path / "logs" / "NOTAG").glob("process_*_thread_*.log")
    live = sorted(steady(file.read_text(encoding="utf-8")) for file in files)

    golden = GOLDEN / f"{name}.{language}.txt"
    text = "".join(live)
    if IS_UPDATING:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")

    words = ["show", "--style=tree", "run.mtrace"]
    shown = viewer.run(*words, cwd=tmp_path, env=environment, check=True).stdout
    assert sorted(map(steady, by_thread(shown))) == live


def test_nothing_is_left_over() -> None:
    wanted = {f"{name}.{language}" for name in PROGRAMS for language in LOCALES}
    assert {path.stem for path in GOLDEN.glob("*.txt")} == wanted
