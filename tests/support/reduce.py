"""Makes a failing source small: drops lines, then pieces of lines, while it still fails."""

import re


def _drop_chunks(parts, fails, join):
    size = max(1, len(parts) // 2)
    while size >= 1:
        start = 0
        while start < len(parts):
            fewer = parts[:start] + parts[start + size :]
            if fewer and fails(join(fewer)):
                parts = fewer
            else:
                start += size
        size //= 2
    return parts


def reduce_source(source, fails, tries=4000):
    """The smallest source found for which `fails(source)` is true; `source` must be one."""
    left = [tries]

    def still_fails(candidate):
        left[0] -= 1
        return left[0] > 0 and fails(candidate)

    while left[0] > 0:
        before = source
        lines = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", source)
        source = b"".join(_drop_chunks(lines, still_fails, b"".join))
        pieces = re.findall(rb"\w+|\s+|[^\w\s]", source)
        if len(pieces) < 600:
            source = b"".join(_drop_chunks(pieces, still_fails, b"".join))
        if source == before:
            break
    return source
