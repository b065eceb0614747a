"""A message from one rank to another: tensors as their bytes, everything else as JSON.

A message is the size of its JSON in 8 bytes, the JSON, zeros up to a multiple of 64, and the bytes
of all tensors, those with the largest elements first, so that each begins at a multiple of its
element's size. No object is pickled, and no pickle is loaded, unless both sides allow it.

In the JSON None, bools, numbers, texts and lists represent themselves. Everything else is an object
with one key, which is the name of one of the readers below. Objects that cannot be written this way
arrive as NotGathered.
"""

from __future__ import annotations

import base64
import collections
import contextlib
import dataclasses
import json
import logging
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Pending = dict[str, tuple[list[Any], list[int]]]

ALIGNMENT = 64
_SIZE = 8  # bytes of the number before the JSON
_DEEPEST = 64  # the most levels of nested containers
_LARGEST = 1024  # the most bits of an int that is written as a number

logger = logging.getLogger("monitorch.tracer")
_warned: set[str] = set()


class MessageError(ValueError):
    """The bytes are not a message of another rank."""


class NotGathered:
    """Placeholder for an object of another rank that cannot be sent.

    Attributes:
        type_name (str): the type of the object.
        rank (int): the rank that holds it.
    """

    __slots__ = ("rank", "type_name")

    def __init__(self, type_name: str, rank: int) -> None:
        self.type_name = type_name
        self.rank = rank

    def __repr__(self) -> str:
        return f"<not gathered: {self.type_name} of rank {self.rank}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NotGathered):
            return NotImplemented
        return (self.type_name, self.rank) == (other.type_name, other.rank)

    def __hash__(self) -> int:
        return hash((self.type_name, self.rank))


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hides monitorch's operations from the program's modes (no gradients, inference, counting of
    operations)."""
    import torch
    from torch.utils import _python_dispatch

    with contextlib.ExitStack() as stack:
        disable = getattr(_python_dispatch, "_disable_current_modes", None)
        if disable is not None:
            stack.enter_context(disable())
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        yield


def pack(pending: Pending, device: Any = "cpu", allow_pickle: bool = False) -> Any:
    """Returns a message: a flat tensor of bytes on `device`, in memory of its own."""
    import torch

    with undisturbed():
        writer = _Writer(allow_pickle)
        parts = [[path, writer.write(v), writer.write(i)] for path, (v, i) in pending.items()]
        order = sorted(range(len(writer.tensors)), key=lambda i: -writer.tensors[i].element_size())
        tensors = [writer.tensors[i] for i in order]
        listed = [[str(t.dtype).removeprefix("torch."), list(t.shape)] for t in tensors]
        for position, i in enumerate(order):
            writer.places[i]["tensor"] = position
        text = json.dumps([parts, listed], separators=(",", ":")).encode("ascii")
        begin = _round_up(_SIZE + len(text))
        size = begin + sum(t.numel() * t.element_size() for t in tensors)
        message = torch.empty(size, dtype=torch.uint8, device=device)
        head = bytearray(begin)
        head[:_SIZE] = len(text).to_bytes(_SIZE, "little")
        head[_SIZE : _SIZE + len(text)] = text
        message[:begin].copy_(torch.frombuffer(head, dtype=torch.uint8))
        if size > begin:
            _copy_bytes(tensors, message[begin:])
        return message


def unpack(message: Any, rank: int, allow_pickle: bool = False) -> Pending:
    """Reads the message of that rank. The tensors share the message's memory."""
    try:
        with undisturbed():
            return _Reader(message, rank, allow_pickle).read()
    except MessageError:
        raise
    except Exception as error:  # JSON that pack() would not write
        raise MessageError(f"a message of rank {rank} is damaged: {error}") from error


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _copy_bytes(tensors: list[Any], memory: Any) -> None:
    """Copies the tensors. Neighbours on one device are copied in one operation."""
    import torch

    begin = at = 0
    for i, tensor in enumerate(tensors):
        at += tensor.numel() * tensor.element_size()
        if i + 1 < len(tensors) and tensors[i + 1].device == tensor.device:
            continue
        run = [_as_bytes(t) for t in tensors[begin : i + 1]]
        size = sum(piece.numel() for piece in run)
        room = memory[at - size : at]
        if tensor.device == room.device:
            torch.cat(run, out=room)
        else:
            room.copy_(torch.cat(run))
        begin = i + 1


