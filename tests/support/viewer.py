"""The command monitorch, as tests start it."""

import os
import subprocess

from tests.support import paths

PATH = paths.BUILD / "bin" / "monitorch"


def environment(**variables):
    """This process's, but for what the command would heed: a person's wishes, and the sanitizer that is
    loaded into Python, since the command carries its own."""
    left_out = ("LD_PRELOAD", "NO_COLOR", "COLUMNS")
    return {**{k: v for k, v in os.environ.items() if k not in left_out}, **variables}


def run(*words, env=None, encoding="utf-8", **options):
    """The finished process of `monitorch WORDS`; what it wrote is text, or bytes without an encoding."""
    return subprocess.run(
        [PATH, *map(str, words)],
        env=environment(**(env or {})),
        encoding=encoding,
        **{"capture_output": True, "timeout": 300, **options},
    )
