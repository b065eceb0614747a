"""A clean machine: a bare tree and an empty home, from nothing to green. All of it takes long (run.sh); its
beginning, and what is said where something is missing, is tried always."""

import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

from tests.support import paths

SCRIPT = pathlib.Path(__file__).with_name("run.sh")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What a clone or an unpacked sdist holds."""
    folder = tmp_path_factory.mktemp("newcomer") / "tree"
    program = "from distribution import backend; print(*backend._sources(), sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")}
    words = [sys.executable, "-c", program]
    names = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    for name in names.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(paths.ROOT / name, folder / name)
    return folder


def run(tree, *words, **variables):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tree.parent / "home"), **variables}
    return subprocess.run(
        words, cwd=tree, env=environment, capture_output=True, text=True, timeout=300
    )


def without(tmp_path, *names):
    """A PATH without these programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for file in pathlib.Path(place).glob("*"):
            if file.name not in names and os.access(file, os.X_OK) and not file.is_dir():
                link = folder / file.name
                link.unlink(missing_ok=True)
                link.symlink_to(file)
    return str(folder)


def test_help_tells_the_two_commands(tree):
    done = run(tree, "make", "help")
    assert done.returncode == 0, done.stderr
    assert "make demo" in done.stdout and "make test" in done.stdout


def test_a_bare_tree_keeps_its_order(tree):
    done = run(tree, "make", "layers")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", ["demo", "test", "all", "wheel", "install"])
def test_targets_are_whole(tree, target):
    """No rule wants a file that only a built tree has."""
    done = run(tree, "make", "-n", target, f"PYTHON={sys.executable}")
    assert done.returncode == 0, done.stderr


def test_what_the_system_lacks_is_installed_first(tree, tmp_path):
    """By what runs; what only builds leaves the machine alone."""
    path = without(tmp_path, "pkg-config", "g++", "apt-get", "id")
    log = tmp_path / "log"
    for name, text in {"apt-get": f'echo "$@" >> {log}', "id": "echo 0"}.items():
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    words = [f"BUILD={tmp_path}/build", f"PYTHON={sys.executable}"]
    assert run(tree, "make", "-n", "all", *words, PATH=path).returncode == 0
    assert not log.exists()
    assert run(tree, "make", "-n", "demo", *words, PATH=path).returncode == 0
    assert "install" in log.read_text() and "pkg-config" in log.read_text().split()
    assert "g++" not in log.read_text().split()
    assert run(tree, "make", "-n", "test", *words, PATH=path).returncode == 0
    assert "g++" in log.read_text().split()


def test_a_python_that_does_not_run(tree):
    done = run(tree, "make", "environment", "PYTHON=/none/python3")
    assert done.returncode != 0
    assert "/none/python3 does not run: install Python 3.10 or newer" in done.stderr


def test_no_client_that_could_fetch(tree, tmp_path):
    """It says what to fetch elsewhere, and where to put it."""
    path = without(tmp_path, "npm", "python", "python3", "pip")
    done = run(tree, "tools/fetch.sh", "build/third_party", PATH=path, PYTHON="/none/python3")
    assert done.returncode == 1
    assert "cannot get tree-sitter" in done.stderr
    assert f"{tree.parent}/home/.cache/monitorch/npm-tree-sitter-" in done.stderr


def test_an_archive_of_npm_without_npm(tmp_path):
    """From the registry that npm's settings name; what cannot be had is one line."""
    served, home, folder = tmp_path / "registry", tmp_path / "home", tmp_path / "folder"
    for made in (served / "pack/-", home, folder):
        made.mkdir(parents=True)
    (served / "pack/-/pack-1.0.tgz").write_bytes(b"archive")
    handler = functools.partial(Quiet, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        (home / ".npmrc").write_text(f"fund=false\nregistry = {url}/\n")
        script = paths.ROOT / "tools" / "fetch_npm.py"

        def fetch(version, **variables):
            environment = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}
            words = [sys.executable, script, "pack", version, folder]
            return subprocess.run(words, env=environment, capture_output=True, text=True)

        assert fetch("1.0").returncode == 0
        assert (folder / "pack-1.0.tgz").read_bytes() == b"archive"
        for done in (fetch("2.0"), fetch("1.0", npm_config_registry="http://127.0.0.1:1")):
            assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
            assert done.stderr.startswith("http://127.0.0.1:")
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *words):
        pass


def test_no_headers_of_python(tree, tmp_path):
    fake = tmp_path / "python3"
    fake.write_text("#!/bin/sh\necho /none/include\n")
    fake.chmod(0o755)
    done = run(tree, "tools/python_headers.sh", str(fake))
    assert done.returncode == 1 and "python3-dev" in done.stderr


@pytest.mark.slow
def test_from_nothing_to_green():
    """make demo, make test; and once more without network."""
    environment = {**os.environ, "PYTHON": sys.executable, "CI": "true"}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "newcomer: done" in done.stdout
