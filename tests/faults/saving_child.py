"""Forks processes in which saving tensors fails: python saving_child.py PLAN.json

The plan names the folder and the runs: (name, environment). Each run saves into FOLDER/NAME and
writes what came of it to FOLDER/NAME.json: for each tensor "saved" or what was raised.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import traceback
from typing import Any, Callable

import torch

TENSORS = {
    "plain": torch.arange(3000.0),
    "strided": torch.arange(90_000.0).reshape(300, 300).t(),
    "empty": torch.zeros(0, 3),
}


def attempt(step: Callable[[], Any]) -> str:
    try:
        step()
    except MemoryError:
        return "MemoryError"
    except OSError as error:
        return f"OSError: {error}"
    return "saved"


def save_files(recorder: Any, folder: pathlib.Path) -> dict[str, str]:
    def save(name: str, norm_only: bool) -> None:
        recorder.save_pt(
            folder / f"{name}.pt",
            TENSORS[name],
            ("step0", "net", name, 0),
            may_replace=norm_only,
            norm_only=norm_only,
        )

    return {
        f"{name}{' norms' * norm_only}": attempt(lambda: save(name, norm_only))
        for norm_only in (False, True)
        for name in TENSORS
    }


def save_together(recorder: Any, folder: pathlib.Path) -> dict[str, str]:
    told = {}
    made: list[Any] = []
    told["open"] = attempt(
        lambda: made.append(recorder.SafetensorsWriter(folder / "a.safetensors"))
    )
    for writer in made:
        for name, tensor in TENSORS.items():
            told[name] = attempt(lambda: writer.add(tensor, ("step0", "net", name, 0)))
        told["finish"] = attempt(writer.finish)
    return told


def run_child(folder: pathlib.Path, environment: dict[str, str]) -> dict[str, Any]:
    # What fails is read from the environment when the recorder is loaded.
    os.environ.update(environment)
    try:
        from monitorch import _recorder
    except MemoryError:
        return {"import": "MemoryError"}
    (folder / "files").mkdir(parents=True)
    (folder / "together").mkdir()
    return {
        "files": save_files(_recorder, folder / "files"),
        "together": save_together(_recorder, folder / "together"),
    }


def run(folder: pathlib.Path, name: str, environment: dict[str, str]) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            told = run_child(folder / name, environment)
            (folder / f"{name}.json").write_text(json.dumps(told))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit(f"{name} failed")


def main() -> None:
    plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for name, environment in plan["runs"]:
        run(pathlib.Path(plan["folder"]), name, environment)


if __name__ == "__main__":
    main()