def _as_bytes(tensor: Any) -> Any:
    import torch

    flat = tensor.reshape(-1)
    if not flat.numel():
        return flat.new_empty(0, dtype=torch.uint8)
    if flat.stride(0) != 1:  # also for a single element
        flat = flat.new_empty(flat.shape).copy_(flat)
    return flat.view(torch.uint8)


class _Writer:
    def __init__(self, allow_pickle: bool) -> None:
        import torch

        self.torch = torch
        self.allow_pickle = allow_pickle
        self.tensors: list[Any] = []
        self.places: list[dict[str, int]] = []  # objects of the JSON that refer to the tensors
        self._around: list[int] = []  # the ids of the containers around the present value

    def write(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float, str):
            return value
        if kind is int:
            return value if value.bit_length() <= _LARGEST else {"int": hex(value)}
        if isinstance(value, self.torch.Tensor):
            return self._write_tensor(value)
        if kind is complex:
            return {"complex": [value.real, value.imag]}
        if kind is bytes or kind is bytearray:
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if kind in (self.torch.dtype, self.torch.device):
            return {kind.__name__: str(value).removeprefix("torch.")}
        if len(self._around) < _DEEPEST and id(value) not in self._around:
            self._around.append(id(value))
            try:
                written = self._write_container(value, kind)
            except Exception:  # a user's mapping may raise anything
                written = None
            finally:
                self._around.pop()
            if written is not None:
                return written
        return self._write_other(value)

    def _write_all(self, values: Any) -> list[Any]:
        return [self.write(value) for value in values]

    def _write_container(self, value: Any, kind: type) -> Any:
        if kind is list:
            return self._write_all(value)
        if kind in (tuple, set, frozenset, self.torch.Size):
            return {kind.__name__: self._write_all(value)}
        if isinstance(value, Mapping):
            return {"dict": [[self.write(k), self.write(v)] for k, v in value.items()]}
        if kind is slice:
            return {"slice": self._write_all((value.start, value.stop, value.step))}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            names = [kind.__module__, kind.__qualname__, list(kind._fields)]
            return {"named": [names, self._write_all(value)]}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [field.name for field in dataclasses.fields(value)]
            found = [[name, self.write(getattr(value, name, None))] for name in fields]
            return {"namespace": found}
        if kind is types.SimpleNamespace:
            return {"namespace": [[k, self.write(v)] for k, v in vars(value).items()]}
        return self._write_array(value)

    def _write_array(self, value: Any) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
            return None
        try:
            array = numpy.array(value)  # from_numpy needs positive strides and writable memory
            tensor = self.torch.from_numpy(array)
        except (TypeError, ValueError):
            return None  # an array of texts, objects or structures
        return {"array": [isinstance(value, numpy.generic), self._add(tensor)]}

    def _write_tensor(self, value: Any) -> Any:
        try:
            tensor = _to_plain(value)
        except Exception:  # a subclass may refuse any operation
            tensor = None
        if tensor is None:
            return self._write_other(value)
        if isinstance(tensor, dict):
            (key, parts), *_ = tensor.items()
            return {key: self._write_all(parts)}
        return self._add(tensor)

    def _add(self, tensor: Any) -> dict[str, int]:
        place: dict[str, int] = {}
        self.tensors.append(tensor)
        self.places.append(place)
        return place

    def _write_other(self, value: Any) -> Any:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if self.allow_pickle:
            import pickle

            try:
                return {"pickle": base64.b64encode(pickle.dumps(value)).decode("ascii")}
            except Exception as error:
                _warn_once(
                    name, f"a value of {name} was not gathered, because it cannot be pickled: {error}"
                )
        else:
            _warn_once(
                name,
                f"a value of {name} is neither a tensor nor plain data: rank 0 receives only the "
                "name of its type. To send it, pass allow_pickle=True",
            )
        return {"other": name}


