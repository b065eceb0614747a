"""Noise: a recording that disturbs each tensor by an ulp, so that its trace shows how far apart
equal runs are at each line. `monitorch diff` reads it as the noise floor of the other run's
trace."""

import sys
import weakref

from monitorch._record import related as _related

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The word in the name of such a trace: run.noise.mtrace belongs to run.mtrace.
WORD = "noise"
DTYPES = ("float64", "float32", "bfloat16", "float16")

_PATTERN_LIMIT = 32
_GOLDEN = 0x9E3779B1  # 2^32 divided by the golden ratio, so that neighbours get different signs


def read(noise: object) -> "Noise | None":
    """Reads `record(noise=…)`."""
    if noise is None or noise is False:
        return None
    if noise is not True and noise not in DTYPES:
        kind = ValueError if isinstance(noise, str) else TypeError
        names = ", ".join(repr(name) for name in DTYPES)
        raise kind(f"noise must be True or one of {names}, not {noise!r}")
    return Noise(None if noise is True else str(noise))


def _find_reference(path: str) -> str:
    """Identifies the recording of `run.mtrace`, for the settings of the trace `run.noise.mtrace`."""
    folder, slash, name = path.rpartition("/")
    header = _related.read_header(folder + slash + name.replace(f".{WORD}.", ".", 1))
    return "unknown" if header is None or f".{WORD}." not in name else _format(header)


def _format(header: "_related.Header") -> str:
    return f"{header.start} {header.process}"


class Noise:
    """Disturbs each tensor once, after it was recorded: by an ulp of its dtype, or of another one.

    Only a tensor that the program computed and that has its own memory is disturbed, in place.
    Views, parameters and memory that torch did not allocate stay as they are, and so do whole
    numbers: masks, counts and indices are exact in every run.
    """

    def __init__(self, dtype: "str | None") -> None:
        self.dtype = dtype
        self.count = 0  # number of disturbed tensors
        self._known: "dict[int, weakref.ref[Any]]" = {}
        self._patterns: "dict[tuple[object, ...], Any]" = {}

    def write_start(self, path: str) -> None:
        from monitorch import _recorder

        _recorder.write_setting("noise", self.dtype or "ulp")
        _recorder.write_setting("noise.of", _find_reference(path))

    def write_end(self) -> None:
        pass

    def change(
        self,
        tensor: "Any",
        event: int,
        site: int,
        write: int,
        path: str,
        is_mutated: bool,
        hash: "int | None",
    ) -> None:
        torch = sys.modules["torch"]
        if type(tensor) is not torch.Tensor or id(tensor) in self._known:
            return
        number = id(tensor)
        self._known[number] = weakref.ref(tensor, lambda _: self._known.pop(number, None))
        try:
            if self._is_free(torch, tensor):
                self._disturb(torch, tensor)
        except RuntimeError:
            pass  # in memory that may not be written, or under a transform

    def _is_free(self, torch: "Any", tensor: "Any") -> bool:
        """Whether the program computed the tensor, in memory that no other tensor is a view of."""
        return bool(
            tensor.is_floating_point()
            and tensor.layout is torch.strided
            and not tensor._is_view()
            and tensor.numel() > 0
            and tensor.untyped_storage().resizable()
            and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        )

    def _disturb(self, torch: "Any", tensor: "Any") -> None:
        data = tensor.data  # autograd does not see writes to it
        own = torch.finfo(tensor.dtype).eps
        eps = max(own, torch.finfo(getattr(torch, self.dtype)).eps) if self.dtype else own
        new = data * (1 + self._find_signs(torch, data) * eps)
        is_exact = (data == data.round()) & (data.abs() < 1 / own)
        keeps = is_exact | ~torch.isfinite(new)
        data.copy_(torch.where(keeps, data, new))
        self.count += 1

    def _find_signs(self, torch: "Any", data: "Any") -> "Any":
        """1 or -1 for each element, by its index: the same in each run."""
        key = (tuple(data.shape), data.dtype, data.device)
        signs = self._patterns.get(key)
        if signs is None:
            index = torch.arange(data.numel(), device=data.device) * _GOLDEN
            signs = ((index >> 16 & 1) * 2 - 1).to(data.dtype).reshape(data.shape)
            if len(self._patterns) < _PATTERN_LIMIT:
                self._patterns[key] = signs
        return signs
