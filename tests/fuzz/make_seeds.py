"""Seeds for the rewriter's fuzz targets: python tests/fuzz/make_seeds.py FOLDER [COMMAND]

Small files of the standard library, the edge cases, random programs; and, where the command
monitorch-instrument is given, all of these instrumented, for fuzz_strip. Also FOLDER/words.dict.
"""

import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.behaviour.edge_cases import CASES  # noqa: E402
from tests.properties.programs import program  # noqa: E402
from tests.support import paths  # noqa: E402

SIZE_LIMIT = 3000
WORDS = """
def class if elif else while for in try except finally with as return yield await async lambda
match case global nonlocal del assert raise import from pass break continue not and or is None True
type forward self := -> ** // == != <= >= += @= ... ''' \\\"\\\"\\\" \\\\\\x0a \\x0d\\x0a \\x0d \\x0c \\xef\\xbb\\xbf
f' rb' {x!r:>{y}} {{ }} # ; : , _mt _mt_t _mt_v __import__ monitorch globals() torch.jit.script
coding:latin-1 spy_save( except* *args **kw
""".split()
PHRASES = [
    "# monitorch: on", "# monitorch: off", "monitorch.lines(10, 40)", "@torch.jit.script",
    "from __future__ import annotations", "\\x0a    ", "\\x0a\\x09", "x = 1; ", "return (",
    "_mt and _mt(1, x)", "not (_mt and _mt(1))", ") is not _mt and _mt and _mt(3, _mt_v) or _mt_v",
    "from monitorch.spy import spy_save",
]


def main():
    folder = pathlib.Path(sys.argv[1])
    command = sys.argv[2] if len(sys.argv) > 2 else None
    plain, traced = folder / "plain", folder / "traced"
    for each in (plain, traced):
        each.mkdir(parents=True, exist_ok=True)
    sources = [case.source.encode() for case in CASES]
    sources += [program(random.Random(seed).randrange).encode() for seed in range(300)]
    sources = [source for source in sources if len(source) <= SIZE_LIMIT]
    for file in paths.stdlib_files():
        if file.stat().st_size <= SIZE_LIMIT:
            sources.append(file.read_bytes())
    for number, source in enumerate(sources):
        # The first byte chooses the selection (fuzz_rewrite.c); 33 is everything.
        (plain / f"{number}.py").write_bytes(bytes([33 + 2 * (number % 4 == 0)]) + source)
    if command:
        for number, source in enumerate(sources[::3]):
            file, out = folder / "seed.py", traced / f"{number}.py"
            file.write_bytes(source)
            subprocess.run([command, "--all", file, "-o", out], capture_output=True)
    quoted = [word.replace('"', '\\"') if '\\"' not in word else word for word in WORDS]
    lines = [f'"{word}"' for word in quoted] + [f'"{phrase}"' for phrase in PHRASES]
    (folder / "words.dict").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
