"""PNG files as arrays: eight bits a channel, which is what cairo writes; and small ones written."""

import struct
import zlib

import numpy

_CHANNELS = {0: 1, 2: 3, 6: 4}  # by colour type
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _chunks(data):
    if data[:8] != SIGNATURE:
        raise ValueError("no PNG")
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(kind + body) != checksum:
            raise ValueError(f"chunk {kind} is damaged")
        yield kind, body
        at += size + 12


def _paeth(left, above, corner):
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner


def _unfilter(kind, row, above, step):
    """A row's bytes, of which those before have been taken off."""
    if kind == 2:
        return (row + above) & 255
    if kind == 1:
        return numpy.cumsum(row.reshape(-1, step), axis=0).reshape(-1) & 255
    done = [0] * step + row.tolist()
    up = [0] * step + above.tolist()
    for i in range(step, len(done)):
        if kind == 3:
            guess = (done[i - step] + up[i]) // 2
        else:
            guess = _paeth(done[i - step], up[i], up[i - step])
        done[i] = (done[i] + guess) & 255
    return numpy.array(done[step:])


def read(data):
    """The picture in `data` as an array of height x width x channels."""
    pixels = b""
    for kind, body in _chunks(data):
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            if depth != 8 or interlace or colour not in _CHANNELS:
                raise ValueError("only whole pixels of eight bits a channel are read")
        elif kind == b"IDAT":
            pixels += body
    step = _CHANNELS[colour]
    rows = numpy.frombuffer(zlib.decompress(pixels), numpy.uint8).astype(int)
    rows = rows.reshape(height, 1 + width * step)
    result = numpy.zeros((height, width * step), int)
    above = numpy.zeros(width * step, int)
    for y, row in enumerate(rows):
        above = result[y] = _unfilter(row[0], row[1:], above, step) if row[0] else row[1:]
    return result.reshape(height, width, step).astype(numpy.uint8)


def dots_an_inch(data):
    """What the file says of its resolution; None where it says nothing."""
    for kind, body in _chunks(data):
        if kind == b"pHYs":
            across, _, is_metre = struct.unpack(">IIB", body)
            return across * 0.0254 if is_metre else None
    return None


def write(pixels):
    """The file of an array of height x width x 3."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.astype(numpy.uint8).tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file = SIGNATURE
    for kind, body in (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""):
        file += struct.pack(">I", len(body)) + kind + body
        file += struct.pack(">I", zlib.crc32(kind + body))
    return file


def shrink(pixels, block=8):
    """Means of blocks, three channels: what is left of a picture whatever font it was drawn in."""
    height, width = (-(-size // block) * block for size in pixels.shape[:2])
    whole = numpy.pad(
        pixels[:, :, :3].astype(float),
        ((0, height - pixels.shape[0]), (0, width - pixels.shape[1]), (0, 0)),
        mode="edge",
    )
    blocks = whole.reshape(height // block, block, width // block, block, 3)
    return blocks.mean(axis=(1, 3)).round().astype(numpy.uint8)
