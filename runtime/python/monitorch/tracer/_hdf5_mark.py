"""The mark that HDF5 leaves in a file while it is open for writing, and that a kill leaves there."""

from __future__ import annotations

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MARK, _CHECKED, _SIZE = 11, 44, 48  # offsets in a superblock of version 2 or 3
_WORD = 0xFFFFFFFF


def has_mark(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(_SIZE)
    return _is_superblock(head) and head[_MARK] != 0


def clear_mark(path: str) -> bool:
    """Removes the mark, as `h5clear -s` does; False if the file has none that it knows."""
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
    """One of version 2 or 3, undamaged."""
    if len(head) < _SIZE or head[:8] != _SIGNATURE or head[8] not in (2, 3) or head[9] != 8:
        return False
    return int.from_bytes(head[_CHECKED:], "little") == checksum(bytes(head[:_CHECKED]))


def checksum(data: bytes) -> int:
    """Of HDF5's metadata: Jenkins' hash lookup3, begun with 0."""
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
