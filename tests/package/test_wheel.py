"""Wheel and sdist: built, and installed in environments that hold nothing else."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

from tests.support import paths, type_checker

CHECKS = pathlib.Path(__file__).with_name("installed.py")
TOOLS = paths.ROOT / "tools"
PYTHONS = [(sys.version_info[:2], sys.executable), *paths.other_pythons()]
NAMES = ["%d.%d" % version for version, _ in PYTHONS]

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("MONITORCH_MODE", "release") != "release",
        reason="a wheel is of a release build",
    ),
    pytest.mark.skipif(not paths.COMMAND.exists(), reason="nothing is built (make)"),
]


def run(*words, code=0, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def bare():
    """The environment's variables without those that lead to the build."""
    leading = ("PYTHON", "MONITORCH", "MAKE", "MFLAGS", "PIP_", "LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if not name.startswith(leading)}


def with_backend(program, *words):
    """Runs a line of Python that has the backend; gives what it prints."""
    environment = {**bare(), "PYTHONPATH": str(TOOLS)}
    return run(sys.executable, "-c", f"import sys; {program}", *words, env=environment).strip()


def assemble(folder, settings="{}"):
    program = (
        "import pathlib; from distribution import backend; "
        f"print(backend.assemble(pathlib.Path(sys.argv[1]), sys.argv[2], {settings}))"
    )
    return folder / with_backend(program, paths.BUILD, folder).splitlines()[-1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Of what stands in the build's folder."""
    return assemble(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    program = (
        "from distribution import backend; "
        "print(backend.build_sdist(sys.argv[1], {'build': sys.argv[2]}))"
    )
    return folder / with_backend(program, folder, paths.BUILD).splitlines()[-1]


def install(wheel, folder, python=sys.executable):
    """An environment that holds the wheel alone, without network; gives its interpreter."""
    if python == sys.executable:
        venv.create(folder, with_pip=False, symlinks=True)
    else:
        run(python, "-m", "venv", "--without-pip", folder, env=bare())
    made = folder / "bin" / "python"
    words = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel]
    options = ["--disable-pip-version-check", "--python", made]
    run(sys.executable, "-m", "pip", *options, *words, env=bare(), cwd=folder)
    return made


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("environment"))


def check_installed(python, folder, *words):
    run(python, "-I", "-W", "error", CHECKS, *words, cwd=folder, env=bare())


# What is in it


def test_every_file_is_in_the_wheel(wheel):
    listed = (paths.BUILD / "package-list").read_text().split()
    wanted = {line.split("/python/", 1)[1] for line in listed}
    wanted |= {f"monitorch/{file.name}" for file in paths.PACKAGE.glob("*.so")}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wanted <= names
    inside = {n for n in names if n.startswith("monitorch/") and "/_libraries/" not in n}
    assert inside == wanted
    scripts = {pathlib.Path(name).name for name in names if ".data/scripts/" in name}
    assert scripts == {"monitorch", "monitorch-instrument"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/tree-sitter.txt") for name in names)


def test_the_record_is_right(wheel):
    archive = zipfile.ZipFile(wheel)
    record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
    rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
    assert [row[0] for row in rows] == archive.namelist()
    for name, told, size in rows[:-1]:
        data = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (told, size) == (f"sha256={digest}", str(len(data)))


def test_the_same_build_gives_the_same_wheel(wheel, tmp_path):
    again = assemble(tmp_path)
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_its_name_tells_where_it_runs(wheel):
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("monitorch_instrument", "cp310", "abi3")
    archive = zipfile.ZipFile(wheel)
    text = next(archive.read(n) for n in archive.namelist() if n.endswith(".dist-info/WHEEL"))
    assert f"Tag: {python}-{abi}-{platform}\n" in text.decode()


def test_a_wheel_for_another_machine_names_it():
    found = with_backend(
        "import pathlib; from distribution import libraries as l; "
        "print(l.platform_tag([pathlib.Path(sys.argv[1])], set(), 'aarch64'))",
        paths.COMMAND,
    )
    assert found.startswith("manylinux_2_") and found.endswith("_aarch64")
    done = subprocess.run([TOOLS / "manylinux.sh", "sparc"], capture_output=True, text=True)
    assert done.returncode == 2 and "expected x86_64 or aarch64" in done.stderr


def test_a_library_stands_after_those_that_it_needs(wheel):
    archive = zipfile.ZipFile(wheel)
    folder = "monitorch/_libraries/"
    if folder + "order" not in archive.namelist():
        pytest.skip("cairo and pango are not bundled on this machine")
    order = archive.read(folder + "order").decode().split()
    assert order[-1] == "libpangocairo-1.0.so.0"
    bundled = {n[len(folder) :] for n in archive.namelist() if n.startswith(folder)}
    assert bundled == {*order, "order"}


def test_libraries_can_be_left_out(tmp_path):
    names = zipfile.ZipFile(assemble(tmp_path, "{'libraries': 'none'}")).namelist()
    assert not [name for name in names if "/_libraries/" in name]


def test_metadata_is_read_alike_by_every_python():
    pytest.importorskip("tomllib")
    with_backend(
        "import tomllib; from distribution import metadata as m; "
        "text = (m.ROOT / 'pyproject.toml').read_text(); "
        "part = text[text.index('[project]') : text.index('[tool.')]; "
        "assert m._read_plainly(part) == tomllib.loads(text)['project']"
    )


def test_the_sdist_holds_sources_and_grammar(sdist):
    names = {name.split("/", 1)[1] for name in tarfile.open(sdist).getnames()}
    for name in ("Makefile", "README.md", "PKG-INFO", "tools/fetch.sh", "instrument/command/main.c"):
        assert name in names
    releases = (paths.ROOT / "grammar" / "releases.txt").read_text().splitlines()
    components = {line.split()[0] for line in releases if line and not line.startswith("#")}
    archives = [name for name in names if name.startswith("grammar/archives/")]
    assert len(archives) == len(components)
    assert not [name for name in names if name.startswith(("build/", ".venv")) or ".pyc" in name]


# Installed


def test_installed(environment, tmp_path):
    check_installed(environment, tmp_path)


def test_types_of_the_installed_package(environment, tmp_path):
    program = tmp_path / "uses.py"
    program.write_text(
        "import monitorch\n"
        "from monitorch.spy import TensorSaver\n\n"
        'with monitorch.record("run.mtrace") as run:\n'
        "    active: bool = run.is_active\n"
        'saver: TensorSaver = TensorSaver("folder")\n'
    )
    words = [tmp_path / "cache", str(program)]
    done = type_checker.check(*words, cwd=tmp_path, python=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    program.write_text('import monitorch\n\nmonitorch.record("run.mtrace", threads="one")\n')
    done = type_checker.check(*words, cwd=tmp_path, python=environment)
    assert "arg-type" in done.stdout, done.stdout


def hiding(names):
    """Words that start a program for which these libraries, and all fonts, are no longer there."""
    script = "".join(
        f"for f in /lib/*/{name}* /usr/lib/*/{name}* /usr/lib*/{name}*; do "
        '[ ! -e "$f" ] || mount --bind /dev/null "$f" 2>/dev/null; done; '
        for name in names
    )
    script += (
        "for d in /etc/fonts /usr/share/fonts; do [ ! -d $d ] || mount -t tmpfs none $d; done; "
    )
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", script + 'exec "$@"', "sh"]


def test_on_a_machine_without_the_libraries(wheel, environment, tmp_path):
    archive = zipfile.ZipFile(wheel)
    if "monitorch/_libraries/order" not in archive.namelist():
        pytest.skip("cairo and pango are not bundled on this machine")
    names = archive.read("monitorch/_libraries/order").decode().split()
    # The interpreter's own modules need these.
    names = [name for name in names if not name.startswith(("libz.", "libffi.", "libexpat."))]
    hidden = hiding([*names, "libsqlite3.so"])
    if not shutil.which("unshare") or subprocess.run([*hidden, "true"]).returncode:
        pytest.skip("a mount of one's own is not allowed here")
    words = [environment, "-I", CHECKS, "--without-libraries"]
    run(*hidden, *words, cwd=tmp_path, env=bare())


@pytest.mark.parametrize("python", [path for _, path in PYTHONS[1:]], ids=NAMES[1:])
def test_installed_by_another_python(wheel, python, tmp_path):
    check_installed(install(wheel, tmp_path / "environment", python), tmp_path)


@pytest.mark.slow
def test_the_sdist_builds_without_network(sdist, tmp_path):
    """pip builds and installs it, with an empty home, and nothing to fetch from."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    tree = next(tmp_path.glob("monitorch_instrument-*"))
    variables = {
        **bare(),
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    offline = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*offline, "true"]).returncode:
        offline = []
    words = ["wheel", "--no-index", "--no-deps", "--wheel-dir", tmp_path, tree]
    run(*offline, sys.executable, "-m", "pip", *words, env=variables, cwd=tmp_path)
    wheel = next(tmp_path.glob("*.whl"))
    for version, python in PYTHONS:
        folder = tmp_path / ("%d.%d" % version)
        check_installed(install(wheel, folder, python), tmp_path)


@pytest.mark.slow
def test_editable(tmp_path, sdist):
    """What `make` built is what is imported."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    tree = next(tmp_path.glob("monitorch_instrument-*"))
    venv.create(tmp_path / "environment", with_pip=False, symlinks=True)
    made = tmp_path / "environment" / "bin" / "python"
    words = ["install", "--no-index", "--no-deps", "--editable", tree]
    run(sys.executable, "-m", "pip", "--python", made, *words, env=bare(), cwd=tmp_path)
    program = "import monitorch; print(monitorch.__file__)"
    found = pathlib.Path(run(made, "-I", "-c", program, env=bare()).strip())
    assert found == tree / "build" / "python" / "monitorch" / "__init__.py"
    assert "usage" in run(made.parent / "monitorch", "--help", env=bare()).lower()
