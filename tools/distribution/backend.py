"""The hooks of PEP 517 and PEP 660, which put the Makefile's build into archives.

    pip install .                                  a wheel for this machine's kind, installed
    make wheel, make sdist                         the archives, in build/dist

Settings (`--config-settings NAME=VALUE`): `build=FOLDER` builds there instead of in build/;
`libraries=none` leaves cairo and pango out of the wheel, which then paints PNG and PDF only if the
machine has them. For another machine (tools/manylinux.sh): `machine=aarch64`, its compiler `cc=…`
and `strip=…`, and `native=FOLDER`, the folder of a build that runs here.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Mapping

import share

from distribution import libraries
from distribution.archive import Wheel, write_sdist
from distribution.metadata import NAME, ROOT, VERSION, entry_points, metadata, wheel_text

Settings = Mapping[str, str] | None
INFO = f"{NAME}-{VERSION}.dist-info"
PROGRAMS = f"{NAME}-{VERSION}.data/scripts"
SHARE = f"{NAME}-{VERSION}.data/data/share"
# Names beside the sources in an unpacked sdist.
NOT_SOURCES = ("build", "PKG-INFO", "__pycache__")


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def _build(settings: Settings) -> pathlib.Path:
    """Builds everything. Returns the folder of the build."""
    settings = settings or {}
    folder = pathlib.Path(settings.get("build", "build"))
    # The flags of an outer `make` do not apply to this one.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MODE")}
    jobs = f"-j{os.cpu_count() or 1}"
    words = ["make", jobs, "all", "MODE=release", f"BUILD={folder}", f"PYTHON={sys.executable}"]
    words += [f"CC={settings['cc']}"] if "cc" in settings else []
    subprocess.run(words, cwd=ROOT, check=True, env=environment, stdout=sys.stderr)
    return ROOT / folder


def _stripped(file: pathlib.Path, settings: Settings) -> bytes:
    """The file without debugging symbols, which are two thirds of it."""
    strip = (settings or {}).get("strip", "strip")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, file.name)
        shutil.copyfile(file, copy)
        subprocess.run([strip, "--strip-unneeded", str(copy)], check=True)
        return copy.read_bytes()


def _info() -> dict[str, str]:
    """The parts of the metadata that do not depend on the build, by file name."""
    return {
        "METADATA": metadata(),
        "entry_points.txt": entry_points(),
        "top_level.txt": "monitorch\n",
        "licenses/LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
    }


def _add_info(wheel: Wheel, tag: str) -> None:
    for name, text in _info().items():
        wheel.add(f"{INFO}/{name}", text)
    wheel.add(f"{INFO}/WHEEL", wheel_text(tag))


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    for name, text in _info().items():
        file = pathlib.Path(metadata_directory, INFO, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _add_libraries(wheel: Wheel, bundle: dict[str, pathlib.Path], texts: dict[str, bytes]) -> None:
    if not bundle:
        return
    for name, file in bundle.items():
        wheel.add(f"monitorch/_libraries/{name}", file.read_bytes())
    wheel.add("monitorch/_libraries/order", "".join(f"{name}\n" for name in bundle))
    for package, text in texts.items():
        wheel.add(f"{INFO}/licenses/{package}.txt", text)


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    build = _build(config_settings)
    return assemble(build, wheel_directory, config_settings)


def assemble(build: pathlib.Path, wheel_directory: str, config_settings: Settings = None) -> str:
    """Makes the wheel of a build."""
    package = [pathlib.Path(ROOT, line) for line in (build / "package-list").read_text().split()]
    extensions = sorted((build / "python" / "monitorch").glob("*.abi3.so"))
    commands = sorted((build / "bin").iterdir())
    settings = config_settings or {}
    wants_libraries = settings.get("libraries") != "none"
    bundle = libraries.collect() if wants_libraries else {}
    texts = libraries.licences(list(bundle.values()))
    if texts is None:
        libraries.say("cairo and pango are left out: PNG and PDF need the machine's own")
        bundle, texts = {}, {}
    binaries = [*extensions, *commands, *bundle.values()]
    platform = libraries.platform_tag(binaries, set(bundle), settings.get("machine", ""))
    tag = f"cp310-abi3-{platform}"
    name = f"{NAME}-{VERSION}-{tag}.whl"
    wheel = Wheel(pathlib.Path(wheel_directory, name), INFO)
    for file in package:
        wheel.add(str(file.relative_to(build / "python")), file.read_bytes())
    for file in extensions:
        wheel.add(f"monitorch/{file.name}", _stripped(file, config_settings), is_program=True)
    for file in commands:
        wheel.add(f"{PROGRAMS}/{file.name}", _stripped(file, config_settings), is_program=True)
    for file_name, text in sorted(share.files(ROOT / settings.get("native", build)).items()):
        wheel.add(f"{SHARE}/{file_name}", text)
    _add_libraries(wheel, bundle, texts)
    for licence in sorted((build / "third_party").glob("*/LICENSE")):
        wheel.add(f"{INFO}/licenses/{licence.parent.name}.txt", licence.read_bytes())
    _add_info(wheel, tag)
    wheel.finish()
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Makes a wheel that refers to the build: after a change, another `make` is enough."""
    build = _build(config_settings)
    tag = f"cp310-abi3-{libraries.platform_tag([], set())}"
    name = f"{NAME}-{VERSION}-{tag}.whl"
    wheel = Wheel(pathlib.Path(wheel_directory, name), INFO)
    wheel.add(f"{NAME}.pth", f"{build / 'python'}\n")
    for command in sorted((build / "bin").iterdir()):
        wheel.add(f"{PROGRAMS}/{command.name}", f"#!/bin/sh\nexec '{command}' \"$@\"\n", True)
    _add_info(wheel, tag)
    wheel.finish()
    return name


def _sources() -> list[str]:
    """Names below the root: files that git tracks or would add; in an sdist, all its files."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout.decode()
        found = [name for name in names.split("\0") if name]
    else:
        found = [str(file.relative_to(ROOT)) for file in ROOT.rglob("*") if file.is_file()]
        found = [name for name in found if not set(name.split("/")) & set(NOT_SOURCES)]
        found = [name for name in found if not name.startswith(".venv")]
    return sorted(name for name in found if (ROOT / name).is_file())


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Makes the sdist with the archives that grammar/releases.txt lists, so that it builds without
    network."""
    build = pathlib.Path((config_settings or {}).get("build", "build"))
    environment = {**os.environ, "PYTHON": sys.executable}
    fetch = ["tools/fetch.sh", str(ROOT / build / "third_party")]
    subprocess.run(fetch, cwd=ROOT, check=True, env=environment, stdout=sys.stderr)
    folder = f"{NAME}-{VERSION}"
    sources = _sources()
    files = {name: (ROOT / name).read_bytes() for name in sources}
    programs = {name for name in sources if os.access(ROOT / name, os.X_OK)}
    for archive in (
        subprocess.run(
            ["tools/fetch.sh", "--archives"],
            cwd=ROOT,
            check=True,
            env=environment,
            capture_output=True,
        )
        .stdout.decode()
        .splitlines()
    ):
        files[f"grammar/archives/{pathlib.Path(archive).name}"] = pathlib.Path(archive).read_bytes()
    files["PKG-INFO"] = metadata().encode()
    write_sdist(pathlib.Path(sdist_directory, f"{folder}.tar.gz"), folder, files, programs)
    return f"{folder}.tar.gz"
