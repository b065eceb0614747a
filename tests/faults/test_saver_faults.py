"""Memory and disk fail at every step of saving tensors: it is raised, and no half file stays."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.faults.planned import run_planned

CHILD = pathlib.Path(__file__).with_name("saving_child.py")

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch._recorder", reason="not built (make)")

pytestmark = pytest.mark.torch


def run_all(folder: pathlib.Path, runs: list[tuple[str, dict[str, str]]]) -> dict[str, Any]:
    run_planned(CHILD, folder, {"runs": runs})
    return {name: json.loads((folder / f"{name}.json").read_text()) for name, _ in runs}


def load_all(folder: pathlib.Path) -> dict[str, Any]:
    """The shapes of all that is in the files, each of which must be whole."""
    found = {}
    for path in folder.iterdir():
        assert path.suffix == ".pt", f"{path} was left behind"
        found[path.stem] = tuple(torch.load(path, weights_only=True).shape)
    return found


SHAPES = {"plain": (3000,), "strided": (300, 300), "empty": (0, 3)}


def check_files(folder: pathlib.Path, told: dict[str, str]) -> None:
    """A file is there where it was saved; its norms where they were saved later."""
    wanted = {}
    for name, shape in SHAPES.items():
        if told[name] == "saved":
            wanted[name] = shape
        if told[f"{name} norms"] == "saved":
            wanted[name] = shape[:1]
    assert load_all(folder) == wanted


def check_together(folder: pathlib.Path, told: dict[str, str]) -> None:
    added = {f"net.{name}.call0" for name in SHAPES if told.get(name) == "saved"}
    left = sorted(path.name for path in folder.iterdir())
    if told.get("finish") != "saved" or not added:
        assert left == []
        return
    assert left == ["a.safetensors"]
    data = (folder / "a.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert set(header) - {"__metadata__"} == added
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name in added]
    assert len(data) == 8 + size + max(ends)


def texts_of(told: dict[str, Any]) -> list[str]:
    if "import" in told:
        return [told["import"]]
    return [text for part in told.values() for text in part.values()]


@pytest.mark.parametrize("how", ["once", "on"])
@pytest.mark.parametrize("what", ["ALLOCATION", "WRITE"])
def test_each_step_fails(tmp_path: pathlib.Path, what: str, how: str) -> None:
    sign = "+" if how == "on" else ""
    steps = range(1, 80 if what == "ALLOCATION" else 50)
    runs = [(f"at{n}", {f"MONITORCH_TEST_FAIL_{what}": f"{n}{sign}"}) for n in steps]
    found = run_all(tmp_path, [("sound", {}), *runs])
    assert set(texts_of(found["sound"])) == {"saved"}
    noticed = 0
    for name, told in found.items():
        if "import" not in told:
            check_files(tmp_path / name / "files", told["files"])
            check_together(tmp_path / name / "together", told["together"])
        failed = [text for text in texts_of(told) if text != "saved"]
        noticed += bool(failed)
        for text in failed:
            if what == "ALLOCATION":
                assert text == "MemoryError"
            else:
                assert "No space left on device" in text and "cannot save " in text
        if how == "once":
            assert len(failed) <= 1
    # All of the first steps are needed, and with the last ones everything was done.
    assert noticed > 20
    assert how == "on" or set(texts_of(found[runs[-1][0]])) == {"saved"}
