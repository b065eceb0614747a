"""Values read from files, as torch tensors, NumPy arrays or memoryviews."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

#: Bytes, strides in bytes or None, and whether the values are to be conjugated and negated.
Raw = tuple[bytearray, "tuple[int, ...] | None", bool, bool]
Reader = Callable[[int, bool], Raw]

#: dtype -> the struct format of its packed items; a complex number is two of them.
_FORMATS = {
    "bool": "?",
    "uint8": "B",
    "int8": "b",
    "uint16": "H",
    "int16": "h",
    "uint32": "I",
    "int32": "i",
    "uint64": "Q",
    "int64": "q",
    "float64": "d",
    "complex32": "f",
    "complex64": "f",
    "complex128": "d",
}
#: dtypes that NumPy has.
_NUMPY = {*_FORMATS, "float16", "float32"} - {"complex32"}


def load(read: Reader, index: int, dtype: str, shape: tuple[int, ...]) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "frombuffer") and hasattr(torch, dtype):
        return _tensor(torch, read(index, False), getattr(torch, dtype), shape)
    try:
        import numpy
    except ImportError:
        return _view(read(index, True)[0], dtype, shape)
    if dtype in _NUMPY:
        return _array(numpy, read(index, False), dtype, shape)
    return _wide_array(numpy, read(index, True)[0], dtype, shape)


def _tensor(torch: Any, raw: Raw, dtype: Any, shape: tuple[int, ...]) -> Any:
    values, strides, is_conjugated, is_negated = raw
    if values:
        tensor = torch.frombuffer(values, dtype=torch.uint8).view(dtype)
    else:
        tensor = torch.empty(0, dtype=dtype)
    if strides is None:
        tensor = tensor.view(shape)
    else:
        tensor = tensor.as_strided(shape, [step // dtype.itemsize for step in strides])
    if is_conjugated:
        tensor = torch.conj(tensor)
    return torch._neg_view(tensor) if is_negated else tensor


def _array(numpy: Any, raw: Raw, dtype: str, shape: tuple[int, ...]) -> Any:
    values, strides, is_conjugated, is_negated = raw
    if not values:
        return numpy.empty(shape, dtype)
    array = numpy.ndarray(shape, dtype, values, strides=strides)
    if is_conjugated:
        array = numpy.conjugate(array)
    return numpy.negative(array) if is_negated else array


def _wide_array(numpy: Any, values: bytearray, dtype: str, shape: tuple[int, ...]) -> Any:
    """An array of a dtype that NumPy lacks: floats as float32, all others as bytes."""
    if dtype == "complex32":
        wide = "complex64"
    else:
        wide = "float32" if "float" in dtype and not dtype.endswith("_x2") else "uint8"
    return numpy.frombuffer(values, wide).reshape(shape)


def _view(values: bytearray, dtype: str, shape: tuple[int, ...]) -> Any:
    """A memoryview. For complex numbers, its last dimension is the real and the imaginary part."""
    opaque = dtype.endswith("_x2") or dtype.startswith("q")
    item = _FORMATS.get(dtype, "B" if opaque else "f")
    if dtype.startswith("complex"):
        shape = (*shape, 2)
    view: Any = memoryview(values)
    if not values or len(shape) > 64:
        return view.cast(item)  # a memoryview has no dimensions of size 0, and at most 64
    return view.cast(item, shape)
