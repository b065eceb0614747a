"""Changes real sources at random and checks: what compiled before compiles after.

python tests/fuzz/fuzz_sources.py SECONDS [SEED]

Takes functions and files of the standard library and torch, moves, drops, doubles and swaps their
lines and tokens, and hands every result to tests/properties/check_source.py. Findings are made
small and kept in BUILD/fuzz/findings/source-*.py; exit code 1 where there are any. A crash of the
compiler ends the worker; the source that did it is kept as it is.
"""

import hashlib
import io
import os
import pathlib
import random
import subprocess
import sys
import time
import tokenize
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.properties.check_source import check_source, compile_quietly  # noqa: E402
from tests.properties.programs import program  # noqa: E402
from tests.support import paths, reduce  # noqa: E402

FINDINGS = paths.BUILD / "fuzz" / "findings"
SELECTIONS = [
    {"all": True}, {"all": True}, {"forward": True}, {"lines": [(3, 9), (12, 30)]},
    {"functions": ["*e*"]}, {"spy": ["*"]}, {"all": True, "spy": ["s*", "x"]},
]
BITS = [
    "\\\n", ";", "\n", " ", "\t", "\f", "# c\n", "\r", "\r\n", "(", ")", "not ", "-", "*", "await ",
    "yield ", "lambda: ", "x := ", ", ", ",", ":", "if x: ", "else: ", "pass", "return ", "'''\n'''",
    "global x\n", "async ", "é", "_mt", "match x:\n case y: ", "with a as b, c: ", "try: ", "[0]", ".x",
    "{", "}", "if a else b", "for x in y", " = ", "+= ", "f'{x}'", "class A: ", "def f(): ",
    "@d\n", "...", "1", "\n\n", "    ", "del x; ", "import a; ", "except E as e: ", "finally: ",
]


def pieces_of(files, chooser):
    """An endless run of sources: top-level statements of real files, or whole small ones."""
    while True:
        if chooser.random() < 0.15:
            yield program(chooser.randrange)
            continue
        file = chooser.choice(files)
        try:
            text = file.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        lines = text.splitlines(True)
        starts = [i for i, line in enumerate(lines) if line[:1] not in " \t\n#)]}'\"\r\f"]
        if not starts:
            continue
        first = chooser.choice(starts)
        end = min(first + chooser.randrange(3, 60), len(lines))
        later = [i for i in starts if i >= end]
        piece = "".join(lines[first : later[0] if later else len(lines)])
        if len(piece) < 8000:
            yield piece


def tokens_of(text):
    try:
        return [
            (token.start, token.end)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.string.strip()
        ]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return []


def change_lines(text, chooser):
    lines = text.splitlines(True) or [""]
    i, j = chooser.randrange(len(lines)), chooser.randrange(len(lines))
    kind = chooser.randrange(7)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, lines[j])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:  # two statements on a line
        lines[i] = lines[i].rstrip("\r\n") + "; " + lines[j].lstrip()
    elif kind == 4:
        end = chooser.choice(["\n", "\r\n", "\r"])
        lines = [line.rstrip("\r\n") + end for line in lines]
    elif kind == 5:
        lines[i] = lines[i].replace("    ", "\t")
    else:  # a suite joins its header
        for k in range(i, len(lines) - 1):
            if lines[k].rstrip().endswith(":"):
                lines[k] = lines[k].rstrip() + " " + lines.pop(k + 1).lstrip()
                break
    return "".join(lines)


def change_tokens(text, chooser):
    spans = tokens_of(text)
    if not spans:
        return change_lines(text, chooser)
    lines = text.splitlines(True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))

    def place(position):
        return offsets[min(position[0] - 1, len(lines))] + position[1]

    (a, b), (c, d) = (tuple(map(place, chooser.choice(spans))) for _ in range(2))
    kind = chooser.randrange(5)
    if kind == 0:
        return text[:a] + text[b:]
    if kind == 1:
        return text[:a] + text[c:d] + text[b:]
    if kind == 2:
        return text[:a] + chooser.choice(BITS) + text[a:]
    if kind == 3:
        return text[:b] + chooser.choice(BITS) + text[b:]
    return text[:a] + "(" + text[a:b] + ")" + text[b:]


def change(text, chooser):
    for _ in range(chooser.choice((0, 1, 1, 2, 2, 3, 5))):
        text = chooser.choice((change_lines, change_tokens, change_tokens))(text, chooser)
    if chooser.random() < 0.1:
        text = text.rstrip()
    return text


def keep(source, problems):
    name = FINDINGS / f"source-{hashlib.sha1(source).hexdigest()[:12]}.py"
    name.write_bytes(source)
    print(f"{name}: {problems[0][:200]}", flush=True)
    print(repr(source)[:600], flush=True)


def work(seconds, seed, current):
    """Checks until the time is over; the source under check stands in the file `current`."""
    chooser = random.Random(seed)
    files = [*paths.stdlib_files(), *paths.package_files("torch")]
    end, count, compiled, found = time.time() + seconds, 0, 0, 0
    kinds = set()
    for text in pieces_of(files, chooser):
        if time.time() > end:
            break
        source = change(text, chooser).encode(errors="replace")
        selection = chooser.choice(SELECTIONS)
        count += 1
        compiles = compile_quietly(source, "changed.py") is None
        if not compiles and count % 5:
            continue
        compiled += compiles
        current.write_bytes(source)
        report = check_source(source, "changed.py", selection)
        if not report.problems:
            continue
        kind = report.problems[0][:30]

        def fails(smaller):
            current.write_bytes(smaller)
            again = check_source(smaller, "changed.py", selection)
            return again.compiles == compiles and any(p[:30] == kind for p in again.problems)

        small = reduce.reduce_source(source, fails, 1500)
        final = check_source(small, "changed.py", selection)
        key = final.problems[0][:60]
        found += 1
        if key not in kinds:
            kinds.add(key)
            keep(small, [f"{selection}: {final.problems[0]}"])
    print(f"{count} sources, {compiled} that compile, {found} findings", flush=True)
    return int(found > 0)


def main():
    seconds = float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    FINDINGS.mkdir(parents=True, exist_ok=True)
    current = FINDINGS / f"current-{os.getpid()}.py"
    warnings.simplefilter("ignore")
    if len(sys.argv) > 3:
        return work(seconds, seed, pathlib.Path(sys.argv[3]))
    end, status = time.time() + seconds, 0
    while (left := end - time.time()) > 1:
        words = [sys.executable, __file__, str(left), str(seed), str(current)]
        run = subprocess.run(words)
        seed += 1
        if run.returncode < 0:
            source = current.read_bytes()
            keep(source, [f"the compiler crashed with signal {-run.returncode}"])
        status |= run.returncode != 0
    current.unlink(missing_ok=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
