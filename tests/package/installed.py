"""What an installed package has to do, tried in an environment that holds nothing else.

Run by tests/package/test_wheel.py with the environment's interpreter, as a script: there is no pytest. With
`--without-libraries` the machine is one that has neither cairo nor pango.
"""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import monitorch

BIN = pathlib.Path(sys.executable).parent
MODEL = """\
class Model:
    def forward(self, x):
        y = x * 2.0
        return y + 1

print(Model().forward(20))
"""


def run(*words, code=0, cwd=None, **variables):
    """What a command prints. Its name is looked up beside the interpreter."""
    program = shutil.which(words[0], path=str(BIN))
    assert program, f"{words[0]} is not installed in {BIN}"
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [program, *map(str, words[1:])], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    assert code or not done.stderr.strip() or "monitorch" in done.stderr, done.stderr
    return done.stdout


class Installed(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def record(self):
        """A trace of the model, instrumented by the command."""
        model = self.folder / "model.py"
        model.write_text(MODEL)
        run("monitorch-instrument", "model.py", "-o", "traced.py", cwd=self.folder)
        trace = self.folder / "run.mtrace"
        printed = run("python", "traced.py", cwd=self.folder, MONITORCH=str(trace))
        self.assertEqual(printed, "41.0\n")
        return trace

    def test_it_is_the_installed_one(self):
        site = pathlib.Path(sysconfig.get_paths()["platlib"]).resolve()
        self.assertIn(site, pathlib.Path(monitorch.__file__).resolve().parents)

    def test_metadata(self):
        found = importlib.metadata.metadata("monitorch-instrument")
        self.assertEqual(found["Version"], monitorch.__version__)
        self.assertEqual({"dev", "hdf5", "torch"}, set(found.get_all("Provides-Extra")))
        needed = importlib.metadata.requires("monitorch-instrument")
        self.assertTrue(all("extra ==" in line for line in needed), needed)

    def test_every_file_is_there_as_recorded(self):
        for file in importlib.metadata.files("monitorch-instrument"):
            path = file.locate()
            self.assertTrue(path.exists(), path)
            if file.hash and not path.parent.samefile(BIN):
                self.assertEqual(path.stat().st_size, file.size, path)

    def test_types(self):
        folder = pathlib.Path(monitorch.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        for module in folder.glob("*.abi3.so"):
            stub = folder / module.name.replace(".abi3.so", ".pyi")
            self.assertTrue(stub.exists(), stub)

    def test_extension_modules(self):
        from monitorch import _instrument, _recorder, _view

        for module in (_instrument, _recorder, _view):
            self.assertIn(".abi3.", module.__file__)

    def test_record_and_show(self):
        trace = self.record()
        shown = run("monitorch", "show", trace)
        self.assertIn("y = 40", shown)
        self.assertEqual(run("monitorch", "check", "--no-nan", trace).split(":")[0], "ok")
        names = run(
            "monitorch", "sql", "--no-header", trace, "select name from events order by seq"
        )
        self.assertIn("y", names.split())
        self.assertTrue(any(name == "y" for name in monitorch.load(str(trace))["name"]))

    def test_run(self):
        (self.folder / "model.py").write_text(MODEL)
        words = ["-m", "monitorch", "run", "-q", "--function", "*", "-o", "run.mtrace", "model.py"]
        self.assertEqual(run("python", *words, cwd=self.folder), "41.0\n")
        self.assertIn("y = 40", run("monitorch", "show", self.folder / "run.mtrace"))

    def test_pictures(self):
        trace = self.record()
        starts = {"svg": b"<", "png": b"\x89PNG", "pdf": b"%PDF", "dot": b"digraph"}
        for suffix, start in starts.items():
            drawn = self.folder / f"flow.{suffix}"
            run("monitorch", "graph", "--quiet", "--scalars", trace, "-o", drawn)
            self.assertEqual(drawn.read_bytes()[: len(start)], start, suffix)

    def test_pictures_from_python(self):
        (self.folder / "calls.txt").write_text("encoder.linear1\nencoder.linear2\n")
        run("trace_to_graph", "--trace-file=calls.txt", "--out=calls.png", cwd=self.folder)
        self.assertEqual((self.folder / "calls.png").read_bytes()[:4], b"\x89PNG")

    def test_help(self):
        for command in ("monitorch", "monitorch-instrument", "trace_to_graph"):
            self.assertIn("usage", run(command, "--help").lower())

    def test_every_subcommand(self):
        listed = run("monitorch", "--help").partition("Commands:\n")[2].partition("\n\n")[0]
        names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
        self.assertTrue({"run", "why", "diff", "instrument"} <= set(names), names)
        for name in set(names) - {"help"}:
            for words in (["monitorch", name], ["python", "-m", "monitorch", name]):
                self.assertIn(f"monitorch {name}", run(*words, "--help").replace("h-i", "h i"))

    def test_manual_pages_and_completions(self):
        share = pathlib.Path(sys.prefix, "share")
        for page in ("monitorch", "monitorch-why", "monitorch-run", "monitorch-instrument"):
            self.assertTrue((share / "man" / "man1" / f"{page}.1").exists(), page)
        shells = {
            "bash": (
                "bash-completion/completions/monitorch",
                "source $FILE; COMP_WORDS=(monitorch wh); COMP_CWORD=1; "
                "spec=$(complete -p monitorch); spec=${spec#*-F }; "
                "${spec%% *} monitorch wh monitorch; "
                'echo "${COMPREPLY[@]}"',
            ),
            "fish": (
                "fish/vendor_completions.d/monitorch.fish",
                "source $FILE; complete --do-complete 'monitorch wh'",
            ),
            "zsh": ("zsh/site-functions/_monitorch", "autoload -U compinit; zsh -n $FILE && echo why"),
        }
        for shell, (name, program) in shells.items():
            file = share / name
            self.assertTrue(file.exists(), name)
            if shutil.which(shell):
                environment = {**os.environ, "FILE": str(file), "PATH": f"{BIN}:{os.environ['PATH']}"}
                words = [shell, "-c", program]
                done = subprocess.run(words, env=environment, capture_output=True, text=True)
                self.assertEqual(done.stdout.split()[:1], ["why"], (shell, done.stdout, done.stderr))

    def test_strip(self):
        self.record()
        run("monitorch-instrument", "--strip", "traced.py", "-o", "back.py", cwd=self.folder)
        self.assertEqual((self.folder / "back.py").read_text(), MODEL)


class WithoutLibraries(unittest.TestCase):
    def test_the_machine_has_none(self):
        import ctypes

        with self.assertRaises(OSError):
            ctypes.CDLL("libpangocairo-1.0.so.0")


if __name__ == "__main__":
    if "--without-libraries" in sys.argv:
        sys.argv.remove("--without-libraries")
    else:
        del WithoutLibraries
    unittest.main(verbosity=0)