def _to_plain(value: Any) -> Any:
    """The value as a strided tensor, or as the parts of another one; None if it has no values."""
    import torch

    tensor = value.detach()
    if hasattr(tensor, "to_local"):  # the part of a DTensor that this rank holds
        tensor = tensor.to_local()
    if tensor.is_meta or tensor.is_quantized or tensor.is_nested:
        return None
    if type(tensor) is not torch.Tensor:
        tensor = tensor.as_subclass(torch.Tensor)
    if tensor.is_meta:
        return None
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce()
        return {"sparse_coo": (tensor.indices(), tensor.values(), list(tensor.shape))}
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        parts = (tensor.crow_indices(), tensor.col_indices(), tensor.values(), list(tensor.shape))
        return {"sparse_rows": (*parts, tensor.layout is torch.sparse_bsr)}
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    return tensor.resolve_conj().resolve_neg()


def _warn_once(key: str, text: str) -> None:
    if key not in _warned:
        _warned.add(key)
        logger.warning("%s", text)


class _Reader:
    def __init__(self, message: Any, rank: int, allow_pickle: bool) -> None:
        import torch

        self.torch = torch
        self.rank = rank
        self.allow_pickle = allow_pickle
        size = message.numel()
        head = _to_bytes(message[: min(_SIZE, size)])
        text_size = int.from_bytes(head, "little")
        if size < _SIZE or text_size > size - _SIZE:
            raise MessageError(f"a message of rank {rank} was cut off: {size} bytes")
        text = _to_bytes(message[_SIZE : _SIZE + text_size])
        self.parts, listed = json.loads(text)
        self.tensors = self._find_tensors(message[_round_up(_SIZE + text_size) :], listed)

    def read(self) -> Pending:
        found: Pending = {}
        for path, values, iterations in self.parts:
            pair = self.value(values), self.value(iterations)
            if type(path) is not str or type(pair[0]) is not list or type(pair[1]) is not list:
                raise MessageError(f"a message of rank {self.rank} without lists of values")
            found[path] = pair
        return found

    def _find_tensors(self, memory: Any, listed: list[Any]) -> list[Any]:
        torch = self.torch
        dtypes = [getattr(torch, name) for name, _ in listed]
        if not all(isinstance(dtype, torch.dtype) for dtype in dtypes):
            raise MessageError(f"a message of rank {self.rank} with an unknown dtype")
        sizes = [dtype.itemsize * _count(shape) for dtype, (_, shape) in zip(dtypes, listed)]
        if sum(sizes) != memory.numel():
            raise MessageError(
                f"a message of rank {self.rank} has {memory.numel()} bytes of tensors, "
                f"{sum(sizes)} were announced"
            )
        pieces = memory.split(sizes) if sizes else ()
        return [
            piece.view(dtype).view(shape) if size else torch.empty(shape, dtype=dtype, device="cpu")
            for piece, dtype, size, (_, shape) in zip(pieces, dtypes, sizes, listed)
        ]

    def value(self, written: Any) -> Any:
        if type(written) is list:
            return [self.value(item) for item in written]
        if type(written) is not dict:
            return written
        if len(written) != 1:
            raise MessageError(
                f"a message of rank {self.rank} with an object of {len(written)} keys"
            )
        ((key, content),) = written.items()
        if key not in _READERS:
            raise MessageError(f"a message of rank {self.rank} with an unknown {key!r:.40}")
        return _READERS[key](self, content)


