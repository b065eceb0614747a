"""HDF5 files, by h5py: the names in them, and the mark of an open writer.

HDF5 puts the mark into a file while it is open for writing, and a killed process leaves it there.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MARK, _CHECKED, _SIZE = 11, 44, 48  # offsets in a superblock of version 2 or 3
_WORD = 0xFFFFFFFF


def import_h5py(wanted_by: str) -> Any:
    try:
        return import_module("h5py")
    except ImportError as error:
        raise ImportError(f"{wanted_by} h5py: pip install h5py") from error


# ---- the names of metrics' keys: a slash nests groups ----

#: Characters to be escaped in a name that begins with `%`. Lone surrogates are not UTF-8.
_TO_ESCAPE = re.compile("[%\0\ud800-\udfff]")
_ESCAPED = re.compile("%([0-9a-f]{4})")


def _write_segment(segment: str) -> str:
    if segment not in ("", ".", "keys", "values") and segment[0] != "%":
        if not re.search("[\0\ud800-\udfff]", segment):
            return segment
    return "%" + _TO_ESCAPE.sub(lambda found: f"%{ord(found[0]):04x}", segment)


def _read_segment(segment: str) -> str:
    if not segment.startswith("%"):
        return segment
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), segment[1:])


def write_key(key: str) -> bytes:
    return "/".join(_write_segment(segment) for segment in key.split("/")).encode()


def read_key(path: bytes, is_ours: bool) -> str:
    name = path.decode("utf-8", "replace")
    if is_ours:
        name = "/".join(_read_segment(segment) for segment in name.split("/"))
    return name


# ---- the names of traced values: a slash is escaped ----


def escape(name: str) -> str:
    """Escapes the slashes of a name: HDF5 would make a group at each."""
    name = name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")
    return name if name.strip(".") else "%2E" * len(name) or "%"


def unescape(name: str) -> str:
    if name == "%":
        return ""
    for code, character in (("%2E", "."), ("%00", "\0"), ("%2F", "/"), ("%25", "%")):
        name = name.replace(code, character)
    return name


# ---- the mark of a writer ----


def has_mark(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(_SIZE)
    return _is_superblock(head) and head[_MARK] != 0


def clear_mark(path: str) -> bool:
    """Removes the mark, as `h5clear -s` does. Returns False if the file has no mark that is
    known."""
    with open(path, "r+b") as file:
        head = bytearray(file.read(_SIZE))
        if not _is_superblock(head):
            return False
        head[_MARK] = 0
        head[_CHECKED:] = checksum(bytes(head[:_CHECKED])).to_bytes(4, "little")
        file.seek(0)
        file.write(head)
    return True


def _is_superblock(head: bytes | bytearray) -> bool:
    """Whether it is an undamaged superblock of version 2 or 3."""
    if len(head) < _SIZE or head[:8] != _SIGNATURE or head[8] not in (2, 3) or head[9] != 8:
        return False
    return int.from_bytes(head[_CHECKED:], "little") == checksum(bytes(head[:_CHECKED]))


def checksum(data: bytes) -> int:
    """The checksum of HDF5's metadata: Jenkins' hash lookup3, with 0 as the initial value."""
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    words += [0] * (-len(words) % 3)
    a = b = c = (0xDEADBEEF + len(data)) & _WORD
    for i in range(0, len(words), 3):
        a, b, c = (a + words[i]) & _WORD, (b + words[i + 1]) & _WORD, (c + words[i + 2]) & _WORD
        if i + 3 < len(words):
            for bits in (4, 6, 8, 16, 19, 4):
                a = ((a - c) & _WORD) ^ _rotate(c, bits)
                a, b, c = b, (c + b) & _WORD, a
    last = c
    for bits in (14, 11, 25, 16, 4, 14, 24):
        last = ((c ^ b) - _rotate(b, bits)) & _WORD
        a, b, c = b, last, a
    return last


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD
