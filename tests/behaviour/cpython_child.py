"""Runs one of CPython's test modules in this process and writes what became of each test.

python cpython_child.py MODULE RESULT.json [plain | instrumented]

`instrumented` compiles the test module (a package with its submodules) by monitorch's
compile_source, as an import hook would; the file on disk stays the original's. `plain` does
the same with Python's own compiler. Without either, the module is imported as usual.
"""

import sys

from child_imports import compile_packages, instrumenter


def compile_plainly(data, path):
    return compile(data, path, "exec", dont_inherit=True)


def make_result_class(outcomes):
    import unittest

    order = ["ok", "skipped", "expected failure", "unexpected success", "failure", "error"]

    class Result(unittest.TextTestResult):
        def note(self, test, outcome, details=""):
            name = test.id()
            if name not in outcomes or order.index(outcomes[name][0]) < order.index(outcome):
                outcomes[name] = [outcome, details[-3000:]]

        def text_of(self, error, test):
            try:
                return self._exc_info_to_string(error, test)
            except Exception as broken:
                return f"{error[0]}: {error[1]!r} ({broken!r})"

        def addSuccess(self, test):
            self.note(test, "ok")

        def addSkip(self, test, reason):
            self.note(test, "skipped", reason)

        def addExpectedFailure(self, test, error):
            self.note(test, "expected failure")

        def addUnexpectedSuccess(self, test):
            self.note(test, "unexpected success")

        def addFailure(self, test, error):
            self.note(test, "failure", self.text_of(error, test))

        def addError(self, test, error):
            self.note(test, "error", self.text_of(error, test))

        def addSubTest(self, test, subtest, error):
            if error is not None:
                is_failure = issubclass(error[0], test.failureException)
                outcome = "failure" if is_failure else "error"
                self.note(test, outcome, self.text_of(error, test))

    return Result


def main():
    name, result_path = sys.argv[1:3]
    how = sys.argv[3] if len(sys.argv) > 3 else None
    del sys.path[0]  # this script's folder
    sys.argv[1:] = []
    module_name = "test." + name
    if how is not None:
        compile_source = instrumenter() if how == "instrumented" else compile_plainly
        compile_packages([module_name], compile_source)

    import importlib
    import io
    import json
    import unittest

    outcomes = {}
    told = {"tests": outcomes, "skipped": None}
    try:
        module = importlib.import_module(module_name)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        runner = unittest.TextTestRunner(
            stream=io.StringIO(), verbosity=0, resultclass=make_result_class(outcomes)
        )
        runner.run(suite)
    except unittest.SkipTest as skip:
        told["skipped"] = str(skip)
    with open(result_path, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()
