"""Where things are: the build, the corpora, the other Pythons."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MONITORCH_BUILD", ROOT / "build")).resolve()
UNIT_PROGRAMS = pathlib.Path(os.environ.get("MONITORCH_UNIT_PROGRAMS", BUILD / "obj/checked/tests"))
COMMAND = BUILD / "bin" / "monitorch-instrument"
PYTHON_PATH = BUILD / "python"
PACKAGE = PYTHON_PATH / "monitorch"
STDLIB = pathlib.Path(sysconfig.get_paths()["stdlib"]).resolve()


def unit_sources():
    """The C unit programs' sources, each beside the other tests of its module."""
    return sorted((ROOT / "tests").rglob("test_*.c"))


def unit_program(name):
    """The program that the build made of the one source of that name."""
    (source,) = (ROOT / "tests").rglob(f"{name}.c")
    return UNIT_PROGRAMS / source.relative_to(ROOT / "tests").with_suffix("")


def scratch(name):
    """A folder of the build for what tests make and keep."""
    folder = BUILD / "tests" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_prefix_of(folder, path):
    return folder in path.parents


@functools.lru_cache(None)
def stdlib_files():
    """The standard library with its tests, without what pip installed."""
    return sorted(
        p
        for p in STDLIB.rglob("*.py")
        if "site-packages" not in p.parts and "__pycache__" not in p.parts
    )


@functools.lru_cache(None)
def package_folder(name):
    """A package's folder, found without importing it; None where it is not installed."""
    for entry in sys.path:
        folder = pathlib.Path(entry) / name
        if (folder / "__init__.py").is_file():
            return folder.resolve()
    return None


@functools.lru_cache(None)
def package_files(name):
    folder = package_folder(name)
    return sorted(folder.rglob("*.py")) if folder else []


@functools.lru_cache(None)
def site_files():
    """Everything installed beside torch, torch left out."""
    folder = package_folder("torch")
    site = folder.parent if folder else pathlib.Path(sysconfig.get_paths()["purelib"])
    return sorted(p for p in site.rglob("*.py") if folder not in p.parents)


@functools.lru_cache(None)
def other_pythons():
    """[(version, path)] of the CPythons >= 3.10 found here that are not this one's version."""
    candidates = [shutil.which(f"python3.{minor}") for minor in range(10, 16)]
    candidates += os.environ.get("MONITORCH_TEST_PYTHONS", "").split(os.pathsep)
    versions = STDLIB.parents[2]
    candidates += [str(p) for p in sorted(versions.glob("3.*/bin/python3"))]
    found = {}
    program = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    for candidate in candidates:
        if not candidate or not os.path.exists(candidate):
            continue
        run = subprocess.run([candidate, "-c", program], capture_output=True, text=True)
        words = run.stdout.split()
        if run.returncode or words[0] != "cpython":
            continue
        version = tuple(int(part) for part in words[1].split("."))
        if version >= (3, 10) and version != sys.version_info[:2]:
            found.setdefault(version, candidate)
    return sorted(found.items())
