"""The libraries that the built files need, and cairo and pango for machines that do not have them.

The libraries are in monitorch/_libraries, with a list of them, `order`, in which each follows those
that it needs. Opened in that order, none makes the loader search elsewhere
(runtime/view/picture/paint/cairo/bundle.c). Libraries of the machine are preferred.
"""

from __future__ import annotations

import os
import pathlib
import platform
import re
import subprocess
import sys

PAINTER = "libpangocairo-1.0.so.0"
# Part of the C library: every machine that runs the wheel has them.
C_LIBRARY = re.compile(r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|util|resolv)\.so\.)")


def say(text: str) -> None:
    print(f"monitorch: {text}", file=sys.stderr)


def run(*words: str) -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        words, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def find_path(name: str) -> pathlib.Path | None:
    """The path at which the loader finds a library, which a separate interpreter loads."""
    program = f"import ctypes; ctypes.CDLL({name!r}); print(open('/proc/self/maps').read())"
    try:
        maps = run(sys.executable, "-c", program)
    except (subprocess.CalledProcessError, OSError):
        return None
    found = re.search(rf"(/\S*/{re.escape(name)}\S*)", maps)
    if found is None:
        found = re.search(rf"(/\S*/{re.escape(name.split('.so')[0])}\S*\.so\S*)", maps)
    return pathlib.Path(found[1]) if found else None


def needed(file: pathlib.Path) -> list[str]:
    """Names of the libraries that a file is linked to, without those of the C library."""
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", str(file)))
    return [name for name in names if not C_LIBRARY.match(name)]


def collect(first: str = PAINTER) -> dict[str, pathlib.Path]:
    """{name: file} of the library and all libraries that it needs, each after those that it needs
    itself.

    Empty if this machine does not have them.
    """
    painter = find_path(first)
    if painter is None:
        return {}
    paths = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", str(painter))))
    found: dict[str, pathlib.Path] = {}

    def add(name: str, file: pathlib.Path) -> None:
        if name in found:
            return
        for other in needed(file):
            add(other, pathlib.Path(paths[other]))
        found[name] = file

    add(first, painter)
    return found


def _packages(files: list[pathlib.Path]) -> dict[str, str]:
    """{file as Debian's packages name it: package}."""
    words = ["dpkg", "-S", *map(str, files)]
    try:
        told = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return {}
    return {name: package for package, name in re.findall(r"(?m)^([^:]+):.*?(/\S+)$", told.stdout)}


def licences(files: list[pathlib.Path]) -> dict[str, bytes] | None:
    """{package: its licence}, as Debian keeps them; None if one is not found."""
    # The package lists a file by one of these names: /lib is often a link to /usr/lib.
    names = {
        file: [file.resolve(), pathlib.Path("/usr", *file.resolve().parts[1:])] for file in files
    }
    for file, others in names.items():
        others += [file, pathlib.Path("/usr", *file.parts[1:])]
    packages = _packages(sorted({name for others in names.values() for name in others}))
    found = {}
    for file, others in names.items():
        package = next((packages[str(name)] for name in others if str(name) in packages), "")
        licence = pathlib.Path("/usr/share/doc", package, "copyright")
        if not package or not licence.exists():
            say(f"{file}: no licence was found")
            return None
        found[package] = licence.read_bytes()
    return found


def platform_tag(files: list[pathlib.Path], inside: set[str], machine: str = "") -> str:
    """The platform of the wheel.

    manylinux with the oldest C library that has all functions that the files need; linux without a
    version if they need a library that is not in the wheel. The machine is this one if none is
    named.
    """
    machine = machine or platform.machine()
    asked = [(2, 5)]
    for file in files:
        outside = set(needed(file)) - inside
        if outside:
            say(f"{file.name} needs {', '.join(sorted(outside))}: the wheel is for this machine")
            return f"linux_{machine}"
        versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", run("readelf", "--version-info", str(file)))
        asked += [(int(major), int(minor)) for major, minor in versions]
    if platform.libc_ver()[0] != "glibc":
        return f"linux_{machine}"
    return "manylinux_{}_{}_{}".format(*max(asked), machine)