def _count(shape: list[Any]) -> int:
    count = 1
    for size in shape:
        if type(size) is not int or size < 0:
            raise MessageError(f"{size!r:.40} is not a size of a tensor")
        count *= size
    return count


def _to_bytes(message: Any) -> bytes:
    data: bytes = (
        message.cpu().numpy().tobytes() if "numpy" in sys.modules else bytes(message.tolist())
    )
    return data


def _read_tensor(reader: _Reader, content: Any) -> Any:
    if type(content) is not int or not 0 <= content < len(reader.tensors):
        raise MessageError(f"a message of rank {reader.rank} without its tensor {content!r:.40}")
    return reader.tensors[content]


def _read_array(reader: _Reader, content: Any) -> Any:
    is_scalar, tensor = content
    array = reader.value(tensor).numpy()
    return array[()] if is_scalar else array


def _read_named(reader: _Reader, content: Any) -> Any:
    (module, name, fields), values = content
    kind: Any = sys.modules.get(module)  # nothing is imported for another rank
    for part in name.split("."):
        kind = getattr(kind, part, None)
    is_it = isinstance(kind, type) and issubclass(kind, tuple)
    if not is_it or list(getattr(kind, "_fields", ())) != fields:
        make: Any = collections.namedtuple
        kind = make(name.rpartition(".")[2], fields, rename=True)
    return tuple.__new__(kind, [reader.value(value) for value in values])


def _read_sparse_coo(reader: _Reader, content: Any) -> Any:
    indices, values, shape = (reader.value(part) for part in content)
    return reader.torch.sparse_coo_tensor(
        indices, values, shape, check_invariants=True, is_coalesced=True
    )


def _read_sparse_rows(reader: _Reader, content: Any) -> Any:
    rows, columns, values, shape, has_blocks = (reader.value(part) for part in content)
    layout = reader.torch.sparse_bsr if has_blocks else reader.torch.sparse_csr
    return reader.torch.sparse_compressed_tensor(
        rows, columns, values, shape, layout=layout, check_invariants=True
    )


def _read_pickle(reader: _Reader, content: Any) -> Any:
    if not reader.allow_pickle:
        raise MessageError(
            f"rank {reader.rank} sent a pickle: pass allow_pickle=True on all ranks"
        )
    import pickle

    try:
        return pickle.loads(base64.b64decode(content))
    except Exception as error:
        _warn_once("loads", f"a value of rank {reader.rank} cannot be unpickled: {error}")
        return NotGathered("pickle", reader.rank)


def _read_dtype(reader: _Reader, content: Any) -> Any:
    dtype = getattr(reader.torch, content)
    if not isinstance(dtype, reader.torch.dtype):
        raise MessageError(f"{content!r:.40} is not a dtype")
    return dtype


_READERS: dict[str, Callable[[_Reader, Any], Any]] = {
    "tensor": _read_tensor,
    "array": _read_array,
    "tuple": lambda reader, content: tuple(reader.value(item) for item in content),
    "set": lambda reader, content: {reader.value(item) for item in content},
    "frozenset": lambda reader, content: frozenset(reader.value(item) for item in content),
    "Size": lambda reader, content: reader.torch.Size(content),
    "dict": lambda reader, content: {reader.value(k): reader.value(v) for k, v in content},
    "slice": lambda reader, content: slice(*(reader.value(item) for item in content)),
    "named": _read_named,
    "namespace": lambda reader, content: types.SimpleNamespace(
        **{name: reader.value(value) for name, value in content}
    ),
    "int": lambda reader, content: int(content, 16),
    "complex": lambda reader, content: complex(*content),
    "bytes": lambda reader, content: base64.b64decode(content),
    "dtype": _read_dtype,
    "device": lambda reader, content: reader.torch.device(content),
    "sparse_coo": _read_sparse_coo,
    "sparse_rows": _read_sparse_rows,
    "pickle": _read_pickle,
    "other": lambda reader, content: NotGathered(str(content), reader.rank),
}
