"""Instrumented files that people edited, in any encoding, and by every way to the compiler."""

import codecs
import random
import re

import pytest

from tests.properties.check_source import check_source
from tests.properties.programs import program
from tests.support import compiler, paths

pytestmark = pytest.mark.usefixtures("compiler_module")

SOURCE = '''"""Doc: é."""
import os

name = "é"  # ü


def f(a, é):
    """Dœs."""
    b = é + a
    if b:
        return b, "ß"
    for i in range(3):
        b += i
    return [b]


class A:
    def forward(self, x):
        self.x = f(x, 1)
        self.x[0] = x
        return self.x
'''


def lines_of(text):
    return re.split(rb"(?<=\n)", text)


def sample_files():
    files = [f for f in paths.stdlib_files() if 500 < f.stat().st_size < 30_000]
    return random.Random(9).sample(files, 60)


@pytest.mark.parametrize("seed", range(3))
def test_a_line_added_or_removed_stays_so_when_stripped(seed):
    """Edits away from the bootstrap: strip gives the original with the same edit."""
    chooser = random.Random(seed)
    for file in sample_files():
        source = file.read_bytes()
        if b"\r" in source:
            continue
        text = compiler.instrument(source, file.name, all=True).text
        before, after = lines_of(source), lines_of(text)
        # A line that is the same in both and stands alone: a comment or a blank one.
        plain = [
            i
            for i, (a, b) in enumerate(zip(before, after))
            if a == b and (not a.strip() or a.lstrip().startswith(b"#")) and i > 2
        ]
        if not plain or b"'''" in source or b'"""' in source or b"\\\n" in source:
            continue
        i = chooser.choice(plain)
        if chooser.random() < 0.5:
            before[i] = after[i] = b""
        else:
            before[i] = after[i] = b"# a new line, with 'quotes\n"
        assert compiler.strip(b"".join(after), file.name) == b"".join(before), file


def test_a_changed_value_stays_changed_when_stripped():
    text = compiler.instrument(SOURCE.encode(), "a.py", all=True).text
    for old, new in [(b"b = \xc3\xa9 + a", b"b = \xc3\xa9 - a"), (b"range(3)", b"range(33)"),
                     (b"self.x[0] =", b"self.x[10] ="), (b'"\xc3\x9f"', b'"s"')]:
        if old in text:
            edited = text.replace(old, new)
            assert compiler.strip(edited, "a.py") == SOURCE.encode().replace(old, new)


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "latin-1", "iso-8859-15", "cp1252", "iso8859-9", "cp850", "mac-roman"],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_encodings(encoding, line_end):
    name = encoding.replace("-sig", "")
    source = f"# -*- coding: {name} -*-\n{SOURCE}"
    if encoding != "iso-8859-15" and encoding != "cp1252":
        source = source.replace("œ", "o")
    data = source.replace("\n", line_end).encode(encoding)
    report = check_source(data, "coded.py")
    assert report.problems == []
    assert report.is_changed
    assert codecs.decode(report.text, encoding).count("é") >= source.count("é")


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "gbk", "big5", "euc-kr", "koi8-r"])
def test_other_encodings_are_kept_or_refused(encoding):
    sample = {"koi8-r": "имя", "euc-kr": "이름"}.get(encoding, "日本")
    data = f"# coding: {encoding}\nx = '{sample}'\ny = x  # {sample}\n".encode(encoding)
    report = check_source(data, "coded.py")
    if report.refusal is None:
        assert report.problems == []
    else:
        assert encoding in report.refusal.lower()


@pytest.mark.skipif(compiler.EXTENSION is None, reason="the extension is not built")
def test_the_command_makes_what_the_extension_makes(tmp_path):
    if not paths.COMMAND.exists():
        pytest.skip("the command is not built")
    folder = tmp_path / "in"
    folder.mkdir()
    sources = [program(random.Random(seed).randrange).encode() for seed in range(40)]
    sources += [file.read_bytes() for file in sample_files()[:20]]
    for i, source in enumerate(sources):
        (folder / f"m{i}.py").write_bytes(source)
    outputs = []
    for jobs in (1, 2):
        out = tmp_path / f"out{jobs}"
        run = compiler.instrument_tree(folder, out, jobs=jobs)
        assert run.returncode in (0, 3), run.stderr
        outputs.append({f.name: f.read_bytes() for f in out.glob("*.py")})
    assert outputs[0] == outputs[1]
    for i, source in enumerate(sources):
        name = f"m{i}.py"
        try:
            text = compiler.instrument(source, str(folder / name), all=True).text
        except compiler.Refused:
            assert name not in outputs[0]
            continue
        if name in outputs[0]:
            assert outputs[0][name] == text
