"""A program of the tests that does one thing after the other, as a plan tells it."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

from tests.support import recording


def run_planned(
    child: pathlib.Path, folder: pathlib.Path, plan: dict[str, Any], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the program with the plan, and the folder that it is to work in."""
    path = folder / "plan.json"
    path.write_text(json.dumps(dict(plan, folder=str(folder))))
    run = subprocess.run(
        [sys.executable, str(child), str(path)],
        env=dict(recording.environment("off"), **environment),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return run
