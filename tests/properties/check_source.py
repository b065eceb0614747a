"""Everything that must hold between one source and its instrumented text."""

import ast
import re
import sys
import time
import warnings

from tests.properties import tree
from tests.support import compiler

LINE_END = re.compile(rb"\r\n|\r|\n")


class Report:
    """What was found about one file; `problems` is empty where all is well."""

    def __init__(self, path):
        self.path = str(path)
        self.problems = []
        self.is_changed = False
        self.compiles = False
        self.refusal = None
        self.text = None
        self.functions = 0
        self.skipped = 0
        self.seconds = 0.0

    def add(self, problem):
        self.problems.append(problem)


def compile_quietly(source, path):
    """None, or why Python refuses the source."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _parse(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def is_subsequence(part, whole):
    """Whether deleting bytes from `whole` can give `part`."""
    position = 0
    for byte in part:
        position = whole.find(byte, position) + 1
        if position == 0:
            return False
    return True


def check_lines(source, text, report):
    """Line N stays line N, and bytes are only inserted into it."""
    before, after = LINE_END.split(source), LINE_END.split(text)
    if len(before) != len(after):
        report.add(f"{len(before)} lines became {len(after)}")
        return
    if LINE_END.findall(source) != LINE_END.findall(text):
        report.add("line ends changed")
    for number, (old, new) in enumerate(zip(before, after), 1):
        if old != new and not is_subsequence(old, new):
            report.add(f"line {number}: {old[:80]!r} is not within {new[:120]!r}")
            return


def check_trees(source, text, report, spy=False):
    original, rewritten = _parse(source), _parse(text)
    prefix = tree.find_prefix(rewritten)
    if prefix is None:
        if not spy:
            report.add("changed, but no bootstrap was found")
            return
        prefix = "\0"  # nothing begins with it
    elif re.search(rb"(?<![A-Za-z0-9_\x80-\xff])" + prefix.encode(), source):
        report.add(f"the file has words that begin with the prefix {prefix}")
    found = tree.difference(original, rewritten, prefix, spy)
    if found:
        report.add("the tree differs: " + found)


def check_source(source, path="<source>", selection=None):
    """Instruments the source (everything, unless told otherwise) and checks the result."""
    report = Report(path)
    selection = {"all": True} if selection is None else selection
    refused_before = compile_quietly(source, str(path))
    report.compiles = refused_before is None
    started = time.perf_counter()
    try:
        result = compiler.instrument(source, str(path), **selection)
    except compiler.Refused as refusal:
        report.refusal = str(refusal)
        if report.compiles and "instrumented already" not in report.refusal:
            report.add(f"refused a source that compiles: {refusal}")
        return report
    report.seconds = time.perf_counter() - started
    report.text = text = result.text
    report.functions = getattr(result, "function_count", 0)
    report.skipped = getattr(result, "skipped_count", 0)
    report.is_changed = text != source

    if compiler.instrument(source, str(path), **selection).text != text:
        report.add("a second run gives another text")
    check_lines(source, text, report)
    try:
        if compiler.strip(text, str(path)) != source:
            report.add("strip does not give the source back")
    except compiler.Refused as refusal:
        report.add(f"strip refused: {refusal}")
    if report.compiles and report.is_changed:
        refused_after = compile_quietly(text, str(path))
        if refused_after:
            report.add(f"does not compile any more: {refused_after}")
        else:
            check_trees(source, text, report, spy=bool(selection.get("spy")))
    return report


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            report = check_source(file.read(), path)
        for problem in report.problems:
            print(f"{path}: {problem}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
