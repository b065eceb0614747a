"""The settings of a run, written to its trace: versions, the command, threads, flags.

They are written at a recording's start, since a program may be killed, and again at its end, since
modules are imported and flags set in between. Like recording itself this module imports only
built-in modules, and reads modules of the program only if they are loaded.
"""

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# Environment variables that change the results of computations, or their order.
_VARIABLES = (
    b"ATEN_CPU_CAPABILITY",
    b"CUBLAS_WORKSPACE_CONFIG",
    b"CUDA_VISIBLE_DEVICES",
    b"NVIDIA_TF32_OVERRIDE",
    b"OPENBLAS_NUM_THREADS",
    b"PYTORCH_JIT",
    b"RANK",
    b"TORCHDYNAMO_DISABLE",
    b"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    b"WORLD_SIZE",
)
_PREFIXES = (b"OMP_", b"MKL_", b"KMP_")

command: "list[str] | None" = None
"""The program's words, if they differ from the interpreter's."""
seed: "int | None" = None
"""The seed of random numbers, if requested."""
deterministic: "str | None" = None
"""Whether deterministic algorithms were requested: "yes", or "warn"."""

_process = 0


def write_start() -> None:
    """Writes the settings of the recording that has just begun."""
    global _process
    _process = posix.getpid()
    for name, find in _START:
        _write(name, find)
    for name, value in _find_variables():
        _write(name, lambda value=value: value)  # type: ignore[misc]
    write_modules()


def write_end() -> None:
    write_modules()


def write_modules() -> None:
    """Writes the settings of modules that the program has imported by now."""
    if posix.getpid() != _process:
        return  # a forked child has a trace of its own as soon as it records something
    from monitorch import _recorder

    _recorder.note_empty()
    _write_those("numpy", _NUMPY)
    _write_those("torch", _TORCH)


def _write_those(name: str, settings: "Iterable[tuple[str, Callable[[Any], object]]]") -> None:
    module = sys.modules.get(name)
    if module is None or getattr(getattr(module, "__spec__", None), "_initializing", False):
        return  # not imported, or only in part
    for setting, find in settings:
        _write(setting, lambda find=find: find(module))  # type: ignore[misc]


def _write(name: str, find: "Callable[[], object]") -> None:
    from monitorch import _recorder

    try:
        value = find()
        if value is not None:
            text = str(value).encode("utf-8", "backslashreplace").decode()
            _recorder.write_setting(name, text)
    except Exception:
        pass  # another version of the module may lack it


def _find_variables() -> "list[tuple[str, str]]":
    found = []
    for name, value in list(posix.environ.items()):  # threads may change it
        if name in _VARIABLES or name.startswith(_PREFIXES):
            found.append((f"environment.{_decode(name)}", _decode(value)))
    return sorted(found)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


def _find_command() -> str:
    from monitorch._record.automatic import _quote

    words = sys.orig_argv[1:] if command is None else command
    return " ".join(_quote(word) for word in words)


def _find_hash_seed() -> str:
    if not sys.flags.hash_randomization:
        return "0"
    value = posix.environ.get(b"PYTHONHASHSEED", b"")
    is_fixed = value.isdigit() and not sys.flags.ignore_environment
    return value.decode() if is_fixed else "random"


def _find_version() -> str:
    from monitorch import __version__

    return __version__


_START: "tuple[tuple[str, Callable[[], object]], ...]" = (
    ("command", _find_command),
    ("seed", lambda: seed),
    ("deterministic", lambda: deterministic),
    ("monitorch.version", _find_version),
    ("python.version", lambda: ".".join(map(str, sys.version_info[:3]))),
    ("python.implementation", lambda: sys.implementation.name),
    ("python.hashseed", _find_hash_seed),
    ("python.optimize", lambda: sys.flags.optimize or None),
    ("system", lambda: posix.uname().sysname),
    ("machine", lambda: posix.uname().machine),
    ("processors", lambda: len(posix.sched_getaffinity(0))),
)

_NUMPY: "tuple[tuple[str, Callable[[Any], object]], ...]" = (
    ("numpy.version", lambda numpy: numpy.__version__),
)

_TORCH: "tuple[tuple[str, Callable[[Any], object]], ...]" = (
    ("torch.version", lambda torch: torch.__version__),
    ("torch.cuda", lambda torch: torch.version.cuda),
    ("torch.device", lambda torch: _find_device(torch)),
    ("torch.threads", lambda torch: torch.get_num_threads()),
    ("torch.interop_threads", lambda torch: torch.get_num_interop_threads()),
    ("torch.cpu_capability", lambda torch: torch.backends.cpu.get_cpu_capability()),
    ("torch.default_dtype", lambda torch: torch.get_default_dtype()),
    ("torch.deterministic", lambda torch: _find_deterministic(torch)),
    ("torch.matmul_precision", lambda torch: torch.get_float32_matmul_precision()),
    ("torch.cudnn.benchmark", lambda torch: _say(torch.backends.cudnn.benchmark)),
    ("torch.cudnn.deterministic", lambda torch: _say(torch.backends.cudnn.deterministic)),
)


def _say(switch: bool) -> str:
    return "yes" if switch else "no"


def _find_deterministic(torch: "Any") -> str:
    if not torch.are_deterministic_algorithms_enabled():
        return "no"
    return "warn" if torch.is_deterministic_algorithms_warn_only_enabled() else "yes"


def _find_device(torch: "Any") -> "str | None":
    """The device, only if the program uses it: a query would initialise it."""
    return torch.cuda.get_device_name() if torch.cuda.is_initialized() else None
