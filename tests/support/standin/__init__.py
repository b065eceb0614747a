"""The stand-in for the recorder: what inserted calls reach in tests.

In a child process: `environment(mode)` gives the variables that put it in monitorch's place.
In this process: `with active("on"): ...` for code that is compiled and run inside.
"""

import builtins
import contextlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig

from tests.support import paths

FOLDER = pathlib.Path(__file__).resolve().parent
MODES = ("off", "on", "collect")


def build_hook():
    """Compiles the hook if that is needed; returns the folder that holds it."""
    folder = paths.scratch("standin")
    source = FOLDER / "_standin_hook.c"
    library = folder / "_standin_hook.abi3.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        partial = folder / f"partial-{os.getpid()}.so"
        subprocess.run(
            [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC"]
            + ["-I" + sysconfig.get_paths()["include"], str(source), "-o", str(partial)],
            check=True,
        )
        os.replace(partial, library)
    return folder


def environment(mode, base=None):
    """A child's environment in which `import monitorch` gives the stand-in."""
    result = dict(os.environ if base is None else base)
    result["MONITORCH_STANDIN"] = mode
    result["MONITORCH_STANDIN_PACKAGE"] = str(paths.PACKAGE)
    folders = [str(FOLDER), str(build_hook()), result.get("PYTHONPATH", "")]
    result["PYTHONPATH"] = os.pathsep.join(f for f in folders if f)
    return result


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    return spec, module


def hook_module():
    """The module that holds the hook, in this process."""
    if "_standin_hook" not in sys.modules:
        spec, module = _load("_standin_hook", build_hook() / "_standin_hook.abi3.so")
        sys.modules["_standin_hook"] = module
        spec.loader.exec_module(module)
    return sys.modules["_standin_hook"]


def _forget_builtins():
    for name in [name for name in vars(builtins) if name.startswith("_mt")]:
        delattr(builtins, name)


@contextlib.contextmanager
def active(mode):
    """`sys.modules['monitorch']` is the stand-in, in that mode; gives the stand-in."""
    hook_module()
    spec, module = _load("monitorch", FOLDER / "monitorch.py")
    before = sys.modules.get("monitorch")
    _forget_builtins()
    sys.modules["monitorch"] = module
    try:
        spec.loader.exec_module(module)
        module._set_mode(mode)
        yield module
    finally:
        _forget_builtins()
        if before is None:
            del sys.modules["monitorch"]
        else:
            sys.modules["monitorch"] = before
