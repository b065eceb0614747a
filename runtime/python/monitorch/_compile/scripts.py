"""Scripts that runpy runs by their path: for `runpy.run_path`, and so for the main module in
processes that multiprocessing spawns.

runpy calls pkgutil to read the file as bytecode, and compiles the file if it is none.
"""

import runpy
import sys

from monitorch._compile import import_hook as _import_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_get_code_from_file: "CodeType" = runpy._get_code_from_file.__code__  # type: ignore[attr-defined]


def change(pkgutil: "Any") -> None:
    read_code = pkgutil.read_code

    def read_code_or_instrument(stream: "Any") -> "CodeType | None":
        code: "CodeType | None" = read_code(stream)
        caller = sys._getframe(1)
        hook = _import_hook.get()
        if code is None and hook is not None and caller.f_code is _get_code_from_file:
            stream.seek(0)
            path = str(caller.f_locals["fname"])
            code = hook.compile("__main__", stream.read(), path)
        return code

    pkgutil.read_code = read_code_or_instrument
