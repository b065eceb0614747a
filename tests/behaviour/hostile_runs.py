"""Runs a program plainly and recorded in one of several ways, and says what of it differs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from tests.support import compiler, paths, recording

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
# The line of the source below a frame's line, and the carets below that.
SHOWN = re.compile(
    r'^(  File ".*", line \d+.*|\S+:\d+: \w+Warning: .*)\n(?:  (?!File ").*\n)+', re.M
)
TEMPORARY = re.compile(r"/(named|folder|kept)\w{8}\b")
# The messages at the end of a recording or drawing that the program itself began. A blank line follows a
# warning that a logger has captured.
OURS = re.compile(
    r"^(\S+:\d+: RuntimeWarning: )?monitorch: .*\n(  __name__ == '__main__' and _monitorch\.off.*\n)?(?(2)\n?)",
    re.M,
)
# What Python says of modules in C when it dies by a signal.
EXTENSIONS = re.compile(r"^\s*\nExtension modules: .*\n", re.M)
RUN = ["-m", "monitorch", "run"]

# The ways: words before the program, how the program is named, whether it is instrumented, and what its first line is.
WAYS = {
    "run": (["-q", "-o", "TRACE"], "script"),
    "no_record": (["-q", "--no-record"], "script"),
    "forward": (["-q", "-o", "TRACE", "--forward"], "script"),
    "code": (["-q", "-o", "TRACE"], "code"),
    "module": (["-q", "-o", "TRACE"], "module"),
    "written": (None, "script"),
    "record": (None, "script"),
    "flow": (None, "script"),
}
FIRST_LINES = {
    "record": "import monitorch as _monitorch; __name__ == '__main__' and _monitorch.record({trace!r}).start()",
    "flow": "import monitorch as _monitorch; __name__ == '__main__' and _monitorch.on()",
}
LAST_LINES = {"flow": "__name__ == '__main__' and _monitorch.off(filename={picture!r})\n"}


def text_of(program, way, folder):
    """The program's text in that way."""
    text = program.text
    if way in FIRST_LINES:
        text = text.replace(
            f"# {program.name}", FIRST_LINES[way].format(trace=str(folder / "run.mtrace")), 1
        )
    text += LAST_LINES.get(way, "").format(picture=str(folder / "flow.dot"))
    if way in ("written", "record"):
        return compiler.instrument(text.encode(), "program.py", all=True).text.decode()
    return text


def words_of(way, kind, text, folder):
    """The words after `python`; `way` is None for a plain run."""
    named = {"script": ["program.py"], "code": ["-c", text], "module": ["-m", "program"]}[kind]
    options = WAYS[way][0] if way else None
    if options is None:
        return named
    trace = str(folder / "run.mtrace")
    return [*RUN, *(trace if word == "TRACE" else word for word in options), *named]


def environment_of(way, folder):
    given = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MONITORCH"))}
    result = recording.environment("off", base=given)
    result["PYTHONDONTWRITEBYTECODE"] = "1"
    if way == "written":
        result["MONITORCH"] = f"{folder / 'run.mtrace'},quiet"
    return result


def files_in(folder):
    """{path: contents} of what a program has left."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name != "program.py":
            found[name] = plain_bytes(path.read_bytes(), folder) if path.is_file() else None
    return found


def plain_bytes(data, folder):
    """What a program has written to a file, likewise."""
    return OURS.sub("", data.decode("latin-1").replace(str(folder), "…"))


def plain_text(text, folder, is_written):
    """What a program wrote, without what differs from run to run."""
    text = ADDRESS.sub("0x…", TEMPORARY.sub(r"/\1…", text.replace(str(folder), "…")))
    text = recording.without_tracker(EXTENSIONS.sub("", OURS.sub("", text)))
    return SHOWN.sub(r"\1\n", text) if is_written else text


def run(program, way, kind, folder, python=sys.executable):
    """What can be seen of a run, in a folder that is made for it; `way` is None for a plain one."""
    shutil.rmtree(folder, ignore_errors=True)
    inside = folder / "inside"
    inside.mkdir(parents=True)
    text = text_of(program, way, folder)
    (inside / "program.py").write_text(text)
    done = subprocess.run(
        [python, *words_of(way, kind, text, folder)],
        cwd=inside,
        env=environment_of(way, folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=120,
    )
    seen = {"exit code": done.returncode}
    for name, words in (("stdout", done.stdout), ("stderr", done.stderr)):
        seen[name] = plain_text(words, inside, is_written=True).splitlines()
        seen[name + ", with source lines"] = plain_text(words, inside, False).splitlines()
    seen.update((f"file {name}", contents) for name, contents in files_in(inside).items())
    return seen


def differences(program, way, plain, recorded):
    """Lines that say what differs."""
    found = []
    # differences.md: the text of lines, in written files; where the first line is another, it is not the same either.
    left_out = (
        ("stdout", "stderr")
        if WAYS[way][0]
        else ("stdout, with source lines", "stderr, with source lines")
    )
    for what in sorted({*plain, *recorded} - {*left_out}):
        was, now = (seen.get(what, "not there") for seen in (plain, recorded))
        if was != now:
            found.append(f"{program.name}, {way}: {what}: {was!r} became {now!r}")
    return found


def ways_of(program):
    return [way for way in WAYS if way not in program.leaves_out]


def compare(program, ways, folder, python=sys.executable):
    """What differs between plain runs and those in each of the ways."""
    plain, found = {}, []
    for way in ways:
        kind = WAYS[way][1]
        if kind not in plain:
            plain[kind] = run(program, None, kind, folder / kind, python)
        found += differences(
            program, way, plain[kind], run(program, way, kind, folder / way, python)
        )
    return found
